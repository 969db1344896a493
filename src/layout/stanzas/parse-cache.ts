import { sha256 } from '../../lib/ids.ts';
import type { ConfigFile } from '../../model/merge.ts';
import { parseFile } from './parse-file.ts';
import type { ParsedFile } from './stanzas.ts';

/** Parsed files by their text: a layout is built often, its files rarely change, and tenants share projects. */
export interface ParseCache {
  parse(file: Pick<ConfigFile, 'text'>): ParsedFile;
}

/**
 * @param limit texts kept; the least recently used is dropped first.
 * @param parse what is called for a text that is not known.
 */
export function parseCache(limit = 10_000, parse: (text: string) => ParsedFile = parseFile): ParseCache {
  const files = new Map<string, ParsedFile>();
  /** A layout of a proposal has nearly all files of its tenant's layout: those need no hash. */
  const seen = new WeakMap<Pick<ConfigFile, 'text'>, ParsedFile>();

  function parsedText(text: string): ParsedFile {
    const key = sha256(text);
    const parsed = files.get(key) ?? parse(text);
    files.delete(key);
    files.set(key, parsed);
    if (files.size > limit) {
      const [oldest] = files.keys();
      if (oldest !== undefined) files.delete(oldest);
    }
    return parsed;
  }

  return {
    parse(file) {
      const known = seen.get(file) ?? parsedText(file.text);
      seen.set(file, known);
      return known;
    },
  };
}

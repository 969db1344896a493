import { sha256 } from '../../lib/ids.ts';
import { parseFile } from './parse-file.ts';
import type { ParsedFile } from './stanzas.ts';

/** Parsed files by the hash of their text: a layout is built often, its files rarely change. */
export interface ParseCache {
  parse(text: string): ParsedFile;
}

/** @param limit texts kept; the least recently used is dropped first. */
export function parseCache(limit = 10_000): ParseCache {
  const files = new Map<string, ParsedFile>();
  return {
    parse(text) {
      const key = sha256(text);
      const file = files.get(key) ?? parseFile(text);
      files.delete(key);
      files.set(key, file);
      if (files.size > limit) {
        const [oldest] = files.keys();
        if (oldest !== undefined) files.delete(oldest);
      }
      return file;
    },
  };
}

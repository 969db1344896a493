/**
 * The files of the page, prepared when a browser first asks for one: stylesheets and icon unchanged, and the modules of its scripts with their
 * types stripped by Node. No other file below `src/` is served.
 *
 *     src/web/page/theme.css             /page/theme.css
 *     src/web/page/main.ts               below /page/, as web/page/main.ts
 *     src/model/item-states.ts           below /page/ likewise, because a module of the page imports it
 *
 * Modules keep their relative paths, so that the browser resolves the imports as they are written. The document names them below a
 * digest of them all, `/page/4be1…/theme.css`: browsers keep them for good, and an upgrade has other addresses.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { constants, gzipSync } from 'node:zlib';
import { ownFile } from '../lib/own-file.ts';

/** Kept in memory as it is sent. */
export interface PageFile {
  /** As for `response.type`. */
  readonly type: string;
  readonly text: string;
  /** The text, compressed. */
  readonly gzip: Buffer;
}

const SOURCES = ownFile('src');
const PAGE = 'web/page';
/** Modules loaded by URL: the page's script, and the worker it starts. */
const ENTRIES = [`${PAGE}/main.ts`, `${PAGE}/live-worker.ts`];
const PLAIN = new Set(['.css', '.svg']);

/** By path below `/page/`. */
export async function pageFiles(): Promise<ReadonlyMap<string, PageFile>> {
  const plain = readdirSync(path.join(SOURCES, PAGE))
    .filter(name => PLAIN.has(path.extname(name)))
    .map((name): [string, PageFile] => [
      name,
      prepared(path.extname(name), readFileSync(path.join(SOURCES, PAGE, name), 'utf8')),
    ]);
  return new Map([...plain, ...(await modulesFrom(ENTRIES))]);
}

/** The entries and all their direct and indirect imports; type-only imports are stripped. */
async function modulesFrom(entries: readonly string[]): Promise<ReadonlyMap<string, PageFile>> {
  const modules = new Map<string, PageFile>();
  const wanted = [...entries];
  for (let name = wanted.pop(); name !== undefined; name = wanted.pop()) {
    if (modules.has(name)) continue;
    const text = moduleText(name);
    modules.set(name, prepared('js', text));
    // Both take milliseconds per file: yield in between.
    await setImmediate();
    for (const [, specifier = ''] of text.matchAll(/\bfrom\s+'([^']+)'/g))
      wanted.push(path.posix.join(path.posix.dirname(name), specifier));
  }
  return modules;
}

/** 16 hex digits: other files have others. */
export function versionOf(files: ReadonlyMap<string, PageFile>): string {
  const hash = createHash('sha256');
  for (const [name, { text }] of [...files].toSorted(([a], [b]) => (a < b ? -1 : 1)))
    hash.update(`${name}\0${text.length}\0${text}`);
  return hash.digest('hex').slice(0, 16);
}

function prepared(type: string, text: string): PageFile {
  return { type, text, gzip: gzipSync(text, { level: constants.Z_BEST_COMPRESSION }) };
}

function moduleText(name: string): string {
  const text = readFileSync(path.join(SOURCES, name), 'utf8');
  return name.endsWith('.ts') ? stripped(text) : text;
}

/** Suppresses Node's warning that this function is experimental: operators can do nothing about it. */
function stripped(text: string): string {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return stripTypeScriptTypes(text);
  } finally {
    process.emitWarning = emitWarning;
  }
}

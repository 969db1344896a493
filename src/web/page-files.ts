/**
 * The files of the page, few, so that a browser has them in two turns. No other file below `src/` is served.
 *
 *     /page/page.css            its stylesheets, in one
 *     /page/main.js             `src/web/page/main.ts` and all that it imports, in one module
 *     /page/live-worker.js      the worker that it starts, likewise
 *     /page/icon….svg           unchanged
 *
 * A build has them beside its document; from the sources they are made when a browser first asks for one (`page-bundle.ts`). The document names
 * them below a digest of them all, `/page/4be1…/page.css`: browsers keep them for good, and an upgrade has other addresses.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
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

const FOLDER = ownFile('src/web/page');
const SERVED = new Set(['.js', '.css', '.svg']);

/** By path below `/page/`. */
export async function pageFiles(): Promise<ReadonlyMap<string, PageFile>> {
  const texts = isMade() ? textsIn(FOLDER) : await madeTexts();
  return new Map(
    [...texts].map(([name, text]) => {
      const gzip = gzipSync(text, { level: constants.Z_BEST_COMPRESSION });
      return [name, { type: path.extname(name), text, gzip }];
    }),
  );
}

function isMade(): boolean {
  return existsSync(path.join(FOLDER, 'main.js'));
}

function textsIn(folder: string): ReadonlyMap<string, string> {
  const names = readdirSync(folder).filter(name => SERVED.has(path.extname(name)));
  return new Map(names.map(name => [name, readFileSync(path.join(folder, name), 'utf8')]));
}

async function madeTexts(): Promise<ReadonlyMap<string, string>> {
  const { bundlePage } = await import('./page-bundle.ts');
  return bundlePage(FOLDER);
}

/** 16 hex digits: other files have others. */
export function versionOf(files: ReadonlyMap<string, PageFile>): string {
  const hash = createHash('sha256');
  for (const [name, { text }] of [...files].toSorted(([a], [b]) => (a < b ? -1 : 1)))
    hash.update(`${name}\0${text.length}\0${text}`);
  return hash.digest('hex').slice(0, 16);
}

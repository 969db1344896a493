/**
 * Files of the program itself: modules that threads and processes start with, and what is no code. A build (`scripts/build.ts`) keeps
 * their places below its root, renames modules, and finds these by the calls of `ownModule`.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const ROOT = rootAbove(import.meta.dirname);
/** A build consists of JavaScript. */
const EXTENSION = path.extname(import.meta.filename);

/** @param name below the root, with slashes, e.g. `src/web/page`; a folder or a file. @returns the path. */
export function ownFile(name: string): string {
  return path.join(ROOT, name);
}

/** @param name below the root, without extension, e.g. `src/git/starter/main`; a literal, for the build looks for it. */
export function ownModule(name: string): URL {
  return pathToFileURL(path.join(ROOT, `${name}${EXTENSION}`));
}

function rootAbove(folder: string): string {
  if (existsSync(path.join(folder, 'package.json'))) return folder;
  const above = path.dirname(folder);
  if (above === folder) throw new Error(`no package.json above ${import.meta.dirname}`);
  return rootAbove(above);
}

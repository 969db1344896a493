/** Bare repositories below a directory, as the git driver names them. */
import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { projectNameProblem } from '../../../drivers/git/project-url.ts';

/** Levels of directories that are searched. */
const DEEPEST = 4;
/** Directories that are read before the search ends. */
const MOST_READ = 5_000;

/** @property complete false: there may be more, too deep or too many. */
export interface FoundRepositories {
  /** Absolute paths by names of projects, sorted: `acme/app` → `/srv/git/acme/app.git`. */
  readonly paths: ReadonlyMap<string, string>;
  readonly complete: boolean;
}

/** A directory that cannot be read, or is not there, has none. Links are not followed. */
export async function findRepositories(base: string): Promise<FoundRepositories> {
  const found: [project: string, path: string][] = [];
  const waiting: string[] = [''];
  let complete = true;
  let read = 0;
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    if (++read > MOST_READ) return { paths: sorted(found), complete: false };
    const entries = await entriesOf(path.join(base, next));
    if (isBare(entries)) {
      const name = next.replace(/\.git$/, '');
      if (projectNameProblem(name) === undefined) found.push([name, path.join(base, next)]);
      continue;
    }
    const below = entries.filter(each => each.isDirectory()).map(({ name }) => path.join(next, name));
    if (next.split(path.sep).length >= DEEPEST) complete &&= below.length === 0;
    else waiting.push(...below);
  }
  return { paths: sorted(found), complete };
}

function sorted(found: readonly (readonly [project: string, path: string])[]): ReadonlyMap<string, string> {
  return new Map(found.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function isBare(entries: readonly Dirent[]): boolean {
  const has = (name: string) => entries.some(each => each.name === name);
  return has('HEAD') && has('objects') && has('refs');
}

async function entriesOf(directory: string): Promise<readonly Dirent[]> {
  try {
    return await readdir(directory, { withFileTypes: true });
  } catch (error) {
    if (error instanceof Error && 'code' in error) return [];
    throw error;
  }
}

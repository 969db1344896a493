/**
 * Gives a tree that git wrote as another user to the service, which is root then: a job can only read it from there on. A small one
 * is given in this process, without starting another: most projects of playbooks have few files.
 *
 * Symbolic links are given themselves. Nothing may change the tree meanwhile: the user it belongs to has no process.
 */
import { lchownSync, opendirSync } from 'node:fs';
import { join } from 'node:path';
import type { OwnProcesses } from './git-process.ts';

/** Names given here: some 2 ms, in which nothing else goes on. */
const MOST_NAMES = 300;

/** @throws WorkspaceFailure */
export async function giveToService(own: Pick<OwnProcesses, 'system'>, top: string): Promise<void> {
  if (!givenHere(top)) await own.system(['chown', '-R', '-h', '0:0', '--', top]);
}

/** @returns false: it is not small, or something refuses; `chown` says what. */
function givenHere(top: string): boolean {
  const count = { names: 0 };
  try {
    lchownSync(top, 0, 0);
    return givenBelow(top, count);
  } catch (error) {
    if (error instanceof Error && 'code' in error) return false;
    throw error;
  }
}

function givenBelow(folder: string, count: { names: number }): boolean {
  const directory = opendirSync(folder);
  try {
    for (let entry = directory.readSync(); entry !== null; entry = directory.readSync()) {
      count.names += 1;
      if (count.names > MOST_NAMES) return false;
      const place = join(folder, entry.name);
      lchownSync(place, 0, 0);
      if (entry.isDirectory() && !givenBelow(place, count)) return false;
    }
    return true;
  } finally {
    directory.closeSync();
  }
}

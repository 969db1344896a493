/** Approved changes in one push, and their landing: what is pushed, when all is there, and the proof that it is right. */

import { watch } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { runGit } from '../../fake/git-repository.ts';
import type { Developed } from './site.ts';

/** Milliseconds without a landing after which the run is given up. */
const STALLED = 120_000;
/** Milliseconds; only ends the watch. */
const LOOK_EVERY = 20;
const MASTER = 'refs/heads/master';

/** Commits side by side on the tip of master, each with a file of its own, made by one process. In the order of their topics. */
export async function makeChanges(
  { clone, bare }: Developed,
  count: number,
  name: string,
): Promise<readonly string[]> {
  const tip = await line(bare, 'rev-parse', MASTER);
  await runGit(clone, ['fetch', '--quiet', bare, MASTER]);
  const stream = Array.from({ length: count }, (_, index) => {
    const who = `Ada Example <ada@example.org> ${1_767_300_000 + index} +0000`;
    const message = `Change ${topic(name, index)}`;
    return [
      `commit refs/bench/${topic(name, index)}\nauthor ${who}\ncommitter ${who}`,
      `data ${message.length}\n${message}\nfrom ${tip}\nM 100644 inline ${topic(name, index)}\ndata 2\n1\n\n`,
    ].join('\n');
  });
  await runGit(clone, ['fast-import', '--quiet', '--date-format=raw'], stream.join(''));
  return lines(clone, 'for-each-ref', '--format=%(objectname)', `refs/bench/${name}*`);
}

/** Proposes, and where asked approves, all of them in one push. */
export async function pushChanges(
  { clone, bare }: Developed,
  commits: readonly string[],
  name: string,
  approve: boolean,
): Promise<void> {
  const refspecs = commits.flatMap((commit, index) =>
    (approve ? ['for', 'gate'] : ['for']).map(
      kind => `${commit}:refs/heads/${kind}/master/${topic(name, index)}`,
    ),
  );
  await runGit(clone, ['push', '--quiet', bare, ...refspecs]);
}

/** Milliseconds, by `performance.now()`. */
export interface Landed {
  readonly first: number;
  readonly last: number;
  /** Times that the branch moved, as far as seen. */
  readonly moves: number;
}

/** Resolves when no proposal with this beginning of its topic is left. To be called before the push. */
export function watchLandings(
  { bare }: Developed,
  name: string,
): { readonly allLanded: () => Promise<Landed> } {
  const heads = path.join(bare, 'refs/heads');
  let [first, last, moves] = [Number.NaN, Number.NaN, 0];
  const watcher = watch(heads, (_, file) => {
    if (file !== 'master') return;
    last = performance.now();
    if (Number.isNaN(first)) first = last;
    moves += 1;
  });
  return {
    async allLanded() {
      try {
        const begun = performance.now();
        while ((await openProposals(heads, name)) > 0) {
          if (performance.now() - (moves === 0 ? begun : last) > STALLED)
            throw new Error('no landing for two minutes');
          await delay(LOOK_EVERY);
        }
        return { first, last, moves };
      } finally {
        watcher.close();
      }
    },
  };
}

async function openProposals(heads: string, name: string): Promise<number> {
  try {
    const topics = await readdir(path.join(heads, 'for/master'));
    return topics.filter(topic => topic.startsWith(name)).length;
  } catch (error) {
    // git removes the folder with the last of them.
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return 0;
    throw error;
  }
}

/**
 * Every change landed once, in order, and each state of the branch is the one before and the change's own file.
 *
 * @param base the tip before. @throws Error when not.
 */
export async function checkLanded(
  { bare }: Developed,
  base: string,
  commits: readonly string[],
  name: string,
): Promise<void> {
  const log = ['log', '--first-parent', '-m', '--reverse', '--name-status', '--format=%x00%P'];
  const landed = (await text(bare, ...log, `${base}..${MASTER}`)).split('\0').slice(1);
  if (landed.length !== commits.length) throw new Error(`${landed.length} of ${commits.length} landed`);
  for (const [index, entry] of landed.entries()) {
    const [parents = '', ...changed] = entry.split('\n').filter(Boolean);
    if (parents.split(' ')[1] !== commits[index])
      throw new Error(`landing ${index + 1} is not that of ${topic(name, index)}`);
    if (changed.join() !== `A\t${topic(name, index)}`)
      throw new Error(`landing ${index + 1} changes ${changed.join(', ')}`);
  }
}

export function tipOf({ bare }: Developed): Promise<string> {
  return line(bare, 'rev-parse', MASTER);
}

/** In the order of the names. */
function topic(name: string, index: number): string {
  return `${name}${String(index).padStart(5, '0')}`;
}

async function text(cwd: string, ...args: readonly string[]): Promise<string> {
  return (await runGit(cwd, args)).toString();
}

async function line(cwd: string, ...args: readonly string[]): Promise<string> {
  return (await text(cwd, ...args)).trim();
}

async function lines(cwd: string, ...args: readonly string[]): Promise<readonly string[]> {
  return (await line(cwd, ...args)).split('\n');
}

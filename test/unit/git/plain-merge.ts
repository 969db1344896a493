/** The oracle: the same chain of merges made by plain `git merge --no-ff` in a work tree. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runGit } from '../../fake/git-repository.ts';
import { IDENTITY } from './open-repository.ts';

export interface PlainMerger extends AsyncDisposable {
  checkout(commit: string): Promise<void>;
  /** Merges into the present state; returns the new HEAD, or undefined (and the state before) on conflict. */
  merge(change: string, message: string): Promise<string | undefined>;
  /** Milliseconds `git merge` itself took so far. */
  readonly spent: () => number;
}

export async function plainMerger(bare: string, below: string = tmpdir()): Promise<PlainMerger> {
  const folder = await mkdtemp(join(below, 'gatehouse-plain-'));
  const work = join(folder, 'work');
  await runGit(folder, ['clone', '--quiet', '--shared', '--no-checkout', bare, work]);
  const text = async (...args: string[]) => (await runGit(work, args)).toString().trim();

  let spent = 0;

  async function dateOf(commit: string): Promise<number> {
    return Number(await text('show', '-s', '--format=%ct', commit));
  }

  return {
    spent: () => spent,
    async checkout(commit) {
      await text('checkout', '--quiet', '--detach', commit);
    },
    async merge(change, message) {
      const date = `@${Math.max(await dateOf('HEAD'), await dateOf(change))} +0000`;
      const started = performance.now();
      try {
        await runGit(work, ['merge', '--quiet', '--no-ff', '-m', message, change], '', {
          GIT_AUTHOR_NAME: IDENTITY.name,
          GIT_AUTHOR_EMAIL: IDENTITY.email,
          GIT_COMMITTER_NAME: IDENTITY.name,
          GIT_COMMITTER_EMAIL: IDENTITY.email,
          GIT_AUTHOR_DATE: date,
          GIT_COMMITTER_DATE: date,
        });
      } catch {
        await text('merge', '--abort');
        return undefined;
      } finally {
        spent += performance.now() - started;
      }
      return text('rev-parse', 'HEAD');
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

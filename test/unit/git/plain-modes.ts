/** The oracle of the merge modes: plain git in a work tree, called as Zuul's merger calls it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ChainStep } from '../../../src/git/merge/merge-chain.ts';
import { runGit } from '../../fake/git-repository.ts';
import { IDENTITY } from './open-repository.ts';

export interface PlainModes extends AsyncDisposable {
  checkout(commit: string): Promise<void>;
  /** Puts a change on the present state. @returns the new HEAD; undefined: it conflicts, the state is as before. */
  apply(step: ChainStep): Promise<string | undefined>;
  /** Tree, author, author date and message of the commits from one state to another, newest first. */
  history(from: string, to: string): Promise<string>;
}

const BY_US = {
  GIT_AUTHOR_NAME: IDENTITY.name,
  GIT_AUTHOR_EMAIL: IDENTITY.email,
  GIT_COMMITTER_NAME: IDENTITY.name,
  GIT_COMMITTER_EMAIL: IDENTITY.email,
};

export async function plainModes(bare: string): Promise<PlainModes> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-modes-'));
  const work = join(folder, 'work');
  await runGit(folder, ['clone', '--quiet', '--shared', '--no-checkout', bare, work]);
  let dates: Record<string, string> = {};
  const git = async (...args: string[]) =>
    (await runGit(work, args, '', { ...BY_US, ...dates })).toString().trim();
  const treeOf = (commit: string) => git('rev-parse', `${commit}^{tree}`);

  async function contains(state: string, change: string): Promise<boolean> {
    return (await git('rev-list', '--count', change, `^${state}`)) === '0';
  }

  async function squash({ change, message }: ChainStep): Promise<void> {
    await git('merge', '--quiet', '--squash', change);
    const [author = '', date = ''] = (
      await git('show', '-s', '--format=%an <%ae>%n%ad', '--date=raw', change)
    ).split('\n');
    await git('commit', '--quiet', '--allow-empty', '-m', message, `--author=${author}`, `--date=${date}`);
  }

  async function pick({ change, message }: ChainStep, state: string): Promise<void> {
    const own = (await git('rev-list', '--parents', change, `^${state}`)).split('\n');
    if (own.some(line => line.split(' ').length > 2)) {
      await git('merge', '--quiet', '--no-ff', '-s', 'resolve', '-m', message, change);
      return;
    }
    const marked = await git(
      'rev-list',
      '--reverse',
      '--topo-order',
      '--cherry-mark',
      '--right-only',
      `${state}...${change}`,
    );
    for (const line of marked.split('\n').filter(Boolean)) {
      const id = line.slice(1);
      const empty = (await treeOf(id)) === (await treeOf(`${id}^`));
      if (line.startsWith('=') && !empty) continue;
      await git('cherry-pick', '--allow-empty', '--keep-redundant-commits', id);
      if (!empty && (await treeOf('HEAD')) === (await treeOf('HEAD^')))
        await git('reset', '--quiet', '--hard', 'HEAD^');
    }
  }

  async function put(step: ChainStep, state: string): Promise<void> {
    switch (step.mode) {
      case 'squash-merge':
        return squash(step);
      case 'cherry-pick':
        return pick(step, state);
      case 'rebase':
        await git('checkout', '--quiet', '--detach', step.change);
        await git('rebase', '--quiet', state);
        return;
      default: {
        const strategy = step.mode === 'merge-resolve' ? 'resolve' : 'ort';
        await git('merge', '--quiet', '--no-ff', '-s', strategy, '-m', step.message, step.change);
      }
    }
  }

  return {
    async checkout(commit) {
      await git('checkout', '--quiet', '--force', '--detach', commit);
    },
    async apply(step) {
      const state = await git('rev-parse', 'HEAD');
      if (await contains(state, step.change)) return state;
      const times = (await git('show', '-s', '--format=%ct', state, step.change)).split('\n').map(Number);
      const date = `@${Math.max(...times)} +0000`;
      dates = { GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date };
      try {
        await put(step, state);
      } catch {
        for (const command of ['rebase', 'cherry-pick', 'merge'])
          await git(command, '--abort').catch(() => undefined);
        await git('reset', '--quiet', '--hard');
        await git('checkout', '--quiet', '--force', '--detach', state);
        return undefined;
      }
      return git('rev-parse', 'HEAD');
    },
    history: (from, to) =>
      git('log', '--first-parent', '--format=%T %an %ae %ad%n%B', '--date=raw', `${from}..${to}`),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

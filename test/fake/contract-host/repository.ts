/** The git side of a project of the fake host: what its web interface would do with a bare repository. */
import { answerFromFiles } from '../answer-from-files.ts';
import { readRef, readRefs } from '../bare-repository.ts';
import { runGit } from '../git-repository.ts';
import { looseCommit } from '../loose-commits.ts';

export interface BranchHead {
  readonly commit: string;
  readonly tree: string;
}

export type Strategy = 'merge' | 'squash';

async function text(bare: string, ...args: readonly string[]): Promise<string> {
  return (await answerFromFiles(bare, args)) ?? (await runGit(bare, args)).toString().trimEnd();
}

/** Branches with what they hold. */
export async function branchesOf(bare: string): Promise<ReadonlyMap<string, BranchHead>> {
  const heads = [...(await readRefs(bare))].filter(([ref]) => ref.startsWith('refs/heads/'));
  const found = heads.map(async ([ref, commit]) => {
    const tree = looseCommit(bare, commit)?.tree ?? (await text(bare, 'rev-parse', `${commit}^{tree}`));
    return [ref.slice('refs/heads/'.length), { commit, tree }] as const;
  });
  return new Map(await Promise.all(found));
}

/** Commits a proposal brings to its branch, newest first, with their messages. */
export async function ownCommits(bare: string, head: string, branch: string) {
  const base = await readRef(bare, `refs/heads/${branch}`);
  const ids = base === undefined ? null : await answerFromFiles(bare, ['rev-list', head, `^${base}`]);
  // What is in packs, or has merges, is read by git.
  if (typeof ids === 'string')
    return (ids === '' ? [] : ids.split('\n')).map(commit => ({
      commit,
      message: (looseCommit(bare, commit)?.message ?? '').trimEnd(),
    }));
  const log = await text(bare, 'log', '-z', '--format=%H%n%B', head, `^refs/heads/${branch}`, '--');
  return log.split('\0').flatMap(entry => {
    const [commit = '', ...message] = entry.split('\n');
    return commit === '' ? [] : [{ commit, message: message.join('\n').trimEnd() }];
  });
}

export async function setRef(bare: string, ref: string, commit: string): Promise<void> {
  await text(bare, 'update-ref', ref, commit);
}

/**
 * A commit of the host's own on the branch; undefined: the two conflict.
 *
 * @param title subject of the commit.
 */
export async function mergeInto(
  bare: string,
  branch: string,
  head: string,
  { strategy, title }: { readonly strategy: Strategy; readonly title: string },
): Promise<BranchHead | undefined> {
  const ref = `refs/heads/${branch}`;
  const base = await text(bare, 'rev-parse', '--verify', '--end-of-options', ref);
  const merged = await text(bare, 'merge-tree', '--write-tree', base, head).catch(() => undefined);
  const tree = merged?.split('\n')[0];
  if (tree === undefined) return undefined;
  const parents = strategy === 'merge' ? ['-p', base, '-p', head] : ['-p', base];
  const commit = await text(bare, 'commit-tree', tree, ...parents, '-m', title);
  await text(bare, 'update-ref', ref, commit, base);
  return { commit, tree };
}

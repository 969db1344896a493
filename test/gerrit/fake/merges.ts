/** Merging with git, without a checkout. */
import { git, gitWith, type Person, tryGit } from './bare-git.ts';
import type { CommitText } from './commits.ts';

/** @returns undefined: conflict */
export async function mergedTree(dir: string, ours: string, theirs: string): Promise<string | undefined> {
  return (await tryGit(dir, 'merge-tree', '--write-tree', ours, theirs))?.split('\n')[0];
}

export interface NewCommit {
  readonly parents: readonly string[];
  readonly message: string;
  /** With its own date, or `at`. */
  readonly author: Person & { readonly seconds?: number };
  readonly committer: Person;
  /** Milliseconds. */
  readonly at: number;
}

/** @returns its id */
export function commitTree(dir: string, tree: string, request: NewCommit): Promise<string> {
  const { parents, message, author, committer, at } = request;
  const args = ['commit-tree', tree, ...parents.flatMap(parent => ['-p', parent]), '-F', '-'];
  return gitWith(dir, args, { input: message, author, committer, at });
}

/** The commit's own change on top of `tip`. @returns the tree; undefined: conflict */
export async function treeOnTop(dir: string, commit: CommitText, tip: string): Promise<string | undefined> {
  // Git before 2.40 takes no merge base: a commit with the tip's tree on the commit's parent has the right one.
  const [parent] = commit.parents;
  const stand = await git(
    dir,
    'commit-tree',
    `${tip}^{tree}`,
    ...(parent === undefined ? [] : ['-p', parent]),
    '-m',
    'stand-in',
  );
  return mergedTree(dir, stand, commit.id);
}

/**
 * Lists the commits of a change that the state it is put on does not have, and finds those whose patch it has already: what
 * `git rebase` would apply, and what it would drop.
 */

import { type ObjectId, parseObjectId } from '../objects/object-id.ts';
import type { Git, GitResult } from '../process/git.ts';
import { remoteFailure } from '../process/remote-failure.ts';

/** A commit of a change. */
export interface OwnCommit {
  readonly id: ObjectId;
  readonly parents: readonly ObjectId[];
}

/** The commits of a change, or why they cannot be listed. */
type OwnCommitsOutcome =
  /** Parents before children; empty: the state has all of them. */
  | { readonly kind: 'commits'; readonly commits: readonly OwnCommit[] }
  | { readonly kind: 'too-many'; readonly limit: number }
  /** The two share no commit. */
  | { readonly kind: 'unrelated' };

/** Asks git; both commits must be in the repository. @throws Error when git cannot answer. */
export interface OwnCommits {
  /** The best common ancestor, of several the first in git's order; undefined: there is none. */
  mergeBase(one: ObjectId, other: ObjectId): Promise<ObjectId | undefined>;
  list(before: ObjectId, change: ObjectId): Promise<OwnCommitsOutcome>;
  /**
   * Those whose patch the other side has too (equal `git patch-id`). Empty when the other side has too many commits to compare: then
   * only a commit that changes nothing any more shows that it is there.
   */
  applied(before: ObjectId, change: ObjectId): Promise<ReadonlySet<ObjectId>>;
}

/** Commits of a change that are put on another one by one; GitHub rebases up to 100, and shows 250. */
export const MOST_OWN_COMMITS = 250;
/** Commits on the other side whose patches are compared: git reads the trees of each. */
const MOST_COMPARED = 1_000;

/** @param gitDir the bare repository. */
export function createOwnCommits(git: Git, gitDir: string): OwnCommits {
  async function lines(...args: string[]): Promise<string[]> {
    const result = await git.run(args, { gitDir });
    if (result.kind !== 'ok') throw failed(args, result);
    return result.stdout.toString('latin1').split('\n').filter(Boolean);
  }

  async function mergeBase(one: ObjectId, other: ObjectId): Promise<ObjectId | undefined> {
    const args = ['merge-base', one, other];
    const result = await git.run(args, { gitDir });
    if (result.kind === 'ok') return parseObjectId(result.stdout.toString('latin1').trim());
    if (result.kind === 'failed' && result.exitCode === 1) return undefined;
    throw failed(args, result);
  }

  const areUnrelated = async (one: ObjectId, other: ObjectId) => (await mergeBase(one, other)) === undefined;

  return {
    mergeBase,
    async list(before, change) {
      const limit = `--max-count=${MOST_OWN_COMMITS + 1}`;
      const found = await lines('rev-list', '--topo-order', '--parents', limit, change, `^${before}`);
      const commits = found.reverse().map(line => {
        const [id = '', ...parents] = line.split(' ');
        return { id: parseObjectId(id), parents: parents.map(parseObjectId) };
      });
      if (commits.length > MOST_OWN_COMMITS)
        return (await areUnrelated(before, change))
          ? { kind: 'unrelated' }
          : { kind: 'too-many', limit: MOST_OWN_COMMITS };
      const hasRoot = commits.some(({ parents }) => parents.length === 0);
      return hasRoot && (await areUnrelated(before, change))
        ? { kind: 'unrelated' }
        : { kind: 'commits', commits };
    },
    async applied(before, change) {
      const limit = `--max-count=${MOST_COMPARED + 1}`;
      const [count] = await lines('rev-list', '--count', limit, before, `^${change}`);
      if (Number(count) === 0 || Number(count) > MOST_COMPARED) return new Set();
      const marked = await lines(
        ...['rev-list', '--cherry-mark', '--right-only', '--no-merges', `${before}...${change}`],
      );
      return new Set(marked.filter(line => line.startsWith('=')).map(line => parseObjectId(line.slice(1))));
    },
  };
}

function failed(args: readonly string[], result: Exclude<GitResult, { kind: 'ok' }>): Error {
  return new Error(`git ${args[0]}: ${remoteFailure(result).message}`);
}

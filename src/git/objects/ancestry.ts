/**
 * Whether one commit is reachable from another. Nearly always the answer is close: what landed is below the tip by as many commits as
 * landed with it. So the newest commits are read first, by the reader that runs anyway; a git process, which costs a hundred times
 * as much, is started for the rest.
 */

import type { Git } from '../process/git.ts';
import { remoteFailure } from '../process/remote-failure.ts';
import type { Commit } from './commit.ts';
import type { ObjectId } from './object-id.ts';
import { MissingObject, type ObjectReader } from './object-reader.ts';
import { OverBudget } from './tree-budget.ts';

/** Commits that are read, and kept in memory for the next question, before git is asked: more than any landing in one go brings. */
const NEAR = 256;

/**
 * Whether `ancestor` is reachable from `descendant` (each from itself). An object that is missing here is reachable from none.
 *
 * Rejects when git cannot answer: a wrong "no" would put a needless merge commit into a chain.
 */
export type IsAncestor = (ancestor: ObjectId, descendant: ObjectId) => Promise<boolean>;

/** @param gitDir the mirror that `reader` reads. */
export function createAncestry(git: Git, gitDir: string, reader: Pick<ObjectReader, 'commit'>): IsAncestor {
  return async (ancestor, descendant) =>
    (await isNear(reader, ancestor, descendant)) || (await isReachable(git, gitDir, ancestor, descendant));
}

/**
 * False: it is not among the nearest {@link NEAR} commits, which says nothing about the others. Below a commit that is older than the
 * ancestor there is hardly ever a newer one: it is not followed.
 */
async function isNear(
  reader: Pick<ObjectReader, 'commit'>,
  ancestor: ObjectId,
  descendant: ObjectId,
): Promise<boolean> {
  const wanted = await commitAt(reader, ancestor);
  if (wanted === undefined) return false;
  const seen = new Set<ObjectId>();
  let generation: readonly ObjectId[] = [descendant];
  while (generation.length > 0 && seen.size + generation.length <= NEAR) {
    if (generation.includes(ancestor)) return true;
    for (const commit of generation) seen.add(commit);
    const found = await Promise.all(generation.map(commit => commitAt(reader, commit)));
    const parents = found.flatMap(each => (each === undefined || isOlder(each, wanted) ? [] : each.parents));
    generation = [...new Set(parents)].filter(commit => !seen.has(commit));
  }
  return false;
}

function isOlder(commit: Commit, than: Commit): boolean {
  return commit.committedAt < than.committedAt;
}

/** Undefined: the commit is not here, or cannot be read. */
async function commitAt(reader: Pick<ObjectReader, 'commit'>, commit: ObjectId): Promise<Commit | undefined> {
  try {
    return await reader.commit(commit);
  } catch (error) {
    if (error instanceof MissingObject || error instanceof OverBudget) return undefined;
    throw error;
  }
}

async function isReachable(
  git: Git,
  gitDir: string,
  ancestor: ObjectId,
  descendant: ObjectId,
): Promise<boolean> {
  const result = await git.run(['merge-base', '--is-ancestor', ancestor, descendant], { gitDir });
  if (result.kind === 'ok') return true;
  if (
    result.kind === 'failed' &&
    (result.exitCode === 1 || result.stderr.includes('Not a valid commit name'))
  )
    return false;
  throw new Error(`git merge-base in ${gitDir}: ${remoteFailure(result).message}`);
}

/**
 * Whether one commit is reachable from another. Nearly always the answer is close: what landed is a few commits below the tip. So
 * the newest commits are read first, by the reader that runs anyway; a git process, which costs a hundred times as much, is
 * started for the rest.
 */
import type { Git } from './git.ts';
import type { ObjectId } from './object-id.ts';
import { MissingObject, type ObjectReader } from './object-reader.ts';
import { remoteFailure } from './remote-failure.ts';
import { OverBudget } from './tree-budget.ts';

/** Commits that are read, and kept in memory for the next question, before git is asked. */
const NEAR = 64;

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

/** False: it is not among the nearest {@link NEAR} commits, which says nothing about the others. */
async function isNear(
  reader: Pick<ObjectReader, 'commit'>,
  ancestor: ObjectId,
  descendant: ObjectId,
): Promise<boolean> {
  const seen = new Set<ObjectId>();
  let generation: readonly ObjectId[] = [descendant];
  while (generation.length > 0 && seen.size + generation.length <= NEAR) {
    if (generation.includes(ancestor)) return parentsOf(reader, ancestor).then(found => found !== undefined);
    for (const commit of generation) seen.add(commit);
    const parents = await Promise.all(generation.map(commit => parentsOf(reader, commit)));
    generation = [...new Set(parents.flatMap(each => each ?? []))].filter(commit => !seen.has(commit));
  }
  return false;
}

/** Undefined: the commit is not here, or cannot be read. */
async function parentsOf(
  reader: Pick<ObjectReader, 'commit'>,
  commit: ObjectId,
): Promise<readonly ObjectId[] | undefined> {
  try {
    return (await reader.commit(commit)).parents;
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

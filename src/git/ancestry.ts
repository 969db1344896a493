import type { Git } from './git.ts';
import type { ObjectId } from './object-id.ts';
import { remoteFailure } from './remote-failure.ts';

/**
 * Whether `ancestor` is reachable from `descendant` (each from itself). An object that is missing here is reachable from none.
 *
 * @throws Error when git cannot answer: a wrong "no" would put a needless merge commit into a chain.
 */
export async function isAncestor(
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

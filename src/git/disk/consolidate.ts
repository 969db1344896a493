import type { Git } from '../process/git.ts';
import { remoteFailure } from '../process/remote-failure.ts';
import { pastLocks } from './past-locks.ts';

/** Each fetch leaves a pack, and a search for an object tries one pack after the other. */
export const FETCHES_PER_CONSOLIDATION = 40;

/**
 * Combines small packs and loose objects into few packs, and loose refs into one file. Nothing is pruned, so all objects stay,
 * also for processes that have the old packs open. The cost grows with the objects added since the last call.
 */
export async function consolidate(git: Git, gitDir: string): Promise<void> {
  for (const args of [
    ['repack', '--quiet', '-d', '--geometric=2'],
    ['pack-refs', '--all', '--prune'],
  ]) {
    const result = await pastLocks(gitDir, () => git.run(args, { gitDir }));
    if (result.kind !== 'ok')
      throw new Error(`git ${args[0]} in ${gitDir}: ${remoteFailure(result).message}`);
  }
}

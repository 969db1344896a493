import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureMirror } from '../disk/mirror-directory.ts';
import type { ObjectId } from '../objects/object-id.ts';
import { createObjectWriter } from '../objects/object-writer.ts';
import { CoprocessDied } from '../process/coprocess.ts';
import type { Git } from '../process/git.ts';
import {
  askForMerge,
  type CoprocessMode,
  createMergeTree,
  type MergeTreeMode,
  startMergeProcess,
} from './merge-tree.ts';

/** In the order tried: `stdbuf` does no harm to a git that flushes by itself, the opposite dead-locks until patience ends. */
const CANDIDATES: readonly CoprocessMode[] = ['unbuffered-coprocess', 'coprocess'];

/**
 * Finds out, by trying, how this machine's git can be asked for merges. Done once at start, in a repository of its own in
 * the temporary directory.
 *
 * @param patienceMs how long one try may take; generous, because a wrong guess costs a factor of six until the next start.
 * @throws Error when git cannot merge trees at all: `merge-tree --write-tree` came with 2.38.
 */
export async function probeMergeTree(git: Git, patienceMs = 5_000): Promise<MergeTreeMode> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-probe-'));
  try {
    const path = join(folder, 'probe.git');
    const commit = await makeRepository(git, path);
    for (const mode of CANDIDATES) {
      if (await answers(git, path, mode, commit, patienceMs)) return mode;
    }
    await createMergeTree(git, path, 'process-per-merge').merge(commit, commit);
    return 'process-per-merge';
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** With one empty commit. */
async function makeRepository(git: Git, path: string): Promise<ObjectId> {
  await ensureMirror(path);
  const writer = createObjectWriter(path);
  const tree = await writer.write('tree', new Uint8Array());
  return writer.writeCommit({ tree, parents: [], identity: git.identity, date: 0, message: 'probe' });
}

async function answers(
  git: Git,
  path: string,
  mode: CoprocessMode,
  commit: ObjectId,
  patienceMs: number,
): Promise<boolean> {
  const process = startMergeProcess(git, path, mode, { timeoutMs: patienceMs });
  try {
    return (await askForMerge(process, commit, commit)).kind === 'clean';
  } catch (error) {
    if (!(error instanceof CoprocessDied)) throw error;
    return false;
  } finally {
    await process.close();
  }
}

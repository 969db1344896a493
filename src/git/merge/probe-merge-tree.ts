import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
    const commit = await makeRepository(git, folder);
    for (const mode of CANDIDATES) {
      if (await answers(git, folder, mode, commit, patienceMs)) return mode;
    }
    await createMergeTree(git, folder, 'process-per-merge').merge(commit, commit);
    return 'process-per-merge';
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A repository with one empty commit. */
async function makeRepository(git: Git, folder: string): Promise<ObjectId> {
  const made = await git.run(['init', '--quiet', '--bare', '--template=', folder], { cwd: folder });
  if (made.kind !== 'ok')
    throw new Error(`git init in ${folder}: ${made.kind === 'failed' ? made.stderr.trim() : made.kind}`);
  const writer = createObjectWriter(folder);
  const tree = await writer.write('tree', new Uint8Array());
  return writer.writeCommit({ tree, parents: [], identity: git.identity, date: 0, message: 'probe' });
}

async function answers(
  git: Git,
  folder: string,
  mode: CoprocessMode,
  commit: ObjectId,
  patienceMs: number,
): Promise<boolean> {
  const process = startMergeProcess(git, folder, mode, { timeoutMs: patienceMs });
  try {
    return (await askForMerge(process, commit, commit)).kind === 'clean';
  } catch (error) {
    if (!(error instanceof CoprocessDied)) throw error;
    return false;
  } finally {
    await process.close();
  }
}

/**
 * At start: cleans up after a killed predecessor. A build directory names the process that worked there, by pid and start
 * time; if that process is gone, so is the build (the scheduler has noticed the lost claim), and its remaining processes are
 * killed by their mark.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isUuid } from '../lib/ids.ts';
import { PROCESS_FILE } from './build-places.ts';
import type { OwnProcesses } from './git-process.ts';
import { isRunning, parseProcessIdentity } from './process-identity.ts';
import { deleteTrees, renameAway, TRASH } from './remove-build.ts';
import { SELF_TEST } from './sandbox/self-test.ts';
import { killStraysUntilGone } from './spawner/stray-processes.ts';

/** Uuids of builds, for the log. */
export interface Swept {
  /** Build directories removed. */
  readonly removed: readonly string[];
  /** Left alone: another running executor works there. */
  readonly inUse: readonly string[];
}

/** Call before the first build. @throws Error of the file system, WorkspaceFailure when a directory cannot be deleted. */
export async function sweepLeftovers(jobDir: string, own: OwnProcesses): Promise<Swept> {
  const names = await readdir(jobDir);
  const removed: string[] = [];
  const inUse: string[] = [];
  for (const name of names.filter(isUuid)) {
    if (await isWorkedOn(join(jobDir, name))) {
      inUse.push(name);
      continue;
    }
    await killStraysUntilGone({ reach: { kind: 'marked', mark: name }, user: null });
    await renameAway(jobDir, join(jobDir, name));
    removed.push(name);
  }
  const trash = names.includes(TRASH) || removed.length > 0 ? await readdir(join(jobDir, TRASH)) : [];
  const tests = names.filter(name => name.startsWith(SELF_TEST));
  for (const mark of tests) await killStraysUntilGone({ reach: { kind: 'marked', mark }, user: null });
  for (const path of [...trash.map(name => join(TRASH, name)), ...tests])
    await deleteTrees(own, [join(jobDir, path)]);
  return { removed, inUse };
}

async function isWorkedOn(root: string): Promise<boolean> {
  try {
    const identity = parseProcessIdentity(await readFile(join(root, PROCESS_FILE), 'utf8'));
    return identity !== undefined && isRunning(identity);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false;
    throw error;
  }
}

/**
 * Removes a build's directory: renamed first, so that the path is free immediately and remaining processes work on
 * nothing that counts; then deleted by `rm`, which opens directory by directory and follows no symbolic link a job made.
 */
import { mkdir, rename } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { randomIds } from '../lib/ids.ts';
import type { OwnProcesses } from './git-process.ts';

/** Name below `job_dir` of the directory with everything to delete. */
export const TRASH = '.trash';

/** @returns where it is now. */
export async function renameAway(jobDir: string, path: string): Promise<string> {
  const trash = join(jobDir, TRASH);
  await mkdir(trash, { recursive: true, mode: 0o700 });
  const place = join(trash, `${basename(path)}-${randomIds().uuid().slice(0, 8)}`);
  await rename(path, place);
  return place;
}

/** @throws WorkspaceFailure when something could not be deleted. */
export async function deleteTrees(own: OwnProcesses, paths: readonly string[]): Promise<void> {
  try {
    await own.system(['rm', '-rf', '--', ...paths]);
  } catch {
    // Directories the job has made unwritable (some package managers do): only root may delete in those as they are.
    await own.system(['chmod', '-R', 'u+rwX', '--', ...paths]);
    await own.system(['rm', '-rf', '--', ...paths]);
  }
}

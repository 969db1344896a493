/** Moves refs of our mirror as git does, without a process: a lock beside each file, and a rename. */
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/**
 * @param tips object ids by full names of refs, each of one part below a folder of ours.
 * @returns false: for git, which waits for locks. Some may have been moved.
 */
export async function writeTips(gitDir: string, tips: ReadonlyMap<string, string>): Promise<boolean> {
  for (const [ref, id] of tips) if (!(await writeTip(join(gitDir, ref), id))) return false;
  return true;
}

async function writeTip(file: string, id: string): Promise<boolean> {
  const lock = `${file}.lock`;
  const handle = await created(lock);
  if (handle === undefined) return false;
  try {
    await handle.writeFile(`${id}\n`);
    await handle.close();
    await rename(lock, file);
    return true;
  } catch (error) {
    await handle.close().catch(() => undefined); // closed
    await rm(lock, { force: true });
    throw error;
  }
}

/** Undefined: another process has the lock. */
async function created(lock: string): Promise<FileHandle | undefined> {
  try {
    await mkdir(dirname(lock), { recursive: true });
    return await open(lock, 'wx', 0o644);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return undefined;
    throw error;
  }
}

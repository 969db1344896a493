/**
 * The temporary folder of a run, in memory where that is possible: stores, repositories and servers flush to disk with every commit,
 * and tests would wait for the disk longer than for anything else. What is flushed, and when, stays the same.
 *
 * Needs root, to mount it, and a machine with memory to spare; elsewhere, or where `TMPDIR` is set, the folder stays as it is.
 */
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readdir, rm, rmdir } from 'node:fs/promises';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { isAlive } from '../../src/executor/spawner/stray-processes.ts';

const run = promisify(execFile);

/** Bytes. A run uses less than a tenth of it; the rest is for what it starts. */
const ENOUGH_MEMORY = 6 * 1024 ** 3;

export interface TemporaryFolder {
  readonly path: string;
  /** Called when nothing of the run is open any more. */
  remove(): Promise<void>;
}

/** @returns undefined: temporary files go where the system puts them. */
export async function memoryDisk(): Promise<TemporaryFolder | undefined> {
  if (process.env.TMPDIR !== undefined || process.getuid?.() !== 0 || freemem() < ENOUGH_MEMORY)
    return undefined;
  await removeLeft(tmpdir());
  const path = await mkdtemp(join(tmpdir(), `gatehouse-tests-${process.pid}-`));
  try {
    await run('mount', ['-t', 'tmpfs', '-o', 'size=4g,mode=1777', 'tmpfs', path]);
  } catch {
    // A container without the right to mount.
    await rmdir(path);
    return undefined;
  }
  await chmod(path, 0o1777);
  return {
    path,
    remove: () => unmount(path),
  };
}

/** Those of runs that were killed. */
async function removeLeft(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const pid = /^gatehouse-tests-(\d+)-/.exec(name)?.[1];
    if (pid === undefined || isAlive(Number(pid))) continue;
    const path = join(folder, name);
    // It may be a plain folder, and another run may remove it at the same time.
    await run('umount', ['--lazy', path]).catch(() => undefined);
    await rm(path, { recursive: true, force: true });
  }
}

async function unmount(path: string): Promise<void> {
  // Lazily: an orphan that still has a file open loses it when it ends.
  await run('umount', ['--lazy', path]);
  await rmdir(path);
}

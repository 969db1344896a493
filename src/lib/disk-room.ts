/**
 * Whether the disks a worker writes to have room. A full disk is a fault of the machine: the worker takes no work until there is
 * room again, and failures meanwhile do not count against the change.
 *
 *     const room = createDiskRoom(['/var/lib/gatehouse/git'], { onChange: trouble => … });
 *     await room.found(signal);                      // waits while a disk is full
 *     if ((await room.trouble()) !== undefined) …    // failed, and here a disk is full
 */
import { statfs } from 'node:fs/promises';
import { pause } from './pause.ts';

/** What a merger and an executor ask before they take work, and again after a failure. */
export interface DiskRoom {
  /** `the disk of <directory> is full: <n> MB and <n> inodes are free`; undefined: there is room. */
  trouble(): Promise<string | undefined>;
  /** Resolves when there is room everywhere, or when aborted. */
  found(signal: AbortSignal): Promise<void>;
}

/** Passed by `src/cmd/service/worker-room.ts`, which logs and registers the trouble. */
export interface DiskRoomOptions {
  /** Called when a disk is found full, with what `trouble` says, and when all have room again, with undefined. */
  readonly onChange: (trouble: string | undefined) => void;
  /** Milliseconds between checks while a disk is full; default 5000. */
  readonly retryMs?: number;
}

/** Git and the service need some to finish their work and to clean up. */
const LEAST_BYTES = 32 * 1024 * 1024;
const LEAST_INODES = 500;
const MEGABYTE = 1_000_000;

/** @param directories that exist. */
export function createDiskRoom(directories: readonly string[], options: DiskRoomOptions): DiskRoom {
  let isFull = false;

  async function trouble(): Promise<string | undefined> {
    const all = await Promise.all([...new Set(directories)].map(troubleOf));
    const found = all.find(each => each !== undefined);
    if ((found !== undefined) !== isFull) options.onChange(found);
    isFull = found !== undefined;
    return found;
  }

  return {
    trouble,
    async found(signal) {
      while (!signal.aborted && (await trouble()) !== undefined)
        await pause(options.retryMs ?? 5_000, signal);
    },
  };
}

async function troubleOf(directory: string): Promise<string | undefined> {
  const { bavail, bsize, files, ffree } = await statfs(directory);
  const bytes = bavail * bsize;
  // Some filesystems count no inodes.
  if (bytes >= LEAST_BYTES && (files === 0 || ffree >= LEAST_INODES)) return undefined;
  return `the disk of ${directory} is full: ${Math.floor(bytes / MEGABYTE)} MB and ${ffree} inodes are free`;
}

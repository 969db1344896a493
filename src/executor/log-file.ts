/**
 * The log of a build: `<log_dir>/<build uuid>/job-output.txt`, written live, kept when the workspace goes. Readers follow it by
 * offset:
 *
 *     let { bytes, next, complete } = await readLog(path, 0, 65_536);   // then from `next`, until `complete`
 *
 * A build that has ended leaves an empty file `job-output.txt.complete` next to it.
 */
import { constants } from 'node:fs';
import { access, open } from 'node:fs/promises';
import { join } from 'node:path';
import { parseUuid, type Uuid } from '../lib/ids.ts';

/** One read of a log, from the offset that was asked for. */
export interface LogPart {
  readonly bytes: Buffer;
  /** Offset to continue from. */
  readonly next: number;
  /** Nothing will follow after `next`. */
  readonly complete: boolean;
}

/** @throws RangeError for anything but a uuid: the name comes from a URL. */
export function logPathOf(logDir: string, build: Uuid | string): string {
  return join(logDir, parseUuid(build), 'job-output.txt');
}

/** Where the empty file belongs that marks the log at `path` as complete; its time is the end of the build. */
export function completeMarkOf(path: string): string {
  return `${path}.complete`;
}

/**
 * @param limit most bytes to return.
 * @returns undefined when there is no such log (yet).
 */
export async function readLogPart(path: string, offset: number, limit: number): Promise<LogPart | undefined> {
  // Checked before reading: a complete log cannot grow until we reach its end.
  const ended = await exists(completeMarkOf(path));
  const file = await openLog(path);
  if (file === undefined) return undefined;
  try {
    const { size } = await file.stat();
    const length = Math.max(0, Math.min(limit, size - offset));
    const { bytesRead, buffer } = await file.read(Buffer.alloc(length), 0, length, offset);
    const next = Math.min(offset, size) + bytesRead;
    return { bytes: buffer.subarray(0, bytesRead), next, complete: ended && next >= size };
  } finally {
    await file.close();
  }
}

async function openLog(path: string) {
  try {
    return await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false;
    throw error;
  }
}

/** Packs the log of a build that has ended, a block at a time. Whenever it is cut off, what was there before is still whole. */
import { randomUUID } from 'node:crypto';
import { type FileHandle, open, rename, rm, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import { logPathOf } from '../log-file.ts';
import { openPlainFile } from '../open-plain-file.ts';
import {
  BLOCK,
  GZIP_HEADER,
  gzipTrailer,
  indexOf,
  type LogIndex,
  packBlock,
  packedLogOf,
} from './packed-log.ts';
import { syncFiles } from './sync-files.ts';

/**
 * The packed file and its index are on the disk before the log itself is removed.
 *
 * @returns undefined: there is no log, or it was packed before. @throws Error of the file system, and the reason of the signal.
 */
export async function packLog(
  logDir: string,
  build: string,
  signal?: AbortSignal,
): Promise<LogIndex | undefined> {
  const path = logPathOf(logDir, build);
  const log = await openPlainFile(path);
  if (log === undefined) return undefined;
  const packed = packedLogOf(logDir, build);
  const list = indexOf(logDir, build);
  // Another process with the same log directory may do the same at the same time.
  const own = `${randomUUID().slice(0, 8)}.part`;
  let index: LogIndex;
  try {
    index = await written(`${packed}.${own}`, part => pack(log, part, signal));
    await written(`${list}.${own}`, part => part.writeFile(JSON.stringify(index)));
  } catch (error) {
    for (const path of [packed, list]) await rm(`${path}.${own}`, { force: true });
    throw error;
  } finally {
    await log.close();
  }
  await rename(`${packed}.${own}`, packed);
  await rename(`${list}.${own}`, list);
  await syncFiles([dirname(path)]);
  await unlink(path);
  return index;
}

async function written<T>(path: string, write: (file: FileHandle) => Promise<T>): Promise<T> {
  const file = await open(path, 'w', 0o644);
  try {
    const value = await write(file);
    await file.sync();
    return value;
  } finally {
    await file.close();
  }
}

async function pack(log: FileHandle, packed: FileHandle, signal?: AbortSignal): Promise<LogIndex> {
  await packed.writeFile(GZIP_HEADER);
  const ends = [GZIP_HEADER.length];
  const buffer = Buffer.alloc(BLOCK);
  let at = GZIP_HEADER.length;
  let bytes = 0;
  let crc = 0;
  for (;;) {
    signal?.throwIfAborted();
    const plain = buffer.subarray(0, await fill(log, buffer, bytes));
    if (plain.length === 0) break;
    const block = await packBlock(plain);
    await packed.writeFile(block);
    crc = crc32(plain, crc);
    bytes += plain.length;
    at += block.length;
    ends.push(at);
    if (plain.length < BLOCK) break;
  }
  await packed.writeFile(gzipTrailer(crc, bytes));
  return { bytes, block: BLOCK, ends };
}

/** @returns bytes read; fewer than there is room for: the file ends there. */
async function fill(file: FileHandle, buffer: Buffer, offset: number): Promise<number> {
  let length = 0;
  while (length < buffer.length) {
    const { bytesRead } = await file.read(buffer, length, buffer.length - length, offset + length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return length;
}

/**
 * The log of a build on this machine, growing or packed, for readers who need not know which. A log is packed beside itself and the plain
 * one removed at the end, so that a reader that finds no plain one finds the other.
 */
import { type FileHandle, readFile } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { type LogPart, logPathOf, readLogPart } from '../log-file.ts';
import { openPlainFile } from '../open-plain-file.ts';
import {
  indexOf,
  type LogIndex,
  type PackedRange,
  packedLogOf,
  parseLogIndex,
  readPacked,
} from './packed-log.ts';

/** @param limit most bytes to return. @returns undefined when there is no such log (yet). */
export async function readBuildLog(
  logDir: string,
  build: string,
  offset: number,
  limit: number,
): Promise<LogPart | undefined> {
  const plain = await readLogPart(logPathOf(logDir, build), offset, limit);
  if (plain !== undefined) return plain;
  const index = await readLogIndex(logDir, build);
  const file = index === undefined ? undefined : await openPlainFile(packedLogOf(logDir, build));
  if (index === undefined || file === undefined) return undefined;
  try {
    return await readPacked(index, { offset, limit }, range => readRange(file, range));
  } finally {
    await file.close();
  }
}

/** The whole log, compressed by gzip. @returns undefined: it is not packed (yet). */
export async function openPackedLog(logDir: string, build: string): Promise<Readable | undefined> {
  if ((await readLogIndex(logDir, build)) === undefined) return undefined;
  const file = await openPlainFile(packedLogOf(logDir, build));
  return file?.createReadStream();
}

/** @returns undefined: the log is not packed. @throws Error for an index that is not written by us. */
export async function readLogIndex(logDir: string, build: string): Promise<LogIndex | undefined> {
  try {
    return parseLogIndex(JSON.parse(await readFile(indexOf(logDir, build), 'utf8')));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

async function readRange(file: FileHandle, { from, to }: PackedRange): Promise<Uint8Array> {
  const { bytesRead, buffer } = await file.read(Buffer.alloc(to - from), 0, to - from, from);
  return buffer.subarray(0, bytesRead);
}

/**
 * The log of a build that has ended, compressed, and still read from any offset:
 *
 *     job-output.txt.gz            one gzip file, as any program reads it: a header, blocks, a trailer
 *     job-output.txt.index.json    {"bytes": 700000, "block": 262144, "ends": [10, 31044, 62190, 83001]}
 *
 * Each block holds `block` bytes of the log, the last one fewer, is compressed by itself, and lies between two numbers of `ends`. So a
 * part of a log of a gigabyte costs what lies in its blocks, from a disk or from a bucket alike.
 */
import { promisify } from 'node:util';
import { constants, deflateRaw, inflateRaw } from 'node:zlib';
import { type LogPart, logPathOf } from '../log-file.ts';

const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);

/** Bytes of the log in a block: what a web reads at a time. */
export const BLOCK = 262_144;

/** A gzip header without name and time, of Unix. */
export const GZIP_HEADER: Buffer = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]);

/** Where the blocks of a packed log are. */
export interface LogIndex {
  /** Of the log, not compressed. */
  readonly bytes: number;
  /** Bytes of the log in each block but the last. */
  readonly block: number;
  /** Offsets in the packed file: where the first block begins, and where each one ends. */
  readonly ends: readonly number[];
}

/** A part of the packed file. `to` is after its last byte. */
export interface PackedRange {
  readonly from: number;
  readonly to: number;
}

/** Where the packed log of a build belongs. */
export function packedLogOf(logDir: string, build: string): string {
  return `${logPathOf(logDir, build)}.gz`;
}

/** The log is packed where this file is, which is written last. */
export function indexOf(logDir: string, build: string): string {
  return `${logPathOf(logDir, build)}.index.json`;
}

/** Ends where a block may begin, and refers to nothing before it. */
export function packBlock(bytes: Uint8Array): Promise<Buffer> {
  return deflate(bytes, { level: 6, finishFlush: constants.Z_FULL_FLUSH });
}

/** What follows the last block. @param crc CRC-32 of the whole log. */
export function gzipTrailer(crc: number, bytes: number): Buffer {
  const trailer = Buffer.alloc(10);
  // An empty last block.
  trailer.writeUInt16LE(0x0003, 0);
  trailer.writeUInt32LE(crc >>> 0, 2);
  trailer.writeUInt32LE(bytes % 2 ** 32, 6);
  return trailer;
}

/**
 * @param limit most bytes to return.
 * @param read gives that part of the packed file, whole.
 * @throws Error when what it gives is not as the index has it, or the like of `read`.
 */
export async function readPacked(
  { bytes, block, ends }: LogIndex,
  { offset, limit }: { readonly offset: number; readonly limit: number },
  read: (range: PackedRange) => Promise<Uint8Array>,
): Promise<LogPart> {
  const end = Math.min(bytes, offset + limit);
  if (offset >= end)
    return { bytes: Buffer.alloc(0), next: Math.min(offset, bytes), complete: offset >= bytes };
  const first = Math.floor(offset / block);
  const last = Math.floor((end - 1) / block);
  const from = ends[first] ?? Number.NaN;
  const packed = await read({ from, to: ends[last + 1] ?? Number.NaN });
  const parts: Buffer[] = [];
  for (let at = first; at <= last; at++)
    parts.push(
      await unpackBlock(packed.subarray((ends[at] ?? 0) - from, (ends[at + 1] ?? 0) - from), {
        bytes: Math.min(block, bytes - at * block),
      }),
    );
  const begin = first * block;
  const part = Buffer.concat(parts).subarray(offset - begin, end - begin);
  return { bytes: part, next: end, complete: end >= bytes };
}

async function unpackBlock(packed: Uint8Array, expected: { readonly bytes: number }): Promise<Buffer> {
  const bytes = await inflate(packed, {
    finishFlush: constants.Z_SYNC_FLUSH,
    maxOutputLength: expected.bytes + 1,
  });
  if (bytes.length !== expected.bytes)
    throw new Error(`a block of a log has ${bytes.length} bytes, and its index says ${expected.bytes}`);
  return bytes;
}

/** @throws Error for anything that is not written by us. */
export function parseLogIndex(value: unknown): LogIndex {
  const { bytes, block, ends }: { [name: string]: unknown } = Object(value);
  if (!isCount(bytes) || !isCount(block) || block === 0 || !Array.isArray(ends) || !ends.every(isCount))
    throw new Error('the index of a packed log is malformed');
  const isOrdered = ends.every((end, at) => at === 0 || end > (ends[at - 1] ?? 0));
  if (!isOrdered || ends.length !== Math.ceil(bytes / block) + 1)
    throw new Error('the index of a packed log is malformed');
  return { bytes, block, ends };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

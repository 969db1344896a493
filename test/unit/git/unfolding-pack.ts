/**
 * Packs of a few kilobytes with an object of gigabytes: a delta that copies its base again and again.
 *
 *     git index-pack --stdin <unfoldingPack(64)         // 1 GB
 */
import { createHash } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import { runGit } from '../../fake/git-repository.ts';
import { commitWith } from './git-bomb.ts';

/** The longest copy one instruction can ask for. */
const BASE = Buffer.alloc(0xff_ff_ff);
const COPY_ALL = Buffer.from([0x80 | 0x10 | 0x20 | 0x40, 0xff, 0xff, 0xff]);
const BLOB = 3;
const REF_DELTA = 7;

export function unfoldingPack(copies: number): Buffer {
  const delta = Buffer.concat([
    lengthOf(BASE.length),
    lengthOf(BASE.length * copies),
    ...Array.from({ length: copies }, () => COPY_ALL),
  ]);
  const header = Buffer.from('PACK\0\0\0\x02\0\0\0\x02', 'latin1');
  const body = Buffer.concat([
    header,
    entryHead(BLOB, BASE.length),
    deflateSync(BASE),
    entryHead(REF_DELTA, delta.length),
    createHash('sha1').update(`blob ${BASE.length}\0`).update(BASE).digest(),
    deflateSync(delta),
  ]);
  return Buffer.concat([body, createHash('sha1').update(body).digest()]);
}

/** Little more than the limit of the tests: git unfolds and hashes all of it each time. */
const COPIES = 10;
/** Of the unfolded object; a tenth of a second of hashing, for all tests of a process. */
let blobId: string | undefined;

/** A commit on `parent` with a file of 168 MB, which the repository keeps in some kilobytes; no ref leads to it. */
export async function commitUnfolding(path: string, parent: string): Promise<string> {
  await runGit(path, ['index-pack', '--stdin'], unfoldingPack(COPIES));
  blobId ??= idOfUnfolded(COPIES);
  return commitWith(path, parent, [{ name: 'huge', mode: '100644', id: blobId }]);
}

function idOfUnfolded(copies: number): string {
  const id = createHash('sha1').update(`blob ${unfolded(copies)}\0`);
  for (let copy = 0; copy < copies; copy += 1) id.update(BASE);
  return id.digest('hex');
}

/** Bytes of the object the pack hides. */
export function unfolded(copies: number): number {
  return BASE.length * copies;
}

/** Four bits of the size beside the type, then seven a byte. */
function entryHead(type: number, size: number): Buffer {
  const rest = Math.floor(size / 16);
  const first = (type << 4) | (size % 16);
  return rest === 0 ? Buffer.from([first]) : Buffer.concat([Buffer.from([first | 0x80]), lengthOf(rest)]);
}

function lengthOf(size: number): Buffer {
  const bytes: number[] = [];
  let rest = size;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80);
  return Buffer.from([...bytes, rest]);
}

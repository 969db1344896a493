/**
 * Packs of a few kilobytes with an object of gigabytes: a delta that copies its base again and again.
 *
 *     git index-pack --stdin <unfoldingPack(1_000)      // 1 GB
 */
import { createHash } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { runGit } from '../../fake/git-repository.ts';
import { commitWith } from './git-bomb.ts';

/** Small: git unfolds and hashes it each time before it refuses the other object. */
const BASE = Buffer.alloc(0x0f_ff_ff);
const COPY_ALL = Buffer.from([0x80 | 0x10 | 0x20 | 0x40, 0xff, 0xff, 0x0f]);
const BASE_ID = createHash('sha1').update(`blob ${BASE.length}\0`).update(BASE).digest('hex');
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
    Buffer.from(BASE_ID, 'hex'),
    deflateSync(delta),
  ]);
  return Buffer.concat([body, createHash('sha1').update(body).digest()]);
}

/** Little more than the limit of the tests. */
const COPIES = 160;

interface IndexedPack {
  /** Without its ending. */
  readonly name: string;
  readonly pack: Buffer;
  readonly index: Buffer;
  /** The unfolded object. */
  readonly blob: string;
}

/** For all tests of a process: to index it, git unfolds and hashes all of it. */
let indexed: IndexedPack | undefined;

/** A commit on `parent` with a file of 168 MB, which the repository keeps in some kilobytes; no ref leads to it. */
export async function commitUnfolding(path: string, parent: string): Promise<string> {
  indexed ??= await indexPack(path);
  const { name, pack, index, blob } = indexed;
  const place = join(path, 'objects/pack', name);
  await writeFile(`${place}.pack`, pack);
  await writeFile(`${place}.idx`, index);
  return commitWith(path, parent, [{ name: 'huge', mode: '100644', id: blob }]);
}

async function indexPack(path: string): Promise<IndexedPack> {
  const stdout = await runGit(path, ['index-pack', '--stdin'], unfoldingPack(COPIES));
  const name = `pack-${stdout.toString().trim().split('\t')[1]}`;
  const place = join(path, 'objects/pack', name);
  const [pack, index] = [await readFile(`${place}.pack`), await readFile(`${place}.idx`)];
  await Promise.all(['pack', 'idx'].map(each => rm(`${place}.${each}`)));
  // Lines of an offset, an id and a checksum.
  const objects = (await runGit(path, ['show-index'], index)).toString().trim().split('\n');
  const ids = objects.map(line => line.split(' ')[1] ?? '').filter(id => id !== BASE_ID);
  if (ids.length !== 1) throw new Error(`not the objects of the pack: ${objects.join()}`);
  return { name, pack, index, blob: ids.join() };
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

/** Reads loose objects of any repository: each is the deflated header and content, in a file named for the SHA-1 of both. */
import { createHash } from 'node:crypto';
import { lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inflateSync } from 'node:zlib';
import type { ObjectId } from './object-id.ts';
import type { ObjectKind } from './object-writer.ts';

/** What it says is what its name stands for. */
export interface LooseObject {
  readonly kind: ObjectKind;
  readonly content: Buffer;
}

/** Bytes of a file, which is read in one call. */
const MOST_FILE = 64 * 1024;
/** Bytes of a header at most: `commit`, a space, ten digits, a zero. */
const MOST_HEADER = 32;

/**
 * @param most bytes of content.
 * @returns undefined: it is not there as a plain small file that holds it, or is a tag.
 */
export function readLooseObject(gitDir: string, id: ObjectId, most: number): LooseObject | undefined {
  const whole = inflated(join(gitDir, 'objects', id.slice(0, 2), id.slice(2)), most + MOST_HEADER);
  if (whole === undefined || createHash('sha1').update(whole).digest('hex') !== id) return undefined;
  const end = whole.indexOf(0);
  const [kind, size] = whole.toString('latin1', 0, Math.min(end, MOST_HEADER)).split(' ');
  const content = whole.subarray(end + 1);
  if (kind !== 'commit' && kind !== 'tree' && kind !== 'blob') return undefined;
  return Number(size) === content.length && content.length <= most ? { kind, content } : undefined;
}

function inflated(file: string, most: number): Buffer | undefined {
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (found?.isFile() !== true || found.size > MOST_FILE) return undefined;
  try {
    // Kilobytes unfold to gigabytes, if one lets them.
    return inflateSync(readFileSync(file), { maxOutputLength: most });
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined;
    throw error;
  }
}

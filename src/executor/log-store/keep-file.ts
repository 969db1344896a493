/** One file into the store: masked, hashed and compressed as it is read, and shared with builds that left the same. */
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { link, mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { maskedBytes } from '../../lib/secret-masks.ts';
import { BLOBS, keptFileOf } from './kept-files.ts';

/** Where a build's files go, and what must not be in them. */
export interface KeepPlace {
  readonly logDir: string;
  readonly build: string;
  /** Masks of secrets, as in the log. */
  readonly masks: readonly string[];
}

/** Contents of a file that was kept. */
interface Kept {
  readonly sha256: string;
  readonly bytes: number;
}

/** @param most further bytes are not read: the file is then left out. @returns undefined: it has more. @throws Error of the file system. */
export async function keepFile(
  { logDir, build, masks }: KeepPlace,
  source: Readable,
  most: number,
): Promise<Kept | undefined> {
  const part = join(logDir, build, 'files', '.part');
  const hash = createHash('sha256');
  let bytes = 0;
  const count = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      hash.update(chunk);
      done(bytes > most ? new TooMuch() : null, chunk);
    },
  });
  try {
    await pipeline(
      source,
      masking(masks),
      count,
      createGzip({ level: 6 }),
      createWriteStream(part, { mode: 0o644 }),
    );
  } catch (error) {
    await rm(part, { force: true });
    if (error instanceof TooMuch) return undefined;
    throw error;
  }
  const sha256 = hash.digest('hex');
  await share(
    part,
    join(logDir, BLOBS, sha256.slice(0, 2), `${sha256}.gz`),
    keptFileOf(logDir, build, sha256),
  );
  return { sha256, bytes };
}

class TooMuch extends Error {
  override readonly name = 'TooMuch';
}

async function share(part: string, blob: string, kept: string): Promise<void> {
  if (await linked(blob, kept)) {
    await rm(part, { force: true });
    return;
  }
  await rename(part, kept);
  await mkdir(dirname(blob), { recursive: true });
  await linked(kept, blob);
}

/** Not: there is no such file, or it has as many links as it may have. */
async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    // The build left the same content twice, or another one was first.
    if (code === 'EEXIST') return true;
    if (code === 'ENOENT' || code === 'EMLINK') return false;
    throw error;
  }
}

function masking(masks: readonly string[]): Transform {
  const hidden = masks.map(mask => Buffer.from(mask));
  // A secret may begin in one chunk and end in the next one.
  const overlap = Math.max(1, ...hidden.map(({ length }) => length)) - 1;
  let rest = Buffer.alloc(0);
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const bytes = maskedBytes(rest.length === 0 ? chunk : Buffer.concat([rest, chunk]), hidden);
      const end = Math.max(0, bytes.length - overlap);
      rest = Buffer.from(bytes.subarray(end));
      done(null, bytes.subarray(0, end));
    },
    flush(done) {
      done(null, rest);
    },
  });
}

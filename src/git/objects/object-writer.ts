/**
 * Writes git objects without a process: 0.2 ms instead of 2. A loose object is its deflated header and content under a
 * name that is the SHA-1 of both; it appears by rename, so a reader sees it whole or not at all.
 *
 * An object that exists is written again rather than trusted: after a power cut its file may be empty, and the second write
 * repairs it. No fsync, as git's default for loose objects: these objects can be computed again.
 */
import { createHash, randomBytes } from 'node:crypto';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { constants, deflate, deflateSync } from 'node:zlib';
import { encodeCommit, type NewCommit } from './commit.ts';
import { type ObjectId, parseObjectId } from './object-id.ts';

/** Writes loose objects to one repository. @throws Error of the file system. */
export interface ObjectWriter {
  /** Resolves when readers find the object. */
  write(type: 'commit' | 'tree' | 'blob', content: Uint8Array): Promise<ObjectId>;
  writeCommit(commit: NewCommit): Promise<ObjectId>;
}

const deflateElsewhere = promisify(deflate);

/** @param gitDir a bare repository (or a `.git` directory). */
export function createObjectWriter(gitDir: string): ObjectWriter {
  const objects = join(gitDir, 'objects');

  async function write(type: string, content: Uint8Array): Promise<ObjectId> {
    const whole = Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content]);
    const id = parseObjectId(createHash('sha1').update(whole).digest('hex'));
    const packed = await compress(whole);
    const folder = join(objects, id.slice(0, 2));
    // `tmp_obj_` is the prefix git's own garbage collection recognises.
    const temporary = join(objects, `tmp_obj_${randomBytes(8).toString('hex')}`);
    try {
      await writeFile(temporary, packed, { mode: 0o444, flag: 'wx' });
      await renameInto(temporary, folder, id.slice(2));
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
    return id;
  }

  return { write, writeCommit: commit => write('commit', encodeCommit(commit)) };
}

/** Small contents (all commits) are deflated here, which is faster than waking a thread: 0.07 ms against 0.5. */
const SMALL = 16 * 1024;

async function compress(content: Buffer): Promise<Buffer> {
  const options = { level: constants.Z_BEST_SPEED };
  return content.length <= SMALL ? deflateSync(content, options) : deflateElsewhere(content, options);
}

/** The fan-out directory mostly exists: made only when the rename says it does not. */
async function renameInto(temporary: string, folder: string, name: string): Promise<void> {
  try {
    await rename(temporary, join(folder, name));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    await mkdir(folder, { recursive: true });
    await rename(temporary, join(folder, name));
  }
}

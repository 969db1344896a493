/**
 * Writes git objects without a process: 0.2 ms instead of 2. A loose object is its deflated header and content under a
 * name that is the SHA-1 of both; it appears by rename, so a reader sees it whole or not at all.
 *
 * An object that exists is written again rather than trusted: after a power cut its file may be empty, and the second write
 * repairs it. No fsync, as git's default for loose objects: these objects can be computed again.
 */
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { constants, deflate as deflateInThread, deflateSync } from 'node:zlib';
import { encodeCommit, type NewCommit } from './commit.ts';
import { type ObjectId, parseObjectId } from './object-id.ts';

/** What is written here; tags are not. */
export type ObjectKind = 'commit' | 'tree' | 'blob';

/** Writes loose objects to one repository. @throws Error of the file system. */
export interface ObjectWriter {
  /** Resolves when readers find the object. */
  write(type: ObjectKind, content: Uint8Array): Promise<ObjectId>;
  writeCommit(commit: NewCommit): Promise<ObjectId>;
}

/** @param gitDir a bare repository (or a `.git` directory). @param wrote called for each object that is stored. */
export function createObjectWriter(
  gitDir: string,
  wrote: (id: ObjectId, type: ObjectKind, content: Buffer) => Promise<void> = async () => {},
): ObjectWriter {
  const objects = join(gitDir, 'objects');

  async function write(type: ObjectKind, content: Uint8Array): Promise<ObjectId> {
    const whole = Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content]);
    const id = parseObjectId(createHash('sha1').update(whole).digest('hex'));
    const folder = join(objects, id.slice(0, 2));
    // `tmp_obj_` is the prefix git's own garbage collection recognises.
    const temporary = join(objects, `tmp_obj_${randomBytes(8).toString('hex')}`);
    const place = { temporary, folder, name: id.slice(2) };
    if (whole.length <= SMALL) storeSmall(place, whole);
    else await storeLarge(place, whole);
    await wrote(id, type, whole.subarray(whole.length - content.length));
    return id;
  }

  return { write, writeCommit: commit => write('commit', encodeCommit(commit)) };
}

/** Bytes. Small contents, all commits among them, are stored in one go: 0.1 ms, against five ways to a thread and back. */
const SMALL = 16 * 1024;
const DEFLATE = { level: constants.Z_BEST_SPEED };
const NEW_FILE = { mode: 0o444, flag: 'wx' } as const;
const deflate = promisify(deflateInThread);

interface ObjectPlace {
  readonly temporary: string;
  readonly folder: string;
  /** In the folder. */
  readonly name: string;
}

function storeSmall({ temporary, folder, name }: ObjectPlace, content: Buffer): void {
  try {
    writeFileSync(temporary, deflateSync(content, DEFLATE), NEW_FILE);
    try {
      renameSync(temporary, join(folder, name));
    } catch (error) {
      if (!isAbsence(error)) throw error;
      mkdirSync(folder, { recursive: true });
      renameSync(temporary, join(folder, name));
    }
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

async function storeLarge({ temporary, folder, name }: ObjectPlace, content: Buffer): Promise<void> {
  try {
    await writeFile(temporary, await deflate(content, DEFLATE), NEW_FILE);
    await mkdir(folder, { recursive: true });
    await rename(temporary, join(folder, name));
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** The fan-out directory mostly exists: made only when the rename says it does not. */
function isAbsence(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

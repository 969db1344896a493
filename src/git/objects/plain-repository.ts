/**
 * What a repository of ours has as files of their own, read without a process of git: the objects of small fetches, merges and notes,
 * and refs that were moved since they were packed. In a repository without packs that is all there is.
 *
 * All else is for git: packs, tags, large objects, refs that lead to refs, and every file that does not hold what its name says.
 */
import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type LooseObject, readLooseObject } from './loose-object.ts';
import { isObjectId, type ObjectId } from './object-id.ts';
import { isRefName } from './ref-name.ts';

/** `for-git`: only git can say. */
export interface PlainRepository {
  object(id: ObjectId): LooseObject | 'missing' | 'for-git';
  /** What a ref names; of a name that is none git says what it means. */
  tip(ref: string): ObjectId | 'missing' | 'for-git';
}

/** Bytes of content: 0.2 ms, in which nothing else goes on. */
const MOST = 64 * 1024;

/** @param gitDir of a bare repository, with refs as files. */
export function createPlainRepository(gitDir: string): PlainRepository {
  const objects = join(gitDir, 'objects');

  /** To be asked after a file was not found: git makes a pack before it removes what is in it. */
  function hasOnlyFiles(): boolean {
    return !existsSync(join(objects, 'info/alternates')) && namesIn(join(objects, 'pack')).length === 0;
  }

  function object(id: ObjectId): LooseObject | 'missing' | 'for-git' {
    const found = readLooseObject(gitDir, id, MOST);
    if (found !== undefined) return found;
    const file = join(objects, id.slice(0, 2), id.slice(2));
    const isThere = lstatSync(file, { throwIfNoEntry: false }) !== undefined;
    return isThere || !hasOnlyFiles() ? 'for-git' : 'missing';
  }

  return {
    object,
    tip(ref) {
      if (!isRefName(ref)) return 'for-git';
      const text = textOf(join(gitDir, ref));
      // git packs a ref before it removes the file.
      if (text === undefined) return existsSync(join(gitDir, 'packed-refs')) ? 'for-git' : 'missing';
      return isObjectId(text) ? text : 'for-git';
    },
  };
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  }
}

/** Undefined: there is none. Empty: it is not to be read here. */
function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'latin1').trimEnd();
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    if (hasCode(error, 'EISDIR', 'ENOTDIR', 'ENAMETOOLONG')) return '';
    throw error;
  }
}

function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}

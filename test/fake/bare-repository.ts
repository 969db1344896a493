/**
 * Bare repositories as files: what is read or made here needs no process of git. A story asks for a hundred refs, and each process
 * costs more than all of them.
 */
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { listRefs } from './list-refs.ts';

/**
 * An empty one, as `git init --bare` lays it out.
 *
 * @param branch that HEAD names
 * @param settings lines that follow in its configuration file
 */
export async function makeBareRepository(dir: string, branch: string, settings = ''): Promise<void> {
  for (const folder of ['objects/info', 'objects/pack', 'refs/heads', 'refs/tags'])
    await mkdir(path.join(dir, folder), { recursive: true });
  await writeFile(path.join(dir, 'HEAD'), `ref: refs/heads/${branch}\n`);
  const core = '[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n';
  // As at a code host, no push collects garbage.
  const quiet = '[gc]\n\tauto = 0\n[receive]\n\tautogc = false\n';
  await writeFile(path.join(dir, 'config'), `${core}${quiet}${settings}`);
}

/** @param ref full name. @returns the object's id; undefined: there is no such ref */
export async function readRef(dir: string, ref: string): Promise<string | undefined> {
  return (await readLoose(dir, ref)) ?? (await readPacked(dir)).get(ref);
}

/**
 * Moves the ref as git does, by a lock beside it.
 *
 * @param to null: removes it
 * @param from where it must be; forty zeros: nowhere
 * @returns false: this one is for git, which may know a way (a packed ref, a lock, a folder of that name), or has something to say
 */
export async function writeRef(dir: string, ref: string, to: string | null, from?: string): Promise<boolean> {
  if (!PLAIN_REF.test(ref) || (await readPacked(dir)).size > 0) return false;
  const file = path.join(dir, ref);
  const lock = `${file}.lock`;
  try {
    await mkdir(path.dirname(file), { recursive: true });
    // Of another: it stays.
    await writeFile(lock, to === null ? '' : `${to}\n`, { flag: 'wx' });
  } catch (error) {
    return leftToGit(error);
  }
  try {
    if (from !== undefined && from !== ((await readLoose(dir, ref)) ?? NOWHERE)) return false;
    await (to === null ? rm(file) : rename(lock, file));
    return true;
  } catch (error) {
    return leftToGit(error);
  } finally {
    await rm(lock, { force: true });
  }
}

/** @throws the error, where it is none of the file's name. */
function leftToGit(error: unknown): false {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (['EEXIST', 'ENOENT', 'EISDIR', 'ENOTDIR', 'ENOTEMPTY', 'ERR_FS_EISDIR'].includes(code)) return false;
  throw error;
}

const NOWHERE = '0'.repeat(40);
const PLAIN_REF = /^refs(?!.*(\.\.|\.lock))(\/[A-Za-z0-9]([\w.-]*\w)?)+$/;

/** Full ref name → id (of annotated tags: id of the tag), sorted by name. */
export async function readRefs(dir: string): Promise<ReadonlyMap<string, string>> {
  const listed = listRefs(dir, []);
  if (listed === undefined) throw new Error(`${dir} has a ref that names another`);
  return listed.refs;
}

async function readLoose(dir: string, ref: string): Promise<string | undefined> {
  const text = await readIfThere(path.join(dir, ref));
  return text === '' ? undefined : text.slice(0, 40);
}

async function readPacked(dir: string): Promise<Map<string, string>> {
  const lines = (await readIfThere(path.join(dir, 'packed-refs'))).split('\n');
  return new Map(
    lines.filter(line => /^[0-9a-f]{40} /.test(line)).map(line => [line.slice(41), line.slice(0, 40)]),
  );
}

/** Empty where there is no such file. */
function readIfThere(file: string): Promise<string> {
  return unlessGone(readFile(file, 'utf8'), '');
}

async function unlessGone<T>(reading: Promise<T>, otherwise: T): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (['ENOENT', 'EISDIR', 'ENOTDIR'].includes(code)) return otherwise;
    throw error;
  }
}

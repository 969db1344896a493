/**
 * Reads the refs of a repository on this machine's disk as git keeps them, loose files over `packed-refs`, without a process:
 *
 *     refs/heads/for/master/login     `1f7a…\n`
 *     packed-refs                     `1f7a… refs/heads/master\n`
 *
 * All that is not plain is left to git, which has the last word and the better messages: another ref store, hidden refs, settings of
 * other files, a repository of another user, symbolic or broken refs, thousands of files.
 *
 * The calls are made in place, a tenth of the time of awaited ones: an idle service lists thousands of repositories a minute. Only the
 * first is awaited, so that a disk that does not answer holds up this listing alone; between files the event loop has its turn.
 */
import { type Dirent, readdirSync, readFileSync, type Stats, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { nextTurn, turnIsUsed } from '../../lib/turns.ts';
import { isObjectId, type ObjectId } from '../objects/object-id.ts';
import { isRefName, type RefName } from '../objects/ref-name.ts';
import type { Remote } from '../process/remote.ts';
import { createLooseRefs, type LooseRefs } from './loose-refs.ts';

/** Files that are read one by one; git reads more of them faster than its start takes. */
const MOST_LOOSE = 2_000;
/** Files and folders that are looked through for them. */
const MOST_ENTRIES = 4_000;
/** Bytes that a folder itself takes on its disk, some 20 and more for each name. */
const MOST_FOLDER = 512 * 1024;
/** Bytes of a file of settings. */
const MOST_SETTINGS = 64 * 1024;
/** Bytes, some 8 000 refs. */
const MOST_PACKED = 512 * 1024;

/**
 * @param prefixes only refs that begin with one of these; each begins with `refs/`.
 * @param files of this repository, kept from call to call where it is listed often.
 * @returns undefined: to be asked of git.
 */
export async function readLocalRefs(
  remote: Remote,
  prefixes: readonly string[],
  files: LooseRefs = createLooseRefs(),
): Promise<ReadonlyMap<RefName, ObjectId> | undefined> {
  return (await readLocalRepository(remote, prefixes, files))?.refs;
}

/** The same, and where its objects are. */
export async function readLocalRepository(
  remote: Remote,
  prefixes: readonly string[],
  files: LooseRefs = createLooseRefs(),
): Promise<LocalRepository | undefined> {
  const place = placeOf(remote);
  if (place === undefined || prefixes.length === 0) return undefined;
  if (!prefixes.every(prefix => prefix.startsWith('refs/'))) return undefined;
  try {
    const gitDir = await plainRepository(place);
    return gitDir === undefined ? undefined : { gitDir, refs: await refsIn(gitDir, prefixes, files) };
  } catch (error) {
    if (error instanceof NotPlain || (error instanceof Error && 'code' in error)) return undefined;
    throw error;
  }
}

interface LocalRepository {
  readonly gitDir: string;
  readonly refs: ReadonlyMap<RefName, ObjectId>;
}

/** Something that only git knows how to read. */
class NotPlain extends Error {
  override readonly name = 'NotPlain';
}

function placeOf({ url, environment = {} }: Remote): string | undefined {
  // Settings for this remote may say anything about it.
  if (Object.keys(environment).length > 0) return undefined;
  const place = url.startsWith('file:///') ? url.slice('file://'.length) : url;
  return path.isAbsolute(place) && !place.includes('%') ? place : undefined;
}

/** Where git would find the repository; undefined when it is not a plain one of our own user. */
async function plainRepository(place: string): Promise<string | undefined> {
  await stat(path.dirname(place));
  for (const gitDir of [`${place}/.git`, place, `${place}.git/.git`, `${place}.git`]) {
    const found = statOf(gitDir);
    // A file leads elsewhere.
    if (found?.isFile() === true) return undefined;
    if (found === undefined || statOf(`${gitDir}/HEAD`) === undefined) continue;
    const outside = gitDir.endsWith('/.git') ? statOf(path.dirname(gitDir)) : found;
    const isOwn = found.uid === process.geteuid?.() && outside?.uid === found.uid;
    return isOwn && hasPlainSettings(gitDir) ? gitDir : undefined;
  }
  return undefined;
}

function statOf(place: string): Stats | undefined {
  return statSync(place, { throwIfNoEntry: false });
}

/** Settings by which a repository keeps its refs elsewhere or shows only some of them, and those that lead to other files. */
const NOT_PLAIN = /hiderefs|extensions|refstorage|worktreeconfig|\[\s*include(if)?\b/i;
/** The one file that ours lead to: what the hook needs to know, written by `drivers/git/install-hook.ts`. */
const OWN_INCLUDE = /^[ \t]*\[include\]\s*path = gatehouse\.config[ \t]*$/m;

function hasPlainSettings(gitDir: string): boolean {
  const settings = textOf(`${gitDir}/config`, MOST_SETTINGS);
  if (!OWN_INCLUDE.test(settings)) return !NOT_PLAIN.test(settings);
  const included = textOf(`${gitDir}/gatehouse.config`, MOST_SETTINGS);
  return !NOT_PLAIN.test(settings.replace(OWN_INCLUDE, '') + included);
}

/** Empty: there is no such file. @throws NotPlain when it is larger. */
function textOf(file: string, most: number): string {
  const found = statOf(file);
  if (found === undefined) return '';
  if (found.size > most) throw new NotPlain(`${path.basename(file)} is large`);
  return unlessAbsent(() => readFileSync(file, 'utf8')) ?? '';
}

/** Loose ones first, as git: a ref that is packed meanwhile is found in one of the two. */
async function refsIn(
  gitDir: string,
  prefixes: readonly string[],
  files: LooseRefs,
): Promise<ReadonlyMap<RefName, ObjectId>> {
  const loose = new Map<RefName, ObjectId>();
  const folders = new Set(prefixes.map(prefix => prefix.slice(0, prefix.lastIndexOf('/'))));
  const reading: Reading = { gitDir, prefixes, files, found: loose, entries: 0 };
  for (const folder of folders) await readFolder(reading, folder);
  const refs = readPacked(gitDir, prefixes);
  for (const [ref, commit] of loose) refs.set(ref, commit);
  return refs;
}

interface Reading {
  readonly gitDir: string;
  readonly prefixes: readonly string[];
  readonly files: LooseRefs;
  readonly found: Map<RefName, ObjectId>;
  /** Seen so far. */
  entries: number;
}

async function readFolder(reading: Reading, folder: string): Promise<void> {
  const { prefixes } = reading;
  for (const entry of entriesOf(reading, folder)) {
    const name = `${folder}/${entry.name}`;
    if (entry.isDirectory()) {
      if (prefixes.some(prefix => `${name}/`.startsWith(prefix) || prefix.startsWith(`${name}/`)))
        await readFolder(reading, name);
    } else if (isRefName(name) && isWanted(entry, name, prefixes)) {
      readLoose(reading, name);
      if (turnIsUsed()) await nextTurn();
    }
  }
}

/** In one call, for which the folder must not be huge. */
function entriesOf(reading: Reading, folder: string): readonly Dirent[] {
  const place = `${reading.gitDir}/${folder}`;
  if ((statOf(place)?.size ?? 0) > MOST_FOLDER) throw new NotPlain(`${folder} is large`);
  const entries = unlessAbsent(() => readdirSync(place, { withFileTypes: true })) ?? [];
  reading.entries += entries.length;
  if (reading.entries > MOST_ENTRIES) throw new NotPlain(`more than ${MOST_ENTRIES} files and folders`);
  return entries;
}

function readLoose({ gitDir, files, found }: Reading, name: RefName): void {
  if (found.size >= MOST_LOOSE) throw new NotPlain(`more than ${MOST_LOOSE} files of refs`);
  const commit = files.read(`${gitDir}/${name}`);
  if (commit === 'not-plain') throw new NotPlain(`${name} holds no object id`);
  if (commit !== undefined) found.set(name, commit);
}

/** git omits names that are no UTF-8, and lock files are none of its refs. */
function isWanted(entry: Dirent, name: string, prefixes: readonly string[]): boolean {
  if (entry.isSymbolicLink()) throw new NotPlain(`${name} is a symbolic link`);
  return !name.includes('\ufffd') && prefixes.some(prefix => name.startsWith(prefix));
}

function readPacked(gitDir: string, prefixes: readonly string[]): Map<RefName, ObjectId> {
  const refs = new Map<RefName, ObjectId>();
  const text = textOf(`${gitDir}/packed-refs`, MOST_PACKED);
  for (const line of text.split('\n')) {
    // `# pack-refs with: …`, and after an annotated tag `^` and what it marks.
    if (line === '' || line.startsWith('#') || line.startsWith('^')) continue;
    const [id, name] = [line.slice(0, 40), line.slice(41)];
    if (!isObjectId(id)) throw new NotPlain('packed-refs is of another form');
    const isListed = prefixes.some(prefix => name.startsWith(prefix));
    if (isListed && isRefName(name) && !name.includes('\ufffd')) refs.set(name, id);
  }
  return refs;
}

function unlessAbsent<T>(ask: () => T): T | undefined {
  try {
    return ask();
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR'))
      return undefined;
    throw error;
  }
}

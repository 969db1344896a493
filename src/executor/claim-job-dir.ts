/**
 * Claims a directory for builds that no other executor of this machine uses. Several may be started with the same `job_dir`: each
 * needs its own kept checkouts, Unix users and leftovers, so the first takes the directory itself, the others one below it.
 *
 *     <job_dir>/                    the first executor's
 *     <job_dir>/.executors/2/       the second's, and so on
 *     <…>/.owner-<n>                the owning process: the one in the file with the highest number, while it runs
 *
 * A place whose process is gone is taken over with its contents by the next executor that needs one. Owner files only ever get
 * higher numbers and are created by `link`, which only one of several wins; so two executors that see the same dead owner cannot
 * both succeed it.
 */
import { link, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { randomIds } from '../lib/ids.ts';
import { isRunning, parseProcessIdentity, thisProcess } from './process-identity.ts';

/** The place of one executor, its own until {@link ClaimedJobDir.release} or the end of its process. */
export interface ClaimedJobDir {
  /** The `job_dir` itself or a directory below it. */
  readonly path: string;
  /** Releases the directory for another executor. Its contents stay. */
  release(): Promise<void>;
}

/** More executors on one machine are a mistake. */
const MOST = 1000;

/** @throws Error when there are too many executors. */
export async function claimJobDir(jobDir: string): Promise<ClaimedJobDir> {
  for (let number = 1; number <= MOST; number += 1) {
    const path = number === 1 ? jobDir : join(jobDir, '.executors', String(number));
    // Users of jobs pass through; they cannot list the other directories.
    await mkdir(path, { recursive: true, mode: 0o711 });
    const owner = await claim(path);
    if (owner !== undefined) return { path, release: () => replace(owner, '') };
  }
  throw new Error(`${MOST} executors use ${jobDir}`);
}

/** @returns our owner file; undefined: another executor has the place. */
async function claim(path: string): Promise<string | undefined> {
  const [last = 0] = await generations(path);
  if (last > 0 && (await isTaken(ownerFile(path, last)))) return undefined;
  const own = ownerFile(path, last + 1);
  if (!(await makeOnce(own, JSON.stringify(thisProcess())))) return undefined;
  const [highest = 0, ...older] = await generations(path);
  if (highest !== last + 1) {
    // We were slow: other executors came and went meanwhile, and removed the number we created.
    await rm(own, { force: true });
    return undefined;
  }
  for (const generation of older) await rm(ownerFile(path, generation), { force: true });
  return own;
}

const PREFIX = '.owner-';

function ownerFile(path: string, generation: number): string {
  return join(path, `${PREFIX}${generation}`);
}

/** Highest first. */
async function generations(path: string): Promise<number[]> {
  const names = (await readdir(path)).filter(name => /^\.owner-[1-9]\d*$/.test(name));
  return names.map(name => Number(name.slice(PREFIX.length))).sort((a, b) => b - a);
}

/** A missing file was succeeded by another: the place is taken. An empty one was released. */
async function isTaken(file: string): Promise<boolean> {
  try {
    const identity = parseProcessIdentity(await readFile(file, 'utf8'));
    return identity !== undefined && isRunning(identity);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return true;
    throw error;
  }
}

/** The file appears with its contents, or not at all. */
async function makeOnce(file: string, text: string): Promise<boolean> {
  const draft = `${file}.${randomIds().uuid()}`;
  await writeFile(draft, text);
  try {
    await link(draft, file);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

async function replace(file: string, text: string): Promise<void> {
  const draft = `${file}.${randomIds().uuid()}`;
  await writeFile(draft, text);
  await rename(draft, file);
}

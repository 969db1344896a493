/**
 * A directory for builds that no other executor of this machine uses. Several may be started with the same `job_dir`: each needs
 * kept checkouts, Unix users and leftovers of its own, so the first takes the directory itself, the others one below it.
 *
 *     <job_dir>/                    the first executor's
 *     <job_dir>/.executors/2/       the second's, and so on
 *     <…>/.owner-<n>                which process has it: the one in the file with the highest number, while it runs
 *
 * A place whose process is gone is taken over with what lies in it; until somebody needs it, it stays as it is. Owner files only ever get higher numbers and are made by
 * `link`, which one of several wins; so two that see the same dead owner cannot both follow it.
 */
import { link, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { randomIds } from '../lib/ids.ts';
import { isRunning, parseProcessIdentity, thisProcess } from './process-identity.ts';

export interface ClaimedJobDir {
  readonly path: string;
  /** Lets another executor have it. Its contents stay. */
  release(): Promise<void>;
}

/** More executors than that on one machine are a mistake. */
const MOST = 1000;

/** @throws Error when there is no end of executors. */
export async function claimJobDir(jobDir: string): Promise<ClaimedJobDir> {
  for (let number = 1; number <= MOST; number += 1) {
    const path = number === 1 ? jobDir : join(jobDir, '.executors', String(number));
    // Users of jobs pass through; they cannot list the others.
    await mkdir(path, { recursive: true, mode: 0o711 });
    const owner = await claim(path);
    if (owner !== undefined) return { path, release: () => replace(owner, '') };
  }
  throw new Error(`${MOST} executors use ${jobDir}`);
}

/** @returns our owner file; undefined: somebody else has the place. */
async function claim(path: string): Promise<string | undefined> {
  const [last = 0] = await generations(path);
  if (last > 0 && (await isTaken(ownerFile(path, last)))) return undefined;
  const own = ownerFile(path, last + 1);
  if (!(await makeOnce(own, JSON.stringify(thisProcess())))) return undefined;
  const [highest = 0, ...older] = await generations(path);
  if (highest !== last + 1) {
    // We were slow: others came and went meanwhile, and dropped the number we made.
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

/** A file that is gone was followed by another: somebody is there. An empty one was released. */
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

/** The directory of a bare mirror: how it is made, and removal of files that a killed git left. */
import { chmod, mkdir, mkdtemp, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Others fetch commits from mirrors by id. Mirrors have no work tree and run no hooks. */
const CONFIG = `[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = true
\tlogAllRefUpdates = false
[uploadpack]
\tallowAnySHA1InWant = true
`;

/** Makes the mirror if there is none, whole or not at all, and cleans up an existing one. */
export async function ensureMirror(path: string): Promise<void> {
  if (await modifiedAt(join(path, 'HEAD'))) return removeLeftovers(path);
  await mkdir(dirname(path), { recursive: true });
  const temporary = await mkdtemp(`${path}.new-`);
  // Jobs run as other users and read objects in place; without access each build would copy them.
  await chmod(temporary, 0o711);
  await mkdir(join(temporary, 'objects', 'info'), { recursive: true });
  await mkdir(join(temporary, 'objects', 'pack'), { recursive: true });
  await mkdir(join(temporary, 'refs', 'heads'), { recursive: true });
  await writeFile(join(temporary, 'config'), CONFIG);
  // HEAD names a branch that never exists here: our refs are below refs/tips.
  await writeFile(join(temporary, 'HEAD'), 'ref: refs/heads/none\n');
  try {
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    // Another process made it in the meantime.
    if (!hasCode(error, 'ENOTEMPTY', 'EEXIST')) throw error;
  }
}

/** git holds a lock file for milliseconds; one this old was left by a process that is gone. */
export const ABANDONED_LOCK_MS = 10_000;
/** Parts of a pack are written as long as a fetch may take. */
const ABANDONED_PART_MS = 24 * 3_600_000;

/**
 * Removes lock files, which would stop every later fetch, and parts of packs that a killed git left. Only old ones: another
 * process may be at work here.
 */
export async function removeLeftovers(path: string): Promise<void> {
  for (const place of ['.', 'refs/tips', 'refs/notes']) {
    await removeOld(join(path, place), name => name.endsWith('.lock'), ABANDONED_LOCK_MS);
  }
  for (const place of ['objects', 'objects/pack']) {
    // A `.keep` protects a pack while it is fetched; a stale one would keep the pack from ever being consolidated.
    const isPart = (name: string) => name.startsWith('tmp_') || name.endsWith('.keep');
    await removeOld(join(path, place), isPart, ABANDONED_PART_MS);
  }
}

async function removeOld(
  directory: string,
  isLeftover: (name: string) => boolean,
  age: number,
): Promise<void> {
  if ((await modifiedAt(directory)) === undefined) return;
  for (const name of (await readdir(directory)).filter(isLeftover)) {
    const file = join(directory, name);
    const modified = await modifiedAt(file);
    if (modified !== undefined && modified < Date.now() - age) await rm(file, { force: true });
  }
}

/** Milliseconds since the epoch; undefined when there is no such file. */
async function modifiedAt(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).mtimeMs;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.some(code => code === error.code);
}

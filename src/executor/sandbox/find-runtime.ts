/** Detects what the host offers for a sandbox; the self-test checks whether it isolates. */
import { statSync } from 'node:fs';
import { access, constants, lstat, readlink, stat } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import type { ProcessEnd } from '../spawner/protocol.ts';
import type { Spawner } from '../spawner/spawner.ts';
import type { Runtime } from './bubblewrap-argv.ts';

/** `because` is a clause for the report of the sandbox. */
export type FoundRuntime =
  | { readonly kind: 'found'; readonly runtime: Runtime; readonly version: string }
  | { readonly kind: 'absent'; readonly because: string };

/** @param searchPath where bubblewrap is looked for. @param readOnly host directories jobs may read in addition. */
export async function findRuntime(
  spawner: Spawner,
  searchPath: string,
  readOnly: readonly string[],
): Promise<FoundRuntime> {
  const program = await findProgram('bwrap', searchPath);
  if (program === undefined) return { kind: 'absent', because: 'bubblewrap (bwrap) is not installed' };
  const version = await ask(spawner, [program, '--version']);
  if (version.kind !== 'ended' || version.code !== 0) {
    return { kind: 'absent', because: `${program} --version failed: ${endText(version)}` };
  }
  const help = await ask(spawner, [program, '--help']);
  return {
    kind: 'found',
    version: version.output.replace(/^bubblewrap\s+/, '').trim(),
    runtime: {
      program,
      disableUserns: help.kind === 'ended' && help.output.includes('--disable-userns'),
      topLevel: await topLevel(),
      readOnly,
      prlimit: (await findProgram('prlimit', '/usr/bin:/bin')) ?? null,
    },
  };
}

/** First executable of that name on the path; undefined when there is none. */
export async function findProgram(name: string, searchPath: string): Promise<string | undefined> {
  for (const folder of searchPath.split(delimiter).filter(each => each.startsWith('/'))) {
    const path = join(folder, name);
    if (await can(path, constants.X_OK)) return path;
  }
  return undefined;
}

async function topLevel(): Promise<Runtime['topLevel']> {
  const names = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];
  const found = await Promise.all(
    names.map(async path => {
      if (!(await can(path, constants.F_OK))) return [];
      return [{ path, linkTo: (await lstat(path)).isSymbolicLink() ? await readlink(path) : null }];
    }),
  );
  return found.flat();
}

/**
 * A directory on which the stage can be mounted: existing, and none of `sources` may lie below it (they would be hidden).
 */
export async function stagePoint(sources: readonly string[]): Promise<string | undefined> {
  for (const point of ['/mnt', '/media', '/srv', '/opt']) {
    const hides = sources.some(source => source === point || source.startsWith(`${point}/`));
    if (!hides && (await isDirectory(point))) return point;
  }
  return undefined;
}

/**
 * The first directory from `root` down to `path` that other users cannot pass through; undefined: they reach `path`. Asked for every
 * build: the few system calls take less time than one of them waits for a thread.
 */
export function closedDirectory(path: string, root = '/'): string | undefined {
  const closedAbove = path === root || path === '/' ? undefined : closedDirectory(dirname(path), root);
  if (closedAbove !== undefined) return closedAbove;
  const found = statSync(path, { throwIfNoEntry: false });
  return found?.isDirectory() === true && (found.mode & 0o001) === 0 ? path : undefined;
}

async function isDirectory(path: string): Promise<boolean> {
  return (await can(path, constants.F_OK)) && (await stat(path)).isDirectory();
}

async function can(path: string, mode: number): Promise<boolean> {
  try {
    await access(path, mode);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error) return false;
    throw error;
  }
}

function ask(spawner: Spawner, argv: readonly string[]): Promise<ProcessEnd> {
  return spawner.start({
    argv,
    env: { PATH: '/usr/bin:/bin' },
    cwd: '/',
    user: null,
    output: { kind: 'capture', limit: 65_536 },
    timeoutMs: 10_000,
    graceMs: 1_000,
    reach: { kind: 'group' },
  }).ended;
}

/** How a helper process ended, as one line. */
export function endText(end: ProcessEnd): string {
  if (end.kind !== 'ended') return end.reason;
  const lastLines = end.output.trim().split('\n').slice(-3).join('; ');
  const how = end.because === 'timeout' ? 'timed out' : `ended with ${end.signal ?? `status ${end.code}`}`;
  return lastLines === '' ? how : `${how}: ${lastLines}`;
}

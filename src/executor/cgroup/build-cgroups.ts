/**
 * A control group of version 2 for each build, where this system lets us make any: its memory, its processes and its share of the
 * processors are bounded as a whole, whatever it forks.
 *
 *     <parent>/gatehouse-<executor>-<build>     memory.max, memory.swap.max, pids.max, cpu.weight
 *
 * `parent` is our own group where it was delegated to us (systemd's `Delegate=yes`), else, for root, the top of the hierarchy.
 * Reading and writing files is all there is to it; a refusal of any kind means no groups, and says why.
 */
import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pause } from '../../lib/pause.ts';

export interface CgroupLimits {
  /** Bytes; null: no limit. */
  readonly memory: number | null;
  /** Processes and threads. */
  readonly processes: number;
}

export interface CgroupPlace {
  /** Where groups are made. */
  readonly parent: string;
  /** The group the service is in afterwards. */
  readonly home: string;
  readonly controllers: ReadonlySet<string>;
}

/** What the kernel had to do to a build. */
export interface CgroupEvents {
  /** Processes killed because the build reached its limit of memory. */
  readonly outOfMemory: number;
  /** Forks refused because it reached its limit of processes. */
  readonly refusedForks: number;
}

export interface BuildCgroup {
  readonly path: string;
  readonly home: string;
  events(): Promise<CgroupEvents>;
  /** Kills what is in it, and removes it. @returns false: it is still there. */
  remove(): Promise<boolean>;
}

/** Against 100 of everything else. */
const CPU_WEIGHT = '50';
const ROUNDS = 100;
const ROUND_MS = 20;

/** @param executor tells its groups from those of other executors of the machine. @throws Error of the file system. */
export async function makeBuildCgroup(
  { parent, home, controllers }: CgroupPlace,
  executor: string,
  build: string,
  limits: CgroupLimits,
): Promise<BuildCgroup> {
  const path = join(parent, `${prefixOf(executor)}${build}`);
  await mkdir(path);
  const set = (file: string, value: string | number) => writeFile(join(path, file), `${value}`);
  if (controllers.has('memory') && limits.memory !== null) {
    await set('memory.max', limits.memory);
    // A kernel without swap has no such file.
    await ignoring(['ENOENT', 'EACCES'], () => set('memory.swap.max', 0));
  }
  if (controllers.has('pids')) await set('pids.max', limits.processes);
  if (controllers.has('cpu')) await set('cpu.weight', CPU_WEIGHT);
  return {
    path,
    home,
    events: async () => ({
      outOfMemory: await counter(join(path, 'memory.events'), 'oom_kill'),
      refusedForks: await counter(join(path, 'pids.events'), 'max'),
    }),
    remove: () => removeCgroup(path),
  };
}

/** Those an earlier run of this executor left. */
export async function removeLeftCgroups(parent: string, executor: string): Promise<void> {
  const names = (await readdir(parent)).filter(name => name.startsWith(prefixOf(executor)));
  for (const name of names) await removeCgroup(join(parent, name));
}

function prefixOf(executor: string): string {
  return `gatehouse-${executor}-`;
}

async function removeCgroup(path: string): Promise<boolean> {
  // Linux 5.14; before that what a build leaves is killed as anywhere else.
  await ignoring(['ENOENT', 'EACCES'], () => writeFile(join(path, 'cgroup.kill'), '1'));
  for (let round = 0; round < ROUNDS; round += 1) {
    const gone = await ignoring(['EBUSY', 'ENOTEMPTY'], async () => {
      await ignoring(['ENOENT'], () => rmdir(path));
      return true;
    });
    if (gone === true) return true;
    // The killed take a moment to go, and there is no event for it.
    await pause(ROUND_MS, new AbortController().signal);
  }
  return false;
}

async function counter(file: string, name: string): Promise<number> {
  const text = await ignoring(['ENOENT'], () => readFile(file, 'latin1'));
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text ?? '')?.[1] ?? 0);
}

/** @returns undefined for an expected failure of the file system. */
async function ignoring<T>(codes: readonly string[], work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Error && 'code' in error && codes.includes(String(error.code))) return undefined;
    throw error;
  }
}

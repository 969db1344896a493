/**
 * Control groups for each build, where this system lets us create any: they limit the build's memory, processes and share of the
 * processors as a whole, however many processes it forks.
 *
 *     <parent>/gatehouse-<executor>-<id>     version 2: one group. Version 1: one in the hierarchy of each controller
 *
 * `find-place.ts` determines `parent`, `limit-files.ts` the files of a group. All of it is reading and writing files; any refusal
 * means no groups, with the reason. Limits are set and counters read in place: no such file waits for a disk, and a thread of its own
 * costs more than the call. Making and removing groups, and killing what is in them, may have to wait for the kernel.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pause } from '../../lib/pause.ts';
import type { ChildCgroup, MemoryLimit } from '../spawner/cgroup-of-child.ts';
import {
  type CgroupLimits,
  type CgroupVersion,
  type Controller,
  type EventCounter,
  LIMIT_FILES,
  OOM_KILLS,
  REFUSED_FORKS,
} from './limit-files.ts';

/** A place where groups for builds can be made, found once at start: one for version 2, one per controller for version 1. */
export interface CgroupHierarchy {
  readonly version: CgroupVersion;
  /** Where groups are created. */
  readonly parent: string;
  /** The group the service is in afterwards. */
  readonly home: string;
  readonly controllers: ReadonlySet<Controller>;
}

/** What the kernel did to a build at its limits. */
interface CgroupEvents {
  /** Processes killed because the build reached its memory limit. */
  readonly outOfMemory: number;
  /** Forks refused because it reached its process limit. */
  readonly refusedForks: number;
}

/** The groups of one playbook of a build, made before and removed when it has ended. */
export interface BuildCgroup {
  /** One for each hierarchy. */
  readonly groups: readonly ChildCgroup[];
  /** Counted by the kernel since the groups were made. */
  events(): CgroupEvents;
  /** Kills its processes and removes it. @returns the directories that could not be removed. */
  remove(): Promise<readonly string[]>;
}

const ROUNDS = 100;
const ROUND_MS = 20;

/** @param executor distinguishes its groups from those of other executors on the machine. @throws Error of the file system. */
export async function makeBuildCgroup(
  hierarchies: readonly CgroupHierarchy[],
  executor: string,
  id: string,
  limits: CgroupLimits,
): Promise<BuildCgroup> {
  const groups: (ChildCgroup & Pick<CgroupHierarchy, 'version'>)[] = [];
  for (const { version, parent, home, controllers } of hierarchies) {
    const path = join(parent, `${prefixOf(executor)}${id}`);
    await mkdir(path);
    const memoryLimits = controllers.has('memory') ? memoryLimitsOf(version, limits) : [];
    groups.push({ version, path, home, memoryLimits });
    for (const controller of controllers)
      if (controller !== 'memory') bound(path, version, controller, limits);
  }
  const sum = (counterOf: (version: CgroupVersion) => EventCounter) =>
    groups.reduce((all, { path, version }) => all + counter(path, counterOf(version)), 0);
  return {
    groups: groups.map(({ version: _, ...group }) => group),
    events: () => ({
      outOfMemory: sum(version => OOM_KILLS[version]),
      refusedForks: sum(() => REFUSED_FORKS),
    }),
    async remove() {
      const gone = await Promise.all(groups.map(({ path, version }) => removeCgroup(path, version)));
      return groups.filter((_, at) => gone[at] !== true).map(({ path }) => path);
    },
  };
}

/** Set by the spawner once the build is there: see cgroup-of-child.ts. */
function memoryLimitsOf(version: CgroupVersion, limits: CgroupLimits): readonly MemoryLimit[] {
  return LIMIT_FILES[version].memory.flatMap(({ file, value, optional = false }) => {
    const wanted = value(limits);
    return wanted === null ? [] : [{ file, value: wanted, optional }];
  });
}

function bound(
  path: string,
  version: CgroupVersion,
  controller: Exclude<Controller, 'memory'>,
  limits: CgroupLimits,
): void {
  for (const { file, value } of LIMIT_FILES[version][controller]) {
    const wanted = value(limits);
    if (wanted !== null) writeFileSync(join(path, file), `${wanted}`);
  }
}

/** Removes groups that an earlier run of this executor left behind. */
export async function removeLeftCgroups(
  { parent, version }: Pick<CgroupHierarchy, 'parent' | 'version'>,
  executor: string,
): Promise<void> {
  const names = (await readdir(parent)).filter(name => name.startsWith(prefixOf(executor)));
  for (const name of names) await removeCgroup(join(parent, name), version);
}

function prefixOf(executor: string): string {
  return `gatehouse-${executor}-`;
}

async function removeCgroup(path: string, version: CgroupVersion): Promise<boolean> {
  // Since Linux 5.14; elsewhere one by one.
  if (version === 2)
    await ignoring(['ENOENT', 'EACCES', 'EPERM'], () => writeFile(join(path, 'cgroup.kill'), '1'));
  for (let round = 0; round < ROUNDS; round += 1) {
    const gone = await ignoring(['EBUSY', 'ENOTEMPTY'], async () => {
      await ignoring(['ENOENT'], () => rmdir(path));
      return true;
    });
    if (gone === true) return true;
    await killAllIn(path);
    // Killed processes take a moment to go, and there is no event for it.
    await pause(ROUND_MS, new AbortController().signal);
  }
  return false;
}

async function killAllIn(path: string): Promise<void> {
  const text =
    (await ignoring(['ENOENT', 'ENODEV'], () => readFile(join(path, 'cgroup.procs'), 'latin1'))) ?? '';
  for (const pid of text
    .split('\n')
    .map(Number)
    .filter(each => each > 1 && each !== process.pid))
    await ignoring(['ESRCH', 'EPERM'], async () => process.kill(pid, 'SIGKILL'));
}

function counter(path: string, { file, line }: EventCounter): number {
  try {
    const text = readFileSync(join(path, file), 'latin1');
    return Number(new RegExp(`^${line} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
  } catch (error) {
    // The group, or this kernel's counter, is not there.
    if (isOneOf(error, ['ENOENT'])) return 0;
    throw error;
  }
}

/** @returns undefined for an expected failure of the file system. */
async function ignoring<T>(codes: readonly string[], work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (isOneOf(error, codes)) return undefined;
    throw error;
  }
}

function isOneOf(error: unknown, codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}

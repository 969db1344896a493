/**
 * Where this process may create control groups for builds, determined by creating one. See `build-cgroups.ts`.
 *
 * Version 2 where it has the controllers memory and pids: our own group if it was delegated to us, else, for root, the top of the
 * hierarchy. A group whose subgroups have limits may hold no processes itself. So where our own group was delegated to us, we
 * first move into a subgroup, and only if it holds no other processes.
 *
 * Else version 1, with a hierarchy for each controller: below our own group in each, which may hold processes as well.
 */
import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CgroupHierarchy } from './build-cgroups.ts';
import type { Controller } from './limit-files.ts';

/** What this process sees of the control groups of the machine, as read from `/proc`. */
export interface CgroupSystem {
  /** `/proc/self/mountinfo` and `/proc/self/cgroup`. */
  readonly mounts: string;
  readonly own: string;
  /** Of the service and of the process that starts jobs. */
  readonly pids: readonly number[];
  readonly isRoot: boolean;
}

/** All hierarchies that can be used; a controller may be missing. */
export interface FoundPlaces {
  /** Empty: no build gets a group. */
  readonly hierarchies: readonly CgroupHierarchy[];
  /** Why some controllers are in none of them; empty: none is missing. */
  readonly because: string;
}

const WANTED: readonly Controller[] = ['memory', 'pids', 'cpu'];
const SERVICE = 'gatehouse-service';

/** Tries out by making groups, and may move the service into a subgroup. Refusals are reasons, not errors. */
export async function findCgroupPlaces(system: CgroupSystem): Promise<FoundPlaces> {
  const unified = await findUnified(system);
  if (typeof unified !== 'string') {
    const lacking = WANTED.filter(name => !unified.controllers.has(name));
    return {
      hierarchies: [unified],
      because: lacking.length === 0 ? '' : `${unified.parent} has no controller ${lacking.join(', ')}`,
    };
  }
  const hierarchies: CgroupHierarchy[] = [];
  const reasons: string[] = [unified];
  for (const controller of WANTED) {
    const found = await findLegacy(system, controller);
    if (typeof found === 'string') reasons.push(found);
    else hierarchies.push(found);
  }
  return {
    hierarchies,
    because: hierarchies.length === WANTED.length ? '' : [...new Set(reasons)].join('; '),
  };
}

/** @returns the reason when there is no place for groups of version 2. */
async function findUnified(system: CgroupSystem): Promise<CgroupHierarchy | string> {
  // id, parent, device, root of the mount, place, options, more options, then the type.
  const mount = /^\S+ \S+ \S+ \/ (\S+) .*? - cgroup2 /m.exec(system.mounts)?.[1];
  const path = /^0::(\/.*)$/m.exec(system.own)?.[1];
  if (mount === undefined || path === undefined) return 'this system has no cgroup v2';
  const own = join(mount, path);
  const isTop = own === mount || own === `${mount}/`;
  const reasons: string[] = [];
  for (const parent of [...(isTop ? [] : [own]), ...(system.isRoot ? [mount] : [])]) {
    const tried = await refusable(() => tryUnified(parent, own, system.pids, parent !== mount));
    if (typeof tried !== 'string') return tried;
    reasons.push(`${parent}: ${tried}`);
  }
  return reasons.join('; ') || 'no group was delegated to this service (systemd: Delegate=yes)';
}

async function tryUnified(
  parent: string,
  own: string,
  pids: readonly number[],
  leaves: boolean,
): Promise<CgroupHierarchy | string> {
  const offered = (await readFile(join(parent, 'cgroup.controllers'), 'latin1')).trim().split(/\s+/);
  const controllers = new Set(WANTED.filter(name => offered.includes(name)));
  if (!controllers.has('memory') || !controllers.has('pids'))
    return 'the controllers memory and pids are not available there';
  const home = leaves ? await stepAside(parent, pids) : own;
  if (home === undefined) return 'it holds processes of others';
  await writeFile(join(parent, 'cgroup.subtree_control'), [...controllers].map(name => `+${name}`).join(' '));
  await probe(parent);
  return { version: 2, parent, home, controllers };
}

/** @returns the group we are in now; undefined: other processes are in ours. */
async function stepAside(parent: string, pids: readonly number[]): Promise<string | undefined> {
  const inside = (await readFile(join(parent, 'cgroup.procs'), 'latin1'))
    .split('\n')
    .filter(line => line !== '');
  if (inside.some(pid => !pids.includes(Number(pid)))) return undefined;
  const home = join(parent, SERVICE);
  await mkdir(home, { recursive: true });
  for (const pid of inside) await writeFile(join(home, 'cgroup.procs'), pid);
  return home;
}

/** @returns the reason when there is no place for groups with this controller. */
async function findLegacy(
  { mounts, own }: CgroupSystem,
  controller: Controller,
): Promise<CgroupHierarchy | string> {
  const [, root = '', mount] =
    new RegExp(`^\\S+ \\S+ \\S+ (\\S+) (\\S+) .*? - cgroup \\S+ (?:\\S*,)?${controller}(?:,|$)`, 'm').exec(
      mounts,
    ) ?? [];
  const path = new RegExp(`^\\d+:(?:[^:]*,)?${controller}(?:,[^:]*)?:(/.*)$`, 'm').exec(own)?.[1];
  if (mount === undefined || path === undefined) return `there is no cgroup v1 for ${controller}`;
  // In a container the mount shows only our part of the hierarchy, and may hide its position.
  const home = join(mount, root !== '/' && path.startsWith(root) ? path.slice(root.length) : path);
  const refused = await refusable(async () => {
    await probe(home);
  });
  return typeof refused === 'string'
    ? `${home}: ${refused}`
    : { version: 1, parent: home, home, controllers: new Set([controller]) };
}

async function probe(parent: string): Promise<void> {
  const path = join(parent, `gatehouse-probe-${process.pid}`);
  await mkdir(path);
  await rmdir(path);
}

/** @returns the file system's error message. */
async function refusable<T>(work: () => Promise<T>): Promise<T | string> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Error && 'code' in error) return error.message;
    throw error;
  }
}

/**
 * Where this process may make control groups of version 2 for builds, found out by making one. See `build-cgroups.ts`.
 *
 * A group that has groups with limits below it may hold no processes itself. So where our own group was delegated to us, we go into one
 * below it first; that is done only if no process of anybody else is in it.
 */
import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CgroupPlace } from './build-cgroups.ts';

export interface CgroupSystem {
  /** `/proc/self/mountinfo` and `/proc/self/cgroup`. */
  readonly mounts: string;
  readonly own: string;
  /** Of the service and of the process that starts jobs. */
  readonly pids: readonly number[];
  readonly isRoot: boolean;
}

export type FoundPlace =
  | (CgroupPlace & { readonly kind: 'found' })
  | { readonly kind: 'none'; readonly because: string };

const WANTED = ['memory', 'pids', 'cpu'];
const SERVICE = 'gatehouse-service';

export async function findCgroupPlace(system: CgroupSystem): Promise<FoundPlace> {
  // id, parent, device, root of the mount, place, options, more options, then what kind it is.
  const mount = /^\S+ \S+ \S+ \/ (\S+) .*? - cgroup2 /m.exec(system.mounts)?.[1];
  const path = /^0::(\/.*)$/m.exec(system.own)?.[1];
  if (mount === undefined || path === undefined) return none('this system has no cgroup v2');
  const own = join(mount, path);
  const isTop = own === mount || own === `${mount}/`;
  const reasons: string[] = [];
  for (const parent of [...(isTop ? [] : [own]), ...(system.isRoot ? [mount] : [])]) {
    const tried = await tryPlace(parent, own, system.pids, parent !== mount);
    if (tried.kind === 'found') return tried;
    reasons.push(`${parent}: ${tried.because}`);
  }
  return none(reasons.join('; ') || 'no group was delegated to this service (systemd: Delegate=yes)');
}

async function tryPlace(
  parent: string,
  own: string,
  pids: readonly number[],
  leaves: boolean,
): Promise<FoundPlace> {
  try {
    const offered = (await readFile(join(parent, 'cgroup.controllers'), 'latin1')).trim().split(/\s+/);
    const controllers = new Set(WANTED.filter(name => offered.includes(name)));
    if (!controllers.has('memory') || !controllers.has('pids'))
      return none('the controllers memory and pids are not available there');
    const home = leaves ? await stepAside(parent, pids) : own;
    if (home === undefined) return none('it holds processes of others');
    await writeFile(
      join(parent, 'cgroup.subtree_control'),
      [...controllers].map(name => `+${name}`).join(' '),
    );
    const probe = join(parent, `gatehouse-probe-${process.pid}`);
    await mkdir(probe);
    await rmdir(probe);
    return { kind: 'found', parent, home, controllers };
  } catch (error) {
    if (error instanceof Error && 'code' in error) return none(error.message);
    throw error;
  }
}

/** @returns the group we are in now; undefined: others are in ours. */
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

function none(because: string): FoundPlace {
  return { kind: 'none', because };
}

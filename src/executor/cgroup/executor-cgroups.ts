/** The control groups of an executor: located once at its start, created per build; none where the system allows none. */
import { readFile } from 'node:fs/promises';
import { randomIds, sha256 } from '../../lib/ids.ts';
import { type BuildCgroup, makeBuildCgroup, removeLeftCgroups } from './build-cgroups.ts';
import { findCgroupPlaces } from './find-place.ts';
import type { CgroupLimits, CgroupVersion, Controller } from './limit-files.ts';

/** Open for as long as the executor runs; groups a killed predecessor left are removed when it opens. */
export interface ExecutorCgroups {
  /** The version of the groups with this controller; undefined: none that we may use. */
  versionFor(controller: Controller): CgroupVersion | undefined;
  /** Why some controllers are missing; empty: none is. */
  readonly because: string;
  /** For the next playbook. Null: there are no groups here. @throws Error of the file system. */
  make(): Promise<BuildCgroup | null>;
}

/** @param pids of the service and of the process that starts jobs. */
export async function openExecutorCgroups(
  jobDir: string,
  pids: readonly number[],
  limits: CgroupLimits,
): Promise<ExecutorCgroups> {
  const { hierarchies, because } = await findCgroupPlaces({
    mounts: await proc('/proc/self/mountinfo'),
    own: await proc('/proc/self/cgroup'),
    pids,
    isRoot: process.geteuid?.() === 0,
  });
  const ids = randomIds();
  const executor = sha256(jobDir).slice(0, 12);
  for (const hierarchy of hierarchies) await removeLeftCgroups(hierarchy, executor);
  return {
    because,
    versionFor: controller => hierarchies.find(({ controllers }) => controllers.has(controller))?.version,
    make: async () =>
      hierarchies.length === 0 ? null : makeBuildCgroup(hierarchies, executor, ids.uuid(), limits),
  };
}

async function proc(path: string): Promise<string> {
  try {
    return await readFile(path, 'latin1');
  } catch (error) {
    if (error instanceof Error && 'code' in error) return '';
    throw error;
  }
}

/** The control groups of an executor: found once at its start, one for each build, none where the system has none for us. */
import { readFile } from 'node:fs/promises';
import { sha256 } from '../../lib/ids.ts';
import { type BuildCgroup, type CgroupLimits, makeBuildCgroup, removeLeftCgroups } from './build-cgroups.ts';
import { findCgroupPlace } from './find-place.ts';

export interface ExecutorCgroups {
  /** One line for people: what is limited, or why nothing is. */
  readonly report: string;
  /** Null: there are none here. @throws Error of the file system. */
  forBuild(build: string): Promise<BuildCgroup | null>;
}

/** @param pids the service's, and that of the process which starts jobs. */
export async function openExecutorCgroups(
  jobDir: string,
  pids: readonly number[],
  limits: CgroupLimits,
): Promise<ExecutorCgroups> {
  const place = await findCgroupPlace({
    mounts: await proc('/proc/self/mountinfo'),
    own: await proc('/proc/self/cgroup'),
    pids,
    isRoot: process.geteuid?.() === 0,
  });
  if (place.kind === 'none')
    return {
      report: `memory of a build NOT limited (${place.because})`,
      forBuild: () => Promise.resolve(null),
    };
  const executor = sha256(jobDir).slice(0, 12);
  await removeLeftCgroups(place.parent, executor);
  const memory = limits.memory === null ? 'without limit' : `${limits.memory} bytes`;
  return {
    report: `cgroup v2 per build below ${place.parent}: memory ${memory}, ${limits.processes} processes`,
    forBuild: build => makeBuildCgroup(place, executor, build, limits),
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

/** The limits and isolation the jobs of this executor run under: as detected at its start and as configured. */
import type { Wall } from '../model/wall.ts';
import type { ExecutorCgroups } from './cgroup/executor-cgroups.ts';
import type { CgroupLimits, Controller } from './cgroup/limit-files.ts';
import type { Sandbox } from './sandbox/sandbox.ts';

/** What the executor detected at its start, and its limits. */
export interface WallFacts {
  readonly sandbox: Pick<Sandbox, 'walls' | 'limitsProcesses'>;
  readonly cgroups: Pick<ExecutorCgroups, 'versionFor' | 'because'>;
  readonly limits: CgroupLimits;
  /** Of one build, measured; null: no limit. */
  readonly diskBytes: number | null;
  /** Of one build, counted; null: no limit. */
  readonly files: number | null;
  /** Between two measurements. */
  readonly seconds: number;
  /** Null: jobs are killed first. */
  readonly oomScoreProblem: string | null;
}

/** @returns one entry per wall, also for those that are off or missing, each with its reason. */
export function wallsOf(facts: WallFacts): readonly Wall[] {
  return [
    ...facts.sandbox.walls,
    memory(facts),
    processes(facts),
    grouped(facts, 'cpu', 'cpu', () => 'half the share of other services'),
    oom(facts),
    measured('disk', facts.diskBytes, 'bytes', 'disk_limit_per_job', facts.seconds),
    measured('files', facts.files, 'files', 'files_limit_per_job', facts.seconds),
  ];
}

function memory(facts: WallFacts): Wall {
  const { memory: limit } = facts.limits;
  if (limit === null) return { name: 'memory', state: 'off', text: 'memory_limit_per_job is not set' };
  return grouped(facts, 'memory', 'memory', () => `${limit} bytes per build`);
}

function processes(facts: WallFacts): Wall {
  const { processes: limit } = facts.limits;
  const wall = grouped(facts, 'processes', 'pids', () => `${limit} per build`);
  if (wall.state === 'stands' || !facts.sandbox.limitsProcesses) return wall;
  return { name: 'processes', state: 'stands', text: `${limit} per script, rlimit` };
}

function grouped(
  { cgroups }: WallFacts,
  name: Wall['name'],
  controller: Controller,
  text: () => string,
): Wall {
  const version = cgroups.versionFor(controller);
  return version === undefined
    ? { name, state: 'missing', text: cgroups.because }
    : { name, state: 'stands', text: `${text()}, cgroup v${version}` };
}

function oom({ oomScoreProblem }: WallFacts): Wall {
  return oomScoreProblem === null
    ? { name: 'oom', state: 'stands', text: 'jobs are killed before the service when memory runs out' }
    : { name: 'oom', state: 'missing', text: oomScoreProblem };
}

function measured(
  name: Wall['name'],
  limit: number | null,
  unit: string,
  setting: string,
  seconds: number,
): Wall {
  if (limit === null) return { name, state: 'off', text: `${setting} is -1` };
  return { name, state: 'stands', text: `${limit} ${unit} per build, measured every ${seconds} s` };
}

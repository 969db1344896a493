/** The files of control groups that hold a limit, and those that count what the kernel did at it, by version of the hierarchy. */

/** Of a hierarchy: the kernel may offer both versions at once, each for other controllers. */
export type CgroupVersion = 1 | 2;

/** As the kernel names them; `cpu` sets the build's share, not a limit. */
export type Controller = 'memory' | 'pids' | 'cpu';

/** What one build may have, all its processes together. */
export interface CgroupLimits {
  /** Bytes; null: no limit. */
  readonly memory: number | null;
  /** Processes and threads. */
  readonly processes: number;
}

/** A file of a group, written when the group is made; those of `memory` by the spawner, after the start of the build. */
export interface LimitFile {
  readonly file: string;
  /** Null: nothing is written. */
  readonly value: (limits: CgroupLimits) => number | null;
  /** Absent on kernels without swap, or without swap accounting. */
  readonly optional?: true;
}

/** A number the kernel counts in a file of a group, from 0. */
export interface EventCounter {
  readonly file: string;
  /** First word of the line with the number. */
  readonly line: string;
}

/** Share of the processors relative to everything else: half. */
const CPU_WEIGHT = 50;
const CPU_SHARES = 512;

/** In the order in which they are written: version 1 refuses a limit of memory and swap below that of memory. */
export const LIMIT_FILES: Readonly<
  Record<CgroupVersion, Readonly<Record<Controller, readonly LimitFile[]>>>
> = {
  2: {
    memory: [
      { file: 'memory.max', value: ({ memory }) => memory },
      { file: 'memory.swap.max', value: ({ memory }) => (memory === null ? null : 0), optional: true },
    ],
    pids: [{ file: 'pids.max', value: ({ processes }) => processes }],
    cpu: [{ file: 'cpu.weight', value: () => CPU_WEIGHT }],
  },
  1: {
    memory: [
      { file: 'memory.limit_in_bytes', value: ({ memory }) => memory },
      // Memory and swap together.
      { file: 'memory.memsw.limit_in_bytes', value: ({ memory }) => memory, optional: true },
    ],
    pids: [{ file: 'pids.max', value: ({ processes }) => processes }],
    cpu: [{ file: 'cpu.shares', value: () => CPU_SHARES }],
  },
};

/** Processes killed because the build reached its memory limit. */
export const OOM_KILLS: Readonly<Record<CgroupVersion, EventCounter>> = {
  2: { file: 'memory.events', line: 'oom_kill' },
  1: { file: 'memory.oom_control', line: 'oom_kill' },
};

/** Forks refused because it reached its process limit. */
export const REFUSED_FORKS: EventCounter = { file: 'pids.events', line: 'max' };

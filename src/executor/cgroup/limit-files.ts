/** The files of control groups that hold a limit, and those that count what the kernel did at it, by version of the hierarchy. */

export type CgroupVersion = 1 | 2;

export type Controller = 'memory' | 'pids' | 'cpu';

export interface CgroupLimits {
  /** Bytes; null: no limit. */
  readonly memory: number | null;
  /** Processes and threads. */
  readonly processes: number;
}

export interface LimitFile {
  readonly file: string;
  readonly value: (limits: CgroupLimits) => number | null;
  /** Absent on kernels without swap, or without swap accounting. */
  readonly optional?: true;
}

export interface EventCounter {
  readonly file: string;
  /** First word of the line with the number. */
  readonly line: string;
}

/** Share of the processors relative to everything else: half. */
const CPU_WEIGHT = 50;
const CPU_SHARES = 512;

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

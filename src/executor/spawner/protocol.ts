/**
 * The messages between the service and its spawner.
 *
 * Starting a process from a service with a big heap stalls its event loop (libuv forks: about 45 ms per GB of resident
 * memory), so a small helper process does it: `main.ts` in this folder, started once, fed over an IPC channel.
 *
 *     service  ── prepare {id, stage} ──►  spawner  ── fork ──►  a shell that waits      where jobs have a stage
 *     service  ── start {id, spec} ──►  spawner  ── fork, or the shell goes on ──►  job
 *              ◄── started {id, pid} ──
 *              ◄── listening {id} + socket ──    ◄── listening + socket ──        where it passes one
 *              ── taken {id} ──►                 ── (hangs up) ──►
 *              ◄── matched {id, source} ──       ◄── a line that matches failure-output ──
 *              ── stop {id, mode} ──►            ── SIGTERM, grace, SIGKILL ──►
 *              ◄── ended {id, end} ──
 *              ── leave ──►                      stages that no job took end
 *              ◄── left ──
 *
 *     service      spawner.ts → helper.ts
 *     helper       main.ts; watchdog.ts, oom-score.ts, inherited-descriptors.ts
 *     one process  job-process.ts; ready-stage.ts, or cgroup-of-child.ts; stray-processes.ts
 *     its output   output-sink.ts: output-pipe.ts and line-log.ts → output-watch.ts, or capture.ts
 *
 * The channel also bounds the lifetime of jobs: when it closes (the service ended, however) the spawner kills every job and ends.
 * Where a session with the store can be lost, silence counts as well: the service sends `alive` regularly, and its jobs are stopped
 * when it has been silent for as long as its session lasts (`watchdog.ts`).
 */

import type { ChildCgroup } from './cgroup-of-child.ts';

/** One process to run, complete: the spawner knows nothing else. */
export interface ProcessSpec {
  /** Program and arguments; no shell is involved. */
  readonly argv: readonly string[];
  /** The whole environment. */
  readonly env: { readonly [name: string]: string };
  readonly cwd: string;
  /** Unix identity to take before the program starts; null: that of the service. */
  readonly user: { readonly uid: number; readonly gid: number } | null;
  readonly output: OutputSpec;
  /** Milliseconds, on the monotonic clock; null: none. */
  readonly timeoutMs: number | null;
  /** Milliseconds between SIGTERM and SIGKILL. */
  readonly graceMs: number;
  /**
   * How the processes it leaves behind are found and killed when it ends:
   * `namespace`: `argv` is bubblewrap's, set to write its status to descriptor 3; the kernel kills all with its pid namespace.
   * `group`: its process group; for programs of our own, which make no daemons.
   * `marked`: its process group, and every process whose environment holds `GATEHOUSE_PROCESS=<mark>`.
   * `user`: as `marked`, and every process of `user`, which is used for nothing else.
   */
  readonly reach:
    | { readonly kind: 'namespace' | 'group' }
    | { readonly kind: 'marked' | 'user'; readonly mark: string };
  /**
   * It begins by creating a listening socket in its own network and passing it up the channel it finds at descriptor 4
   * (`relay/listen-in-sandbox.ts`); it continues when the channel is closed, which is when the service has the socket.
   */
  readonly handsOver?: true;
  /** Path of a compiled filter of system calls, for bubblewrap: open for reading at {@link seccompDescriptor}. */
  readonly seccomp?: string;
  /** Content of its file of secrets, for bubblewrap to read at {@link secretsDescriptor}; a program without it has it at 3. On no disk, and in no argument. */
  readonly secrets?: string;
  /** The control group it is started in. */
  readonly cgroups?: readonly ChildCgroup[];
  /** A stage that was prepared for it, and what its shell does to become `argv` in `env`: its output is a log. Where that stage is gone it starts without. */
  readonly staged?: { readonly stage: number; readonly script: string };
}

/** What all jobs begin with, done before there is one: see `ready-stage.ts`. */
export interface StageSpec {
  /** A shell that reads what it is to do from its standard input. */
  readonly argv: readonly string[];
  /** Its first lines; those of a job follow. */
  readonly script: string;
  /** Of the shell. */
  readonly env: ProcessSpec['env'];
  readonly seccomp?: string;
  /** Empty; of the job, in the end. */
  readonly cgroups: readonly ChildCgroup[];
}

/** After bubblewrap's status (3) and the channel, where it has one. */
export function seccompDescriptor({ handsOver }: Pick<ProcessSpec, 'handsOver'>): number {
  return handsOver === true ? 5 : 4;
}

/** After the filter, where there is one. @param filtered whether there is. */
export function secretsDescriptor({
  handsOver,
  filtered,
}: Pick<ProcessSpec, 'handsOver'> & { readonly filtered: boolean }): number {
  return seccompDescriptor({ ...(handsOver === true ? { handsOver } : {}) }) + (filtered ? 1 : 0);
}

type OutputSpec =
  /** Appended to a file, a time stamp before each line; at most `limit` bytes, then the process is stopped. */
  | {
      readonly kind: 'log';
      readonly path: string;
      readonly limit: number;
      /** Texts to write as `***`, the longest first (`src/lib/secret-masks.ts`). Absent: none. */
      readonly masks?: readonly string[];
      /** Expressions of RE2, of which the first that matches the beginning of a line is reported. Absent: none. */
      readonly failureOutput?: readonly string[];
    }
  /** The last `limit` bytes of both streams are returned with the end. */
  | { readonly kind: 'capture'; readonly limit: number };

/** What ended it. */
export type EndCause = 'itself' | 'timeout' | 'stopped' | 'output-limit' | 'memory-limit';

/** What the service learns of a process it had started. Only `ended` says something about the process itself. */
export type ProcessEnd =
  | {
      readonly kind: 'ended';
      readonly because: EndCause;
      /** Exit status; null when a signal ended it. */
      readonly code: number | null;
      readonly signal: string | null;
      /** The captured output; empty for logs. */
      readonly output: string;
      /** Bytes of output kept. */
      readonly written: number;
    }
  | { readonly kind: 'not-started'; readonly reason: string }
  /** The spawner itself ended; its jobs were killed. */
  | { readonly kind: 'lost'; readonly reason: string };

/** `graceful`: SIGTERM, and SIGKILL after the grace. `immediate`: SIGKILL. */
export type StopMode = 'graceful' | 'immediate';

/** `id` is a number of the service, never used twice. */
export type ToSpawner =
  | { readonly type: 'alive' }
  | { readonly type: 'start'; readonly id: number; readonly spec: ProcessSpec }
  | { readonly type: 'prepare'; readonly id: number; readonly stage: StageSpec }
  /** No job will take the stage. */
  | { readonly type: 'discard'; readonly id: number }
  /** The service has the socket. */
  | { readonly type: 'taken'; readonly id: number }
  | { readonly type: 'stop'; readonly id: number; readonly mode: StopMode }
  /** Its executor closes, and has no jobs. */
  | { readonly type: 'leave' };

/** What the helper detected about this machine. */
export interface SpawnerFacts {
  /** Why the kernel does not kill jobs before the service when memory runs out; null: it does. */
  readonly oomScoreProblem: string | null;
}

/** `started` is absent for a process that could not be started; `ended` follows every start, once. */
export type FromSpawner =
  /** @see SpawnerFacts */
  | { readonly type: 'ready'; readonly oomScoreProblem: string | null }
  | { readonly type: 'started'; readonly id: number; readonly pid: number }
  /** With a socket. */
  | { readonly type: 'listening'; readonly id: number }
  /** Once: a line matches this one of its `failureOutput`. */
  | { readonly type: 'matched'; readonly id: number; readonly source: string }
  | { readonly type: 'ended'; readonly id: number; readonly end: ProcessEnd }
  /** Nothing of that executor is left. */
  | { readonly type: 'left' };

/** Environment variable by which stray processes of a job are recognised. */
export const MARK = 'GATEHOUSE_PROCESS';

/**
 * A running component as others see it, for as long as its session lives.
 *
 *     running ⇄ paused                 an operator's request: it takes no new work and finishes what it has
 *     running | paused → stopping      it shuts down: it takes no new work and ends when it has finished
 */
import type { Nanoseconds } from '../lib/clock.ts';
import type { ExecutorZone } from './executor-zone.ts';
import type { Wall } from './wall.ts';

/** Whether a component takes work; transitions are listed above. */
export type ComponentState = 'running' | 'paused' | 'stopping';

/** One service in one process. Stored as the record `component` in an ephemeral node. */
export interface ComponentRecord extends ExecutorZone {
  /** The machine it runs on; several components may name the same. */
  readonly host: string;
  /** Process id on that machine. */
  readonly pid: number;
  /** Of the program, for people. */
  readonly version: string;
  readonly state: ComponentState;
  readonly startedAt: Nanoseconds;
  /** Node labels it offers; only executors have any. */
  readonly labels: readonly string[];
  /** Versions of Ansible that its jobs may name; only executors have any. Absent: none. */
  readonly ansibleVersions?: readonly string[];
  /** `http://host:port` at which it answers others; null when it does not. */
  readonly address: string | null;
  /** Why it takes no work although it runs, e.g. a full disk. For people; absent: no trouble. */
  readonly trouble?: string;
  /** What its jobs meet. Absent: it runs no jobs, or did not report any. */
  readonly walls?: readonly Wall[];
  /** The state an operator last requested; another process writes it and this component reads it. Absent: none yet. */
  readonly wanted?: ComponentState;
}

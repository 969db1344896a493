/**
 * What a running component says of itself to the others, for as long as its session lives.
 *
 *     running ⇄ paused        an operator asked: it takes no new work, what it has goes on
 *     running | paused → stopping      asked to end: it takes nothing new and leaves when what it has is done
 */
import type { Nanoseconds } from '../lib/clock.ts';
import type { Wall } from './wall.ts';

export type ComponentState = 'running' | 'paused' | 'stopping';

export interface ComponentRecord {
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
  /** `http://host:port` at which it answers others; null when it does not. */
  readonly address: string | null;
  /** Why it takes no work although it runs: a full disk. For people; absent: nothing. */
  readonly trouble?: string;
  /** What its jobs meet. Absent: it runs no jobs, or did not report any. */
  readonly walls?: readonly Wall[];
  /** What an operator last asked of it, written by somebody else for it to read. Absent: nothing yet. */
  readonly wanted?: ComponentState;
}

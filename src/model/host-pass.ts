/** What a listener did in one pass over its code host, for the trace; all counts may be 0. */
import type { Nanoseconds } from '../lib/clock.ts';
import type { Step } from './step.ts';

/** One pass of a listener over the host. */
export interface HostPass {
  readonly startedAt: Nanoseconds;
  readonly endedAt: Nanoseconds;
  /** Projects that were read. */
  readonly projects: number;
  /** Changes that were listed. */
  readonly changes: number;
  /** Events that were found before the host delivered them. */
  readonly missed: number;
  /** Failed deliveries that the host was asked to repeat. */
  readonly redelivered: number;
  /** Reports of items that are gone, ended now. */
  readonly closed: number;
  /** Requests to the host, and waits for it. */
  readonly steps: readonly Step[];
}

/** What this process asks of a host, and what the host allows it, for metrics. No decision depends on it. */

import type { Nanoseconds } from '../lib/clock.ts';

/** Counts are since the start of the process. */
export interface HostUsage {
  /** `operation`: the host's name of it. `status`: that of HTTP; `none`: no answer came. */
  readonly requests: readonly {
    readonly operation: string;
    readonly status: string;
    readonly count: number;
  }[];
  /** By account that the host counts by, as its last answer said; none that has run out since. */
  readonly budgets: readonly {
    readonly installation: string;
    readonly resource: string;
    readonly remaining: number;
  }[];
  /** Reports in progress of items that were gone, ended by a sweep. */
  readonly closedReports: number;
  /** Absent: this process reads no event stream of the host. */
  readonly stream?: HostStream;
}

/** An event stream that is held open. */
export interface HostStream {
  readonly connected: boolean;
  /** When the last event came, of any project, to the second; null: none has. */
  readonly lastLineAt: Nanoseconds | null;
  /** How often it broke after it had been open. */
  readonly gaps: number;
}

/** Usage of one connection by this process. */
export interface UsageView {
  now(): HostUsage;
}

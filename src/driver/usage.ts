/** What this process asks of a host, and what the host allows it, for metrics. No decision depends on it. */

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
}

/** Usage of one connection by this process. */
export interface UsageView {
  now(): HostUsage;
}

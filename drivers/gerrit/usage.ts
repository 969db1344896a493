/** What this process asks of Gerrit: counted by operation and status, for metrics. Gerrit names no limits that are used up. */
import { createRequestCounts } from '../../src/driver/request-counts.ts';
import type { HostStream, UsageView } from '../../src/driver/usage.ts';

/** In the memory of one process. */
export interface GerritUsage extends UsageView {
  /** A request has ended. @param status null: no answer came. */
  asked(operation: string, status: number | null): void;
  /** @param stream undefined: this process does not read it any more. */
  streamed(stream: HostStream | undefined): void;
}

export function createGerritUsage(): GerritUsage {
  const counts = createRequestCounts();
  let stream: HostStream | undefined;
  return {
    asked: counts.asked,
    streamed(now) {
      stream = now;
    },
    now: () => ({
      ...{ requests: counts.all(), budgets: [], closedReports: 0 },
      ...(stream === undefined ? {} : { stream }),
    }),
  };
}

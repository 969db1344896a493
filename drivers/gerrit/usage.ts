/** What this process asks of Gerrit: counted by operation and status, for metrics. Gerrit names no limits that are used up. */
import { createRequestCounts } from '../../src/driver/request-counts.ts';
import type { UsageView } from '../../src/driver/usage.ts';

/** In the memory of one process. */
export interface GerritUsage extends UsageView {
  /** A request has ended. @param status null: no answer came. */
  asked(operation: string, status: number | null): void;
}

export function createGerritUsage(): GerritUsage {
  const counts = createRequestCounts();
  return {
    asked: counts.asked,
    now: () => ({ requests: counts.all(), budgets: [], closedReports: 0 }),
  };
}

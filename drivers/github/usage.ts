/** What this process asks of GitHub: counted by operation and status, for metrics. */
import { createRequestCounts } from '../../src/driver/request-counts.ts';
import type { HostUsage, UsageView } from '../../src/driver/usage.ts';

/** In the memory of one process. */
export interface GithubUsage extends UsageView {
  /** A request has ended. @param status null: no answer came. */
  asked(operation: string, status: number | null): void;
  /** A sweep ended check runs. */
  closed(runs: number): void;
}

/** @param budgets what GitHub said is left. */
export function createGithubUsage(budgets: () => HostUsage['budgets']): GithubUsage {
  const counts = createRequestCounts();
  let closedReports = 0;
  return {
    asked: counts.asked,
    closed(runs) {
      closedReports += runs;
    },
    now: () => ({ requests: counts.all(), budgets: budgets(), closedReports }),
  };
}

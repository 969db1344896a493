/** What this process asks of GitHub: counted by operation and status, for metrics. */
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
  const counts = new Map<string, { readonly operation: string; readonly status: string; count: number }>();
  let closedReports = 0;
  return {
    asked(operation, status) {
      const text = status === null ? 'none' : String(status);
      const key = `${operation} ${text}`;
      const entry = counts.get(key) ?? { operation, status: text, count: 0 };
      entry.count += 1;
      counts.set(key, entry);
    },
    closed(runs) {
      closedReports += runs;
    },
    now: () => ({ requests: [...counts.values()], budgets: budgets(), closedReports }),
  };
}

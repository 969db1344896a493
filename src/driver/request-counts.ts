/** Requests to a host since the start of the process, by operation and status, for metrics. */
import type { HostUsage } from './usage.ts';

/** In the memory of one process. */
export interface RequestCounts {
  /** A request has ended. @param status null: no answer came. */
  asked(operation: string, status: number | null): void;
  all(): HostUsage['requests'];
}

/** Empty, at the start of a process. */
export function createRequestCounts(): RequestCounts {
  const counts = new Map<string, { readonly operation: string; readonly status: string; count: number }>();
  return {
    asked(operation, status) {
      const text = status === null ? 'none' : String(status);
      const key = `${operation} ${text}`;
      const entry = counts.get(key) ?? { operation, status: text, count: 0 };
      entry.count += 1;
      counts.set(key, entry);
    },
    all: () => [...counts.values()],
  };
}

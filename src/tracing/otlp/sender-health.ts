/** Counters of the sender for the status page and the metrics: every span is sent, waiting or counted as lost. */
import type { Nanoseconds } from '../../lib/clock.ts';
import type { TraceCounts, TraceHour } from '../../model/trace-health.ts';

/** Counts since the sender was made. Its process stores them as a sender report, from which every web reads them. */
export interface SenderHealth {
  /** `idle`: nothing sent yet; `failing`: the last request failed and is retried. */
  readonly state: 'idle' | 'ok' | 'failing';
  /** Spans that the collector accepted. */
  readonly sent: number;
  /** Completed requests, of any outcome. */
  readonly requests: number;
  /** Requests that failed and were, or will be, retried. */
  readonly failedRequests: number;
  /**
   * Spans that will never arrive, by reason (`refused`, `rejected` in a partial success, `too-large`, `exhausted`,
   * `unauthenticated`, `unreadable`, `too-old`, ...).
   */
  readonly lost: { readonly [reason: string]: number };
  /** Requests with a partial success or a warning. */
  readonly partialSuccesses: number;
  /** Of a failed request, a partial success or a loss; it stays when requests succeed again. */
  readonly lastError: { readonly at: Nanoseconds; readonly text: string } | null;
  readonly lastSentAt: Nanoseconds | null;
  /** Rows waiting in the outbox. */
  readonly backlog: number;
  /** Whether the traces are whole. */
  readonly traces: { readonly hours: readonly TraceHour[]; readonly totals: TraceCounts };
}

/** A failed request only changes the state; spans count when they are delivered or lost for good. */
export interface SenderCounters {
  /** For every completed request, before its outcome is counted. */
  requested(): void;
  delivered(spans: number, at: Nanoseconds): void;
  /** The accepted spans are counted by {@link delivered}, the rejected ones by {@link lost}. */
  partial(at: Nanoseconds, text: string): void;
  failed(at: Nanoseconds, text: string): void;
  /** Leaves the state as it is. */
  lost(reason: string, spans: number, at: Nanoseconds, text: string): void;
  /** A copy of the present values. @param backlog rows in the outbox. */
  read(backlog: number): Omit<SenderHealth, 'traces'>;
}

/** All zero, in memory only. */
export function senderCounters(): SenderCounters {
  let state: SenderHealth['state'] = 'idle';
  let sent = 0;
  let requests = 0;
  let failedRequests = 0;
  let partialSuccesses = 0;
  let lastError: SenderHealth['lastError'] = null;
  let lastSentAt: Nanoseconds | null = null;
  const losses = new Map<string, number>();
  return {
    requested() {
      requests += 1;
    },
    delivered(spans, at) {
      state = 'ok';
      sent += spans;
      lastSentAt = at;
    },
    partial(at, text) {
      partialSuccesses += 1;
      lastError = { at, text };
    },
    failed(at, text) {
      state = 'failing';
      failedRequests += 1;
      lastError = { at, text };
    },
    lost(reason, spans, at, text) {
      losses.set(reason, (losses.get(reason) ?? 0) + spans);
      lastError = { at, text };
    },
    read: backlog => ({
      state,
      sent,
      requests,
      failedRequests,
      lost: Object.fromEntries(losses),
      partialSuccesses,
      lastError,
      lastSentAt,
      backlog,
    }),
  };
}

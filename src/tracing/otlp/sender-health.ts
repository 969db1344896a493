/** What the sender has done so far, for the status page and the metrics: every span is sent, waiting or counted as lost. */
import type { Nanoseconds } from '../../lib/clock.ts';

export interface SenderHealth {
  /** `idle`: nothing was sent yet; `failing`: the last request failed and is tried again. */
  readonly state: 'idle' | 'ok' | 'failing';
  /** Spans the collector took. */
  readonly sent: number;
  /** All requests that had an outcome, of whatever kind. */
  readonly requests: number;
  /** Requests that failed and were, or will be, tried again. */
  readonly failedRequests: number;
  /**
   * Spans that will never arrive, by reason (`refused`, `rejected` of a request taken in part, `too-large`, `exhausted`,
   * `unauthenticated`, `unreadable`, `too-old`, ...).
   */
  readonly lost: { readonly [reason: string]: number };
  /** Requests the collector took only in part, or with a complaint. */
  readonly partialSuccesses: number;
  readonly lastError: { readonly at: Nanoseconds; readonly text: string } | null;
  readonly lastSentAt: Nanoseconds | null;
  /** Rows waiting in the outbox. */
  readonly backlog: number;
}

export interface SenderCounters {
  requested(): void;
  delivered(spans: number, at: Nanoseconds): void;
  partial(at: Nanoseconds, text: string): void;
  failed(at: Nanoseconds, text: string): void;
  lost(reason: string, spans: number, at: Nanoseconds, text: string): void;
  read(backlog: number): SenderHealth;
}

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

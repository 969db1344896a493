/**
 * The state of span delivery, reported by the process that sends the spans. It is stored so that every web can show it, and
 * written by the delivery alone, never with the gate's own commits.
 */
import type { Nanoseconds } from '../lib/clock.ts';
import type { TraceHour } from './trace-health.ts';

/** Stored as the record `sender-report`. */
export interface SenderReport {
  /** When it was written. */
  readonly at: Nanoseconds;
  /** Host of the process that sends. */
  readonly host: string;
  /** Without user and password. */
  readonly endpoint: string;
  readonly protocol: string;
  /** `idle`: it has sent nothing yet; `failing`: the last request failed and is tried again. */
  readonly state: 'idle' | 'ok' | 'failing';
  /** Spans the collector took since that process began to send. */
  readonly sent: number;
  /** All requests that had an outcome; null: not recorded. */
  readonly requests: number | null;
  /** Requests that failed and were, or will be, tried again. */
  readonly failedRequests: number;
  /** Requests of which the collector took only a part. */
  readonly partialSuccesses: number;
  /** Spans that will never arrive, by reason. */
  readonly lost: { readonly [reason: string]: number };
  readonly lastError: { readonly at: Nanoseconds; readonly text: string } | null;
  readonly lastSentAt: Nanoseconds | null;
  /** Whether the traces were whole that ended in the last day; absent: not recorded. */
  readonly traces?: readonly TraceHour[];
}

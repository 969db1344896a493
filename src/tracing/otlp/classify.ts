/**
 * What to do after a request to the collector: the OTLP specification's table, with its gRPC status codes.
 *
 * | answer | meaning for us |
 * |---|---|
 * | OK, also with a partial success | delivered (what was refused is counted, never sent again) |
 * | UNAVAILABLE, DEADLINE_EXCEEDED, ABORTED, OUT_OF_RANGE, CANCELLED, DATA_LOSS | try again, not before RetryInfo says |
 * | RESOURCE_EXHAUSTED with RetryInfo | try again then |
 * | RESOURCE_EXHAUSTED about the message's size | send smaller pieces |
 * | everything else | lost: repeating would not help |
 */
import { retryDelayOf } from './retry-info.ts';

export type ExportOutcome =
  /** @property refused what the collector said it dropped, or undefined. */
  | { readonly kind: 'delivered'; readonly refused: string | undefined }
  /** @property afterMs what the collector asked for; undefined: as the sender likes. */
  | { readonly kind: 'again'; readonly afterMs: number | undefined; readonly text: string }
  | { readonly kind: 'too-large'; readonly text: string }
  | { readonly kind: 'lost'; readonly reason: LossReason; readonly text: string };

export type LossReason = 'refused' | 'unauthenticated' | 'too-large' | 'exhausted' | 'unreadable';

const OUT_OF_QUOTA = 8;
/** gRPC code → name, of those worth another try. */
const TRANSIENT: ReadonlyMap<number, string> = new Map([
  [1, 'CANCELLED'],
  [4, 'DEADLINE_EXCEEDED'],
  [10, 'ABORTED'],
  [11, 'OUT_OF_RANGE'],
  [14, 'UNAVAILABLE'],
  [15, 'DATA_LOSS'],
]);
const PERMISSION_DENIED = 7;
const UNAUTHENTICATED = 16;

/** The error of a failed export, as the gRPC client gives it: a `code`, and trailers in `metadata`. */
export function classifyFailure(error: unknown): ExportOutcome {
  const text = error instanceof Error ? error.message : String(error);
  const code = numberIn(error, 'code');
  const afterMs = retryDelayIn(error);
  if (code === undefined) {
    // No answer at all: a closed channel, a full concurrency limit, a certificate that cannot be read.
    return { kind: 'again', afterMs: undefined, text };
  }
  if (TRANSIENT.has(code)) return { kind: 'again', afterMs, text };
  if (code === OUT_OF_QUOTA) {
    if (afterMs !== undefined) return { kind: 'again', afterMs, text };
    if (/message larger than max|message too large|larger than max/i.test(text))
      return { kind: 'too-large', text };
    return { kind: 'lost', reason: 'exhausted', text };
  }
  const reason = code === UNAUTHENTICATED || code === PERMISSION_DENIED ? 'unauthenticated' : 'refused';
  return { kind: 'lost', reason, text };
}

function numberIn(value: unknown, name: string): number | undefined {
  const found = property(value, name);
  return typeof found === 'number' ? found : undefined;
}

function retryDelayIn(error: unknown): number | undefined {
  const metadata = property(error, 'metadata');
  const get = property(metadata, 'get');
  if (typeof get !== 'function') return undefined;
  const values: unknown = get.call(metadata, 'grpc-status-details-bin');
  const first: unknown = Array.isArray(values) ? values[0] : undefined;
  return first instanceof Uint8Array ? retryDelayOf(first) : undefined;
}

function property(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

/**
 * What to do after a gRPC request to the collector: the OTLP specification's table.
 *
 * | answer | outcome |
 * |---|---|
 * | OK, also with a partial success | delivered (rejected spans are counted, not sent again) |
 * | UNAVAILABLE, DEADLINE_EXCEEDED, ABORTED, OUT_OF_RANGE, CANCELLED, DATA_LOSS | retry, not before the time in RetryInfo |
 * | RESOURCE_EXHAUSTED with RetryInfo | retry then |
 * | RESOURCE_EXHAUSTED about the message's size | split the request |
 * | everything else | lost: a retry would not help |
 * | no gRPC status: the request was not sent | retry |
 */
import { Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { collectorText } from './collector-text.ts';
import type { ExportOutcome } from './export-outcome.ts';
import { retryDelayOf } from './retry-info.ts';

const TRANSIENT: ReadonlySet<status> = new Set([
  status.CANCELLED,
  status.DEADLINE_EXCEEDED,
  status.ABORTED,
  status.OUT_OF_RANGE,
  status.UNAVAILABLE,
  status.DATA_LOSS,
]);

/** Only the text says that a message is too large; the code is that of an exhausted quota. */
const TOO_LARGE = /message larger than max|message too large|larger than max/i;

/** @param error of a failed export: from grpc-js, or from the exporter itself. */
export function outcomeOfError(error: Error): ExportOutcome {
  const text = collectorText(error.message);
  if (!isServiceError(error)) return { kind: 'again', afterMs: undefined, text };
  const { code } = error;
  const afterMs = retryDelayIn(error);
  if (TRANSIENT.has(code)) return { kind: 'again', afterMs, text };
  if (code === status.RESOURCE_EXHAUSTED) {
    if (afterMs !== undefined) return { kind: 'again', afterMs, text };
    return TOO_LARGE.test(text) ? { kind: 'too-large', text } : { kind: 'lost', reason: 'exhausted', text };
  }
  const locked = code === status.UNAUTHENTICATED || code === status.PERMISSION_DENIED;
  return { kind: 'lost', reason: locked ? 'unauthenticated' : 'refused', text };
}

/** Whether the connection should not be used again. */
export function spoilsConnection(error: Error): boolean {
  return (
    isServiceError(error) && (error.code === status.DEADLINE_EXCEEDED || error.code === status.UNAVAILABLE)
  );
}

type StatusError = Error & Pick<ServiceError, 'code' | 'metadata'>;

function isServiceError(error: Error): error is StatusError {
  return (
    'code' in error &&
    typeof error.code === 'number' &&
    'metadata' in error &&
    error.metadata instanceof Metadata
  );
}

function retryDelayIn({ metadata }: StatusError): number | undefined {
  const [details] = metadata.get('grpc-status-details-bin');
  return details instanceof Uint8Array ? retryDelayOf(details) : undefined;
}

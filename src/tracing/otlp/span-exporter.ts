/** Sends requests to the collector, over either protocol: one request, one classified outcome. */
import type { SpanRecord } from '../../model/span.ts';
import type { ExportOutcome } from './export-outcome.ts';

/** Does not retry and keeps nothing: that is the sender's task (sender.ts). */
export interface SpanExporter {
  /** Sends ended spans in one request; never rejects. */
  send(spans: readonly SpanRecord[]): Promise<ExportOutcome>;
  /** Abandons requests in flight. */
  close(): void;
}

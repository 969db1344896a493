/** The way to the collector, by whatever protocol: one request, one classified outcome. */
import type { SpanRecord } from '../../model/span.ts';
import type { ExportOutcome } from './export-outcome.ts';

/** Never tries again on its own and keeps nothing: that is the sender's business (sender.ts). */
export interface SpanExporter {
  /** Sends ended spans in one request; never rejects. */
  send(spans: readonly SpanRecord[]): Promise<ExportOutcome>;
  /** Requests under way are given up. */
  close(): void;
}

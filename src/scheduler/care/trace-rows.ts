/**
 * Rows for a trace that has no item (an event, an operator's request, a background pass): one copy for the collector, one for the
 * history, from which it can be sent again. The trace of an item is drawn again from the item's record.
 */
import type { Nanoseconds } from '../../lib/clock.ts';
import { historyRowsCodec, spansCodec } from '../../model/codec/records.ts';
import type { HistoryRow } from '../../model/history.ts';
import type { SpanRecord } from '../../model/span.ts';
import { outboxRows } from '../../store/outbox-rows.ts';
import type { StorePaths } from '../../store/paths.ts';
import type { Operation } from '../../store/port.ts';

/** The two outboxes that a trace goes to. */
export type TracePlaces = Pick<StorePaths, 'spanOutbox' | 'historyOutbox'>;

/** Spans per row of the history. */
const PER_ROW = 100;

/** @param spans of any number of traces, ended. @param at when the rows are written. @returns none for no spans. */
export function traceRows(
  { spanOutbox, historyOutbox }: TracePlaces,
  spans: readonly SpanRecord[],
  at: Nanoseconds,
): readonly Operation[] {
  return [
    ...outboxRows(spanOutbox, spans, spansCodec, at),
    ...outboxRows(historyOutbox, traceHistory(spans), historyRowsCodec, at),
  ];
}

function traceHistory(spans: readonly SpanRecord[]): readonly HistoryRow[] {
  const traces = [...Map.groupBy(spans, ({ traceId }) => traceId).values()];
  return traces.flatMap(trace =>
    Array.from({ length: Math.ceil(trace.length / PER_ROW) }, (_, part): HistoryRow => {
      return { kind: 'trace', spans: trace.slice(part * PER_ROW, (part + 1) * PER_ROW) };
    }),
  );
}

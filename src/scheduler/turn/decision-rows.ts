/** Decisions on their way into the history. */
import type { Nanoseconds } from '../../lib/clock.ts';
import { historyRowsCodec } from '../../model/codec/records.ts';
import type { Decision } from '../../model/decision.ts';
import type { HistoryRow } from '../../model/history.ts';
import { outboxRows } from '../../store/outbox-rows.ts';
import type { Operation } from '../../store/port.ts';

/** Decisions per history row, so that a reset of thousands of items makes many small rows and not one too large. */
const PER_ROW = 200;

/** In their order; none for no decisions. */
export function decisionHistory(decisions: readonly Decision[]): readonly HistoryRow[] {
  const rows: HistoryRow[] = [];
  for (let at = 0; at < decisions.length; at += PER_ROW) {
    rows.push({ kind: 'decisions', decisions: decisions.slice(at, at + PER_ROW) });
  }
  return rows;
}

/** @param at when the rows are written: their age in the outbox counts from there. */
export function decisionRows(
  decisions: readonly Decision[],
  historyOutbox: string,
  at: Nanoseconds,
): readonly Operation[] {
  return outboxRows(historyOutbox, decisionHistory(decisions), historyRowsCodec, at);
}

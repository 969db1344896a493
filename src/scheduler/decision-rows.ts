/** Decisions on their way into the history. */
import type { Nanoseconds } from '../lib/clock.ts';
import { historyRowsCodec } from '../model/codec/records.ts';
import type { Decision } from '../model/decision.ts';
import type { Operation } from '../store/port.ts';
import { outboxRows } from './outbox-rows.ts';

export function decisionRows(
  decisions: readonly Decision[],
  historyOutbox: string,
  at: Nanoseconds,
): readonly Operation[] {
  return decisions.length === 0
    ? []
    : outboxRows(historyOutbox, [{ kind: 'decisions', decisions }], historyRowsCodec, at);
}

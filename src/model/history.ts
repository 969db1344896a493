/** Rows of the history as they wait in the history outbox; `src/history/` stores each once, by uuid, in SQL. */
import type { Decision } from './decision.ts';
import type { QueueItem } from './queue-item.ts';
import type { SpanRecord } from './span.ts';

/** One row of the record `history-rows`. */
export type HistoryRow =
  /** An item that left, with its buildsets, builds and whole trace. */
  | { readonly kind: 'item'; readonly item: QueueItem }
  | { readonly kind: 'decisions'; readonly decisions: readonly Decision[] }
  /** The trace, or a part of it, of an event, an operator's request or a background pass, as it was sent. */
  | { readonly kind: 'trace'; readonly spans: readonly SpanRecord[] };

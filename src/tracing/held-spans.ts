/**
 * Spans of the event of an unsampled item. While `[tracing] keep` has rules they are stored with the item and exported when it is kept,
 * so that its links lead to traces that exist.
 */
import type { QueueItem } from '../model/queue-item.ts';
import type { SpanRecord } from '../model/span.ts';

/** Per trace: the item's record holds them while it is in the queue. */
const MOST_SPANS = 24;
/** Per trace, as JSON. */
const MOST_BYTES = 16_384;

/** @param trace parents before children, so that cutting it leaves no orphan. */
export function heldSpans(trace: readonly SpanRecord[]): readonly SpanRecord[] {
  const held: SpanRecord[] = [];
  let bytes = 0;
  for (const span of trace.slice(0, MOST_SPANS)) {
    bytes += Buffer.byteLength(JSON.stringify(span));
    if (bytes > MOST_BYTES) break;
    held.push(span);
  }
  return held;
}

/** The item as it is stored when it is not kept. */
export function withoutHeldSpans(item: QueueItem): QueueItem {
  const { heldSpans: _none, ...origin } = item.origin;
  return item.origin.heldSpans === undefined ? item : { ...item, origin };
}

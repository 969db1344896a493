/**
 * The traces of an event that sampling left out travel with what the event leads to while `[tracing] keep` has rules: an item that
 * is kept in the end takes them along, and its links lead somewhere.
 */
import type { QueueItem } from '../model/queue-item.ts';
import type { SpanRecord } from '../model/span.ts';

/** Of one trace: a record carries them for as long as its item is in the queue. */
const MOST_SPANS = 24;
/** Of one trace as JSON. */
const MOST_BYTES = 16_384;

/** @param trace parents before children: what is cut off leaves no orphan. */
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

/** An item that is not kept does not need them. */
export function withoutHeldSpans(item: QueueItem): QueueItem {
  const { heldSpans: _none, ...origin } = item.origin;
  return item.origin.heldSpans === undefined ? item : { ...item, origin };
}

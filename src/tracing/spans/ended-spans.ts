/**
 * The spans that ended between two versions of an item's record: written to the outbox in the commit that stores the new version.
 *
 *     const spans = endedSpans(before, after);     // before: undefined for a new item
 *     ops.push(...outbox.append(spans));
 *
 * Over any sequence of versions each span is returned exactly once, when it ends. Cost is proportional to the change: parts that are
 * the same object in both versions are skipped.
 */
import { isExported, type QueueItem } from '../../model/queue-item.ts';
import type { SpanRecord } from '../../model/span.ts';
import { itemSpans, planItem } from './item-spans.ts';
import { DEFAULT_SPAN_OPTIONS, type SpanOptions } from './span-options.ts';

/** All spans exported for an item that has left; with the traces it follows from when it was held back and is kept. */
export function exportedSpans(
  item: QueueItem,
  options: SpanOptions = DEFAULT_SPAN_OPTIONS,
): readonly SpanRecord[] {
  return [...(item.origin.heldSpans ?? []), ...itemSpans(item, options)];
}

/**
 * Spans that ended in `after` and not in `before`; none for an unsampled item. All spans of an item that was held back and is kept
 * count as ended when it leaves.
 */
export function endedSpans(
  before: QueueItem | undefined,
  after: QueueItem,
  options: SpanOptions = DEFAULT_SPAN_OPTIONS,
): readonly SpanRecord[] {
  if (!isExported(after) || before === after) return [];
  if (after.kept === true) return exportedSpans(after, options);
  const sent = new Set<string>();
  if (before !== undefined) {
    for (const plan of planItem(before, after, options)) if (plan.end !== null) sent.add(plan.key);
  }
  const spans: SpanRecord[] = [];
  for (const plan of planItem(after, before, options)) {
    if (plan.end !== null && !sent.has(plan.key)) spans.push(plan.make());
  }
  return spans;
}

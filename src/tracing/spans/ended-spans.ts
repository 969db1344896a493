/**
 * What a change of an item's record finished: the spans to put into the outbox, in the same commit.
 *
 *     const spans = endedSpans(before, after);     // before: undefined for a new item
 *     ops.push(...outbox.append(spans));
 *
 * Over any sequence of versions each span comes exactly once, when it ends. Costs as much as what changed: parts that are
 * the same object in both versions are not looked into.
 */
import { isExported, type QueueItem } from '../../model/queue-item.ts';
import type { SpanRecord } from '../../model/span.ts';
import { itemSpans, planItem } from './item-spans.ts';
import { DEFAULT_SPAN_OPTIONS, type SpanOptions } from './span-options.ts';

/** All that is exported with an item that has left: of one that was held back and is kept also the traces it follows from. */
export function exportedSpans(
  item: QueueItem,
  options: SpanOptions = DEFAULT_SPAN_OPTIONS,
): readonly SpanRecord[] {
  return [...(item.origin.heldSpans ?? []), ...itemSpans(item, options)];
}

/**
 * Spans ended in `after` that were not ended in `before`; none of an item that is not sampled. One that was held back and is kept
 * ends all at once: when it leaves.
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

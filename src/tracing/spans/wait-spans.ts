/** `Wait …`: every stretch in which an item is held up by something that is not its own work. */

import { assertNever } from '../../lib/assert-never.ts';
import { derivedSpanId } from '../../lib/ids.ts';
import type { ItemStateName, QueueItem } from '../../model/queue-item.ts';
import { endOfItem } from '../../model/queue-item.ts';
import type { ItemContext } from './item-context.ts';
import { type SpanPlan, spanOf } from './span-plan.ts';

/** A wait becomes a span of its own; work is shown by the spans of what is done (`Merge`, `Build`, `Report`, ...). */
export function isWait(state: ItemStateName): boolean {
  switch (state) {
    case 'window':
    case 'hold-following':
    case 'executor':
    case 'change-ahead':
    case 'needed-change':
    case 'dependency':
      return true;
    case 'merge':
    case 'configure':
    case 'repo-state':
    case 'running':
    case 'reporting':
      return false;
    default:
      return assertNever(state, 'item state');
  }
}

/** @param other another version of the item; waits that ended in both are left out (timelines only grow). */
export function planWaits(context: ItemContext, other: QueueItem | undefined): readonly SpanPlan[] {
  const { item, root } = context;
  const plans: SpanPlan[] = [];
  const settled = other === undefined ? 0 : Math.min(item.timeline.length, other.timeline.length) - 1;
  for (let index = settled; index < item.timeline.length; index++) {
    const entry = item.timeline[index];
    if (entry === undefined || !isWait(entry.state)) continue;
    const end = item.timeline[index + 1]?.since ?? endOfItem(item);
    if (end === entry.since) continue;
    plans.push({
      key: `wait/${index}`,
      end,
      make: () =>
        spanOf({
          ...context.draft,
          kind: 'Wait',
          subject: entry.state,
          id: derivedSpanId(root.id(), `Wait ${entry.state}`, index),
          parent: root,
          start: entry.since,
          end,
          own: { waitState: entry.state, waitSubject: entry.subject },
        }),
    });
  }
  return plans;
}

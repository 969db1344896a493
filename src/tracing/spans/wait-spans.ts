/** `Wait …`: the times in which an item waits for something other than its own work. */

import { derivedSpanId } from '../../lib/ids.ts';
import type { TimeWindow } from '../../lib/time-window.ts';
import { isWait, type StretchState } from '../../model/item-states.ts';
import type { QueueItem } from '../../model/queue-item.ts';
import { endOfItem } from '../../model/queue-item.ts';
import { workWindows } from '../../model/work-windows.ts';
import type { AttributeInput } from '../attribute-values.ts';
import type { ItemContext } from './item-context.ts';
import { once, type SpanPlan, spanOf } from './span-plan.ts';
import { takeoverWithin } from './takeover-spans.ts';

/**
 * One span per wait of the timeline. Times of a work state without any work are `Wait scheduler` (no scheduler was running, or an answer
 * was not read yet), `Wait executor-lost`, `Wait merger-lost` or `Wait executor`: waits and work together cover the item without gap.
 *
 * @param other another version of the item: waits that ended in both are left out. The next turn may still take back an entry that began
 *   in the same moment as the one after it.
 */
export function planWaits(context: ItemContext, other: QueueItem | undefined): readonly SpanPlan[] {
  const { item } = context;
  const plans: SpanPlan[] = [];
  const work = once(() => workWindows(item));
  const settled = other === undefined ? 0 : settledEntries(item.timeline, other.timeline);
  for (let index = settled; index < item.timeline.length; index++) {
    const entry = item.timeline[index];
    const end = item.timeline[index + 1]?.since ?? endOfItem(item);
    if (entry === undefined || end === entry.since) continue;
    const window = { start: entry.since, end };
    if (isWait(entry.state)) {
      plans.push(
        planWait(
          context,
          { ...window, key: `wait/${index}`, state: entry.state, subject: entry.subject },
          index,
        ),
      );
    } else {
      for (const { state, ...gap } of work().idle(entry.state, window)) {
        const key = `wait/${index}/${gap.start}`;
        const own = state === 'scheduler' ? takeoverWithin(item, gap) : {};
        plans.push(planWait(context, { ...gap, key, state, subject: entry.state, own }, key));
      }
    }
  }
  return plans;
}

/** Number of leading entries with the same begin and end in both. */
function settledEntries(timeline: QueueItem['timeline'], other: QueueItem['timeline']): number {
  const changed = timeline.findIndex((entry, index) => {
    const same = other[index];
    return same === undefined || same.since !== entry.since || same.state !== entry.state;
  });
  return Math.max(0, (changed === -1 ? timeline.length : changed) - 1);
}

interface Wait extends TimeWindow {
  readonly key: string;
  readonly state: StretchState;
  readonly subject: string | undefined;
  readonly own?: AttributeInput;
}

/** @param ordinal distinguishes waits of one state: the place in the timeline, for a gap its start. */
function planWait(context: ItemContext, wait: Wait, ordinal: number | string): SpanPlan {
  const { root } = context;
  return {
    key: wait.key,
    end: wait.end,
    make: () =>
      spanOf({
        ...context.draft,
        kind: 'Wait',
        subject: wait.state,
        id:
          typeof ordinal === 'number'
            ? derivedSpanId(root.id(), `Wait ${wait.state}`, ordinal)
            : derivedSpanId(root.id(), `Wait ${wait.state} ${ordinal}`, 0),
        parent: root,
        start: wait.start,
        end: wait.end,
        own: { waitState: wait.state, waitSubject: wait.subject, ...wait.own },
      }),
  };
}

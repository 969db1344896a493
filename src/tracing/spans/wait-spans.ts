/** `Wait …`: every stretch in which an item is held up by something that is not its own work. */

import { assertNever } from '../../lib/assert-never.ts';
import { derivedSpanId } from '../../lib/ids.ts';
import type { ItemStateName, QueueItem } from '../../model/queue-item.ts';
import { endOfItem } from '../../model/queue-item.ts';
import { between, type TimeWindow } from '../time-window.ts';
import type { ItemContext } from './item-context.ts';
import { once, type SpanPlan, spanOf } from './span-plan.ts';
import { gapsIn, workWindows } from './work-windows.ts';

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

/** What nobody worked on for less than this is not worth a span: the time between two lines of the same turn. */
export const SHORTEST_GAP_NS = 1_000_000n;

/**
 * One span per wait of the timeline, and `Wait scheduler` for stretches of a work state in which none of the work went on
 * (a scheduler restarted, an answer lay unread): together with the work they leave no moment unexplained.
 *
 * @param other another version of the item; what ended in both is left out (timelines only grow).
 */
export function planWaits(context: ItemContext, other: QueueItem | undefined): readonly SpanPlan[] {
  const { item } = context;
  const plans: SpanPlan[] = [];
  const work = once(() => workWindows(item));
  const settled = other === undefined ? 0 : Math.min(item.timeline.length, other.timeline.length) - 1;
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
    } else if (end !== null) {
      for (const gap of gapsIn(window, work().of(entry.state))) {
        if (BigInt(between(gap.start, gap.end ?? gap.start)) < SHORTEST_GAP_NS) continue;
        const key = `wait/${index}/${gap.start}`;
        plans.push(planWait(context, { ...gap, key, state: 'scheduler', subject: entry.state }, key));
      }
    }
  }
  return plans;
}

interface Wait extends TimeWindow {
  readonly key: string;
  readonly state: ItemStateName | 'scheduler';
  readonly subject: string | undefined;
}

/** @param ordinal tells apart waits of one state: its place in the timeline, and for a gap its start. */
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
        own: { waitState: wait.state, waitSubject: wait.subject },
      }),
  };
}

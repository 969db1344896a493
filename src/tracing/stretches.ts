/** The states of an item as adjacent stretches of time, from enqueue to a moment. */
import type { Nanoseconds } from '../lib/clock.ts';
import type { ItemStateName, QueueItem } from '../model/queue-item.ts';
import { isWait } from './spans/wait-spans.ts';
import { between, earliest } from './time-window.ts';

export interface Stretch {
  readonly state: ItemStateName;
  readonly kind: 'wait' | 'work';
  /** What it waited for, as far as the scheduler noted it. */
  readonly subject?: string;
  readonly from: Nanoseconds;
  readonly to: Nanoseconds;
  readonly duration: Nanoseconds;
}

/** In order and without gap; states that lasted no time are left out. */
export function stretchesOf(item: QueueItem, until: Nanoseconds): readonly Stretch[] {
  const stretches: Stretch[] = [];
  item.timeline.forEach(({ state, since, subject }, index) => {
    const from = earliest(index === 0 ? item.enqueuedAt : since, until);
    const to = earliest(item.timeline[index + 1]?.since ?? until, until);
    if (from === to) return;
    stretches.push({
      state,
      kind: isWait(state) ? 'wait' : 'work',
      ...(subject === undefined ? {} : { subject }),
      from,
      to,
      duration: between(from, to),
    });
  });
  return stretches;
}

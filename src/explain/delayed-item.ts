/** One item of many, as the delays of its pipeline count it. */
import type { Nanoseconds } from '../lib/clock.ts';
import type { QueueItem } from '../model/queue-item.ts';
import { type Explanation, explainItem } from './explain.ts';

/** What is needed of one item: few enough words that thousands can be held. */
export type DelayedItem = Pick<
  Explanation,
  | 'item'
  | 'changes'
  | 'enqueuedAt'
  | 'until'
  | 'duration'
  | 'ended'
  | 'stretches'
  | 'totals'
  | 'resets'
  | 'lostBuildTime'
  | 'buildTime'
>;

export function delayedItem(item: QueueItem, now: Nanoseconds): DelayedItem {
  const { changes, enqueuedAt, until, duration, ended, stretches, totals, resets, lostBuildTime, buildTime } =
    explainItem(item, now);
  return {
    item: item.uuid,
    changes,
    enqueuedAt,
    until,
    duration,
    ended,
    stretches,
    totals,
    resets,
    lostBuildTime,
    buildTime,
  };
}

/** One item's part of the delays of its pipeline. */
import type { Nanoseconds } from '../lib/clock.ts';
import { testedHeads, testedMergeOf } from '../model/build-set.ts';
import { buildsetsOf, type QueueItem } from '../model/queue-item.ts';
import { type Flakes, flakesOf } from './delay-jobs.ts';
import { type Explanation, explainItem } from './explain.ts';

/** The facts of one item that delays need: small, since thousands are kept in memory. */
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
> & {
  readonly flakes: readonly Flakes[];
};

/** @param now end of the stretches of an item that has not left. */
export function delayedItem(item: QueueItem, now: Nanoseconds): DelayedItem {
  const explained = explainItem(item, now);
  const { changes, enqueuedAt, until, duration, ended, stretches, totals, resets, lostBuildTime, buildTime } =
    explained;
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
    flakes: flakesOf(explained.builds, testedStates(item)),
  };
}

/** What each buildset tested, as a text; without those that were superseded, of which it is not kept. */
function testedStates(item: QueueItem): ReadonlyMap<number, string> {
  return new Map(
    buildsetsOf(item).flatMap(buildset => {
      const tested = testedMergeOf(buildset);
      return tested === null ? [] : [[buildset.number, JSON.stringify(testedHeads(tested))]];
    }),
  );
}

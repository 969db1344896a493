/** The resets of a pipeline one by one: who reset whom, when, and what that cost. */
import type { Nanoseconds } from '../lib/clock.ts';
import type { Uuid } from '../lib/ids.ts';
import { isBefore } from '../lib/time-window.ts';
import type { ResetCode } from '../model/cause.ts';
import type { DelayedItem } from './delayed-item.ts';

/** One item was tested again once. */
export interface ResetCase {
  readonly at: Nanoseconds;
  readonly item: Uuid;
  /** Its changes, for people. */
  readonly change: string;
  readonly code: ResetCode;
  /** Null: no item is to blame. Null members: the cause was no build, or is not recorded. */
  readonly culprit: {
    readonly item: Uuid;
    readonly change: string;
    readonly job: string | null;
    readonly build: Uuid | null;
  } | null;
  readonly lostBuildTime: Nanoseconds;
}

const MOST_CASES = 100;

/** The costliest ones, in the order of time. */
export function resetCases(items: readonly DelayedItem[]): readonly ResetCase[] {
  const all = items.flatMap(({ item, changes, resets }) =>
    resets.map(({ at, code, culprit, lostBuildTime }): ResetCase => {
      const { job = null, build = null } = culprit ?? {};
      return {
        ...{ at, item, change: changes.join(' + '), code, lostBuildTime },
        culprit: culprit === null ? null : { item: culprit.item, change: culprit.change, job, build },
      };
    }),
  );
  const costliest = all.toSorted((a, b) => order(b.lostBuildTime, a.lostBuildTime)).slice(0, MOST_CASES);
  return costliest.sort((a, b) => order(a.at, b.at));
}

function order(a: Nanoseconds, b: Nanoseconds): number {
  return isBefore(a, b) ? -1 : isBefore(b, a) ? 1 : 0;
}

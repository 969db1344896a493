/** One item's part of the delays of its pipeline. */
import type { Nanoseconds } from '../lib/clock.ts';
import { earliest, latest } from '../lib/time-window.ts';
import { endOfBuild, startOfBuild } from '../model/build.ts';
import { type BuildSet, endOf, testedHeads, testedMergeOf } from '../model/build-set.ts';
import { lastNodeWait } from '../model/node-wait.ts';
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
  /** Key of its change queue. */
  readonly queue: string;
  readonly flakes: readonly Flakes[];
  /** Windows of its queue when it entered them after waiting outside; without those that have no limit. */
  readonly windows: readonly { readonly at: Nanoseconds; readonly window: number }[];
  /** How wide its queue was until it left; null: not known. */
  readonly widthBefore: number | null;
  /** Of each buildset, oldest first. */
  readonly tries: readonly Try[];
  /** Of each build that an executor took, once. */
  readonly work: readonly Work[];
};

interface Try {
  /** Of the buildset. */
  readonly number: number;
  /** When its merge was asked for first; null: it was not. */
  readonly begun: Nanoseconds | null;
  /** Null: not yet. */
  readonly ended: Nanoseconds | null;
}

/** The time that one build had an executor, and hosts if it wanted any. */
export interface Work {
  readonly worker: string;
  readonly hosts: readonly string[];
  readonly from: Nanoseconds;
  readonly to: Nanoseconds;
}

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
    queue: item.queue,
    flakes: flakesOf(explained.builds, testedStates(item)),
    windows: windowsOf(item),
    widthBefore: item.phase.phase === 'left' ? (item.phase.window ?? null) : null,
    tries: buildsetsOf(item).map(tryOf),
    work: workOf(item, until),
  };
}

function windowsOf({ events }: QueueItem): DelayedItem['windows'] {
  return events.flatMap(({ name, at, facts: { window } }) =>
    name === 'window-entered' && typeof window === 'number' && window > 0 ? [{ at, window }] : [],
  );
}

function tryOf(buildset: BuildSet): Try {
  const { number, mergerWork } = buildset;
  return { number, begun: mergerWork[0]?.requestedAt ?? null, ended: endOf(buildset) };
}

/** A build that a reset kept is in several buildsets. */
function workOf(item: QueueItem, until: Nanoseconds): readonly Work[] {
  const found = new Map<string, Work>();
  for (const buildset of buildsetsOf(item)) {
    const closed = earliest(endOf(buildset) ?? until, until);
    for (const build of buildset.builds) {
      const { state } = build;
      const from = startOfBuild(build);
      if (from === null || !('worker' in state) || state.worker === null || found.has(build.uuid)) continue;
      const hosts = lastNodeWait(build)?.granted?.hosts ?? [];
      found.set(build.uuid, {
        worker: state.worker,
        hosts,
        from,
        to: latest(from, endOfBuild(build) ?? closed),
      });
    }
  }
  return [...found.values()];
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

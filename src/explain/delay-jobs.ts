/** Jobs that failed for a change and passed for the same change: the flaky ones, with what their failures took. */
import type { Nanoseconds } from '../lib/clock.ts';
import type { Uuid } from '../lib/ids.ts';
import { isBefore, sum } from '../lib/time-window.ts';
import { isVerdictAgainst } from '../model/results.ts';
import type { BuildTimes } from './explain.ts';

/** Of one item and one job. */
export interface Flakes {
  readonly job: string;
  /** Builds that failed although another one of the job passed for the same item. */
  readonly builds: number;
  readonly buildTime: Nanoseconds;
  /** The last of them. */
  readonly build: Uuid;
}

/** Over all items; the one with the most such builds first. */
export interface FlakyJob extends Flakes {
  /** Items that had such a build. */
  readonly items: number;
  /** That of `build`. */
  readonly item: Uuid;
}

const MOST_ROWS = 20;

interface FlakyItem {
  readonly item: Uuid;
  readonly enqueuedAt: Nanoseconds;
  readonly flakes: readonly Flakes[];
}

/** @param builds of one item, in the order of request. */
export function flakesOf(builds: readonly BuildTimes[]): readonly Flakes[] {
  const passed = new Set(builds.filter(({ result }) => result === 'SUCCESS').map(({ job }) => job));
  const failed = builds.filter(
    ({ job, result }) => result !== null && isVerdictAgainst(result) && passed.has(job),
  );
  return [...Map.groupBy(failed, ({ job }) => job)].flatMap(([job, all]) => {
    const last = all.at(-1);
    if (last === undefined) return [];
    return [{ job, builds: all.length, buildTime: sum(all.map(({ ran }) => ran)), build: last.uuid }];
  });
}

/** At most {@link MOST_ROWS}. */
export function flakyJobs(items: readonly FlakyItem[]): readonly FlakyJob[] {
  const cases = items
    .toSorted((a, b) => (isBefore(a.enqueuedAt, b.enqueuedAt) ? -1 : 1))
    .flatMap(({ item, flakes }) => flakes.map(each => ({ ...each, item })));
  const rows = [...Map.groupBy(cases, ({ job }) => job)].flatMap(([job, all]) => {
    const last = all.at(-1);
    if (last === undefined) return [];
    const builds = all.reduce((count, each) => count + each.builds, 0);
    const buildTime = sum(all.map(each => each.buildTime));
    return [{ job, builds, buildTime, items: all.length, item: last.item, build: last.build }];
  });
  return rows.sort((a, b) => b.builds - a.builds || (a.job < b.job ? -1 : 1)).slice(0, MOST_ROWS);
}

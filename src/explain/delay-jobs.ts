/** Jobs that failed and passed with the same tested state of an item: the flaky ones, with what their failures took. */
import type { Nanoseconds } from '../lib/clock.ts';
import type { Uuid } from '../lib/ids.ts';
import { isBefore, sum } from '../lib/time-window.ts';
import { isVerdictAgainst } from '../model/results.ts';
import type { BuildTimes } from './explain.ts';

/** Of one item and one job. */
export interface Flakes {
  readonly job: string;
  /** Builds that failed although another one of the job passed with the same tested state. */
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

/**
 * A job that failed behind a broken change and passes without it is not flaky: the states are not the same.
 *
 * @param builds of one item, in the order of request. @param states of its buildsets, by number; one that is absent is like no other.
 */
export function flakesOf(
  builds: readonly BuildTimes[],
  states: ReadonlyMap<number, string>,
): readonly Flakes[] {
  const runOf = ({ job, buildset }: BuildTimes) => `${job}\0${states.get(buildset) ?? buildset}`;
  const passed = new Set(builds.filter(({ result }) => result === 'SUCCESS').map(runOf));
  const failed = builds.filter(
    build => build.result !== null && isVerdictAgainst(build.result) && passed.has(runOf(build)),
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

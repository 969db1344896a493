/** What the executors and hosts did for a pipeline: builds and time, by name. */
import type { Nanoseconds } from '../lib/clock.ts';
import { between, earliest, isBefore, latest, sum } from '../lib/time-window.ts';
import type { DelayedItem, Work } from './delayed-item.ts';

/** One executor, or host. */
interface Used {
  readonly name: string;
  readonly builds: number;
  /** Time that builds of the pipeline had it, in the time covered, all together. */
  readonly busy: Nanoseconds;
  /** `busy` divided by the time covered: builds of the pipeline at a time, on average. */
  readonly mean: number;
}

/** The busiest first, at most {@link MOST_ROWS} of each. */
export interface Use {
  readonly executors: readonly Used[];
  readonly hosts: readonly Used[];
}

const MOST_ROWS = 20;

interface Period {
  readonly covered: Nanoseconds;
  readonly until: Nanoseconds;
}

/** Of builds of this pipeline alone: others use the same executors. */
export function useOf(items: readonly DelayedItem[], period: Period): Use {
  const work = items
    .flatMap(item => item.work)
    .filter(({ from, to }) => isBefore(period.covered, to) && isBefore(from, period.until));
  return {
    executors: used(work, period, ({ worker }) => [worker]),
    hosts: used(work, period, ({ hosts }) => hosts),
  };
}

function used(
  work: readonly Work[],
  { covered, until }: Period,
  namesOf: (work: Work) => readonly string[],
): readonly Used[] {
  const byName = Map.groupBy(
    work.flatMap(each => namesOf(each).map(name => ({ ...each, name }))),
    ({ name }) => name,
  );
  const length = Number(between(covered, until));
  return [...byName]
    .map(([name, all]) => {
      const busy = sum(all.map(({ from, to }) => between(latest(from, covered), earliest(to, until))));
      const mean = length === 0 ? 0 : Math.round((Number(busy) / length) * 100) / 100;
      return { name, builds: all.length, busy, mean };
    })
    .sort((a, b) => (isBefore(b.busy, a.busy) ? -1 : 1))
    .slice(0, MOST_ROWS);
}

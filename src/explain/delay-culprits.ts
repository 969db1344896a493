/** The culprits of a pipeline's resets, with the build time each one cost. */
import type { Nanoseconds } from '../lib/clock.ts';
import type { Uuid } from '../lib/ids.ts';
import { isBefore, sum } from '../lib/time-window.ts';
import type { ResetCode } from '../model/cause.ts';
import type { DelayedItem } from './delayed-item.ts';
import type { Reset } from './explain.ts';

/** Each list at most {@link MOST_ROWS} long, the costliest first. */
export interface CulpritDelays {
  readonly byCause: readonly (Blamed & { readonly code: ResetCode })[];
  /** Resets caused by a failed job. */
  readonly byJob: readonly (Blamed & { readonly job: string })[];
  readonly byProject: readonly (Blamed & { readonly project: string })[];
  readonly byChange: readonly (Blamed & {
    readonly change: string;
    readonly item: Uuid;
    /** Its failed job; null: the cause was not a job. */
    readonly job: string | null;
  })[];
}

/** What one cause, job, project or change cost: its resets, and executor time that they discarded. */
export interface Blamed {
  readonly resets: number;
  /** Items that were tested again because of it. */
  readonly items: number;
  readonly lostBuildTime: Nanoseconds;
}

const MOST_ROWS = 20;

interface Case {
  readonly item: Uuid;
  readonly reset: Reset;
}

/** Resets without a culprit count only in `byCause`. */
export function culpritsOf(items: readonly DelayedItem[]): CulpritDelays {
  const cases = items.flatMap(({ item, resets }) => resets.map(reset => ({ item, reset })));
  return {
    byCause: rows(
      cases,
      ({ reset }) => reset.code,
      (code, blamed) => ({ code, ...blamed }),
    ),
    byJob: rows(
      cases,
      ({ reset }) => reset.culprit?.job,
      (job, blamed) => ({ job, ...blamed }),
    ),
    byProject: rows(
      cases,
      ({ reset }) => projectOf(reset),
      (project, blamed) => ({ project, ...blamed }),
    ),
    byChange: rows(
      cases,
      ({ reset }) => reset.culprit?.item,
      (item, blamed, { reset: { culprit } }) => ({
        change: culprit?.change ?? '',
        item,
        job: culprit?.job ?? null,
        ...blamed,
      }),
    ),
  };
}

function rows<Key extends string, Row extends Blamed>(
  cases: readonly Case[],
  keyOf: (each: Case) => Key | undefined,
  rowOf: (key: Key, blamed: Blamed, first: Case) => Row,
): readonly Row[] {
  const found = [...Map.groupBy(cases, keyOf)].flatMap(([key, all]) => {
    const [first] = all;
    if (key === undefined || first === undefined) return [];
    const lostBuildTime = sum(all.map(({ reset }) => reset.lostBuildTime));
    const items = new Set(all.map(({ item }) => item)).size;
    return [rowOf(key, { resets: all.length, items, lostBuildTime }, first)];
  });
  return found.sort(costlierFirst).slice(0, MOST_ROWS);
}

function costlierFirst(a: Blamed, b: Blamed): number {
  if (isBefore(b.lostBuildTime, a.lostBuildTime)) return -1;
  if (isBefore(a.lostBuildTime, b.lostBuildTime)) return 1;
  return b.resets - a.resets;
}

/** A change's text begins with the name of its project. */
function projectOf({ culprit }: Reset): string | undefined {
  return culprit?.change.split(' ', 1)[0];
}

/** Who stole most time from others: for each culprit of resets, how much earlier others would have landed without it (ghosts.ts). */
import { fromMilliseconds, type Nanoseconds } from '../lib/clock.ts';
import type { Uuid } from '../lib/ids.ts';
import { isBefore, sum } from '../lib/time-window.ts';
import type { DelayedItem } from './delayed-item.ts';
import { type Ghost, ghostsWithout, landedByQueue } from './ghosts.ts';

/** One item whose failure, leaving or move had others tested again. */
export interface WorstCulprit {
  readonly item: Uuid;
  readonly change: string;
  /** Its job and build that failed; null: the cause was none, or is not recorded. */
  readonly job: string | null;
  readonly build: Uuid | null;
  /** Of its first reset. */
  readonly at: Nanoseconds;
  readonly resets: number;
  readonly lostBuildTime: Nanoseconds;
  /** Items that would have landed earlier without it. */
  readonly delayed: number;
  /** By how much, all together. */
  readonly stolen: Nanoseconds;
}

/** When an item would have landed without the culprit that delayed it most. */
export interface WorstGhost {
  readonly at: Nanoseconds;
  readonly culprit: Uuid;
  readonly change: string;
}

const MOST_ROWS = 20;
/** For each the landings are replayed: of more culprits those that cost most build time. */
const MOST_REPLAYS = 30;

/** `culprits`: the one that stole most first, at most {@link MOST_ROWS}. `ghosts`: by the item that would have landed earlier. */
export function worstCulprits(items: readonly DelayedItem[]): {
  readonly culprits: readonly WorstCulprit[];
  readonly ghosts: ReadonlyMap<Uuid, WorstGhost>;
} {
  const queues = landedByQueue(items);
  const ghosts = new Map<Uuid, WorstGhost>();
  const culprits = candidates(items).map(candidate => {
    const found = ghostsWithout(queues, candidate.item);
    for (const each of found) keepEarliest(ghosts, each, candidate);
    const stolen = fromMilliseconds(found.reduce((ms, { lateMs }) => ms + lateMs, 0));
    return { ...candidate, delayed: found.length, stolen };
  });
  culprits.sort((a, b) => order(b.stolen, a.stolen) || order(b.lostBuildTime, a.lostBuildTime));
  return { culprits: culprits.slice(0, MOST_ROWS), ghosts };
}

function keepEarliest(
  ghosts: Map<Uuid, WorstGhost>,
  { item, at }: Ghost,
  { item: culprit, change }: Pick<WorstCulprit, 'item' | 'change'>,
): void {
  const known = ghosts.get(item);
  if (known === undefined || isBefore(at, known.at)) ghosts.set(item, { at, culprit, change });
}

function candidates(items: readonly DelayedItem[]): readonly Omit<WorstCulprit, 'delayed' | 'stolen'>[] {
  const cases = items
    .flatMap(({ resets }) =>
      resets.flatMap(({ culprit, ...reset }) => (culprit === null ? [] : [{ ...reset, culprit }])),
    )
    .sort((a, b) => order(a.at, b.at));
  return [...Map.groupBy(cases, ({ culprit }) => culprit.item)]
    .flatMap(([item, all]) => {
      const [first] = all;
      if (first === undefined) return [];
      const { change, job = null, build = null } = first.culprit;
      const lostBuildTime = sum(all.map(reset => reset.lostBuildTime));
      return [{ item, change, job, build, at: first.at, resets: all.length, lostBuildTime }];
    })
    .sort((a, b) => order(b.lostBuildTime, a.lostBuildTime))
    .slice(0, MOST_REPLAYS);
}

function order(a: Nanoseconds, b: Nanoseconds): number {
  return isBefore(a, b) ? -1 : isBefore(b, a) ? 1 : 0;
}

/**
 * Where the time of a whole pipeline went: the explanations of its items added up. The place to start when the gate is slow.
 *
 *     await delaysOf(items.map(item => delayedItem(item, now)), { since, covered: since, until: now })
 *
 * Covers the whole time in the pipeline of items that left since then and, up to now, of those still in it, without dependency
 * items. Durations are decimal nanoseconds; those of `states` sum to `time`.
 */

import { type Nanoseconds, parseNanoseconds } from '../lib/clock.ts';
import type { Uuid } from '../lib/ids.ts';
import { isBefore, sum } from '../lib/time-window.ts';
import { nextTurn, turnIsUsed } from '../lib/turns.ts';
import type { LeaveCode } from '../model/cause.ts';
import type { StretchState } from '../model/item-states.ts';
import type { BuildSetResult } from '../model/results.ts';
import { type CulpritDelays, culpritsOf } from './delay-culprits.ts';
import { type FlakyJob, flakyJobs } from './delay-jobs.ts';
import { type LoadPoint, loadOf } from './delay-load.ts';
import { type ResetCase, resetCases } from './delay-resets.ts';
import { type Use, useOf } from './delay-use.ts';
import type { DelayedItem } from './delayed-item.ts';
import type { StateTotal } from './explain.ts';
import { type GatePicture, gatePicture } from './gate-picture.ts';
import { type WorstCulprit, worstCulprits } from './worst-culprits.ts';

/** The period asked for, and the part of it that the given items cover. */
export interface DelaysQuestion {
  readonly since: Nanoseconds;
  /** All items from this time on are counted; later than `since` when there were too many. */
  readonly covered: Nanoseconds;
  /** Now. */
  readonly until: Nanoseconds;
}

/** How wide queues are now, by their keys; those without a limit are left out. */
export type QueueWidths = ReadonlyMap<string, number>;

/** Sent by the API with the links of its page added, and printed by delays-text.ts. */
export interface Delays extends DelaysQuestion {
  /** Not all items were counted: see `covered`. */
  readonly truncated: boolean;
  /** Number of items counted, those that left and those still in the pipeline. */
  readonly items: number;
  /** Number of them still in the pipeline. */
  readonly queued: number;
  readonly left: number;
  /** Results of the items that left, most frequent first. */
  readonly results: readonly { readonly result: BuildSetResult; readonly items: number }[];
  /** Rates are over the covered time, rounded to hundredths; 0 for a period of no length. */
  readonly leftPerHour: number;
  readonly succeededPerHour: number;
  /** Time in the pipeline of the items that left; null: none left. */
  readonly took: Spread | null;
  /** Sum of the times in the pipeline. */
  readonly time: Nanoseconds;
  /** Longest first. */
  readonly states: readonly StateDelays[];
  readonly resets: ResetDelays;
  /** Jobs that failed and passed with the same tested state of an item; the worst first, at most 20. */
  readonly flaky: readonly FlakyJob[];
  /** At most {@link SLOWEST}. */
  readonly slowest: readonly SlowItem[];
  /** Evenly spaced from `covered` to `until`. */
  readonly load: readonly LoadPoint[];
  readonly use: Use;
  readonly picture: GatePicture;
}

interface Spread {
  readonly mean: Nanoseconds;
  readonly p50: Nanoseconds;
  readonly p95: Nanoseconds;
  readonly longest: Nanoseconds;
}

/** One state over all items; percentiles are those of the items that were in it. */
export interface StateDelays extends Spread {
  readonly state: StretchState;
  readonly kind: 'wait' | 'work';
  readonly duration: Nanoseconds;
  /** Fraction of `time`, 0 to 1. */
  readonly share: number;
  /** `duration` divided by the number of items; these add up to the mean time in the pipeline. */
  readonly perItem: Nanoseconds;
  /** Number of items that were in this state. */
  readonly items: number;
  /** The one that was in it for `longest`. */
  readonly item: Uuid;
}

interface ResetDelays extends CulpritDelays {
  readonly count: number;
  /** Number of items that were tested again. */
  readonly items: number;
  /** Executor time that resets discarded. */
  readonly lostBuildTime: Nanoseconds;
  /** Total executor time. */
  readonly buildTime: Nanoseconds;
  /** `lostBuildTime / buildTime`, 0 to 1. */
  readonly lostShare: number;
  /** The costliest resets, at most 100, in the order of time. */
  readonly list: readonly ResetCase[];
  /** The culprits that stole most time from others first; at most 20. */
  readonly worst: readonly WorstCulprit[];
}

/** One of the items that were longest in the pipeline, also if it is still there. */
export interface SlowItem {
  readonly item: Uuid;
  readonly changes: readonly string[];
  readonly enqueuedAt: Nanoseconds;
  readonly duration: Nanoseconds;
  /** Null: still in the pipeline. */
  readonly result: BuildSetResult | null;
  /** Why it left; null with `result`. */
  readonly reason: LeaveCode | null;
  readonly resets: number;
  readonly lostBuildTime: Nanoseconds;
  /** The state that took most of its time. */
  readonly mostly: Pick<StateTotal, 'state' | 'kind' | 'duration'> | null;
}

const SLOWEST = 10;
const NS_PER_HOUR = 3.6e12;

/**
 * Others have their turn between its parts, each of which takes some milliseconds of thousands of items.
 *
 * @param items each once, without dependency items; the caller has read all of them that were there since `covered`.
 * @param page of the picture; absent: it has no rows.
 * @param widths absent: not known.
 */
export async function delaysOf(
  items: readonly DelayedItem[],
  question: DelaysQuestion,
  page: { readonly limit: number; readonly skip: number } = { limit: 0, skip: 0 },
  widths: QueueWidths = new Map(),
): Promise<Delays> {
  const { culprits, ghosts } = await part(() => worstCulprits(items));
  const left = items.filter(item => item.ended !== null);
  const time = sum(items.map(item => item.duration));
  const took = await part(() => spreadOf(left.map(item => item.duration)));
  const hours = Number(BigInt(question.until) - BigInt(question.covered)) / NS_PER_HOUR;
  const perHour = (count: number) => (hours > 0 ? Math.round((count / hours) * 100) / 100 : 0);
  return {
    ...question,
    truncated: question.covered !== question.since,
    items: items.length,
    queued: items.length - left.length,
    left: left.length,
    results: resultsOf(left),
    leftPerHour: perHour(left.length),
    succeededPerHour: perHour(left.filter(item => item.ended?.result === 'SUCCESS').length),
    took,
    time,
    states: await part(() => statesOf(items, time)),
    resets: { ...(await part(() => resetsOf(items))), worst: culprits },
    flaky: await part(() => flakyJobs(items)),
    slowest: await part(() => slowestOf(items)),
    load: await part(() => loadOf(items, question, widths)),
    use: await part(() => useOf(items, question)),
    picture: await part(() => gatePicture(items, ghosts, page)),
  };
}

async function part<T>(compute: () => T): Promise<T> {
  if (turnIsUsed()) await nextTurn();
  return compute();
}

function resultsOf(left: readonly DelayedItem[]): Delays['results'] {
  const byResult = Map.groupBy(left, item => item.ended?.result);
  return [...byResult]
    .flatMap(([result, all]) => (result === undefined ? [] : [{ result, items: all.length }]))
    .sort((a, b) => b.items - a.items);
}

function statesOf(items: readonly DelayedItem[], time: Nanoseconds): readonly StateDelays[] {
  const byState = Map.groupBy(
    items.flatMap(({ item, totals }) => totals.map(total => ({ ...total, item }))),
    total => total.state,
  );
  const states = [...byState].flatMap(([state, totals]): readonly StateDelays[] => {
    const spread = spreadOf(totals.map(total => total.duration));
    const [first] = totals.toSorted((a, b) => longerFirst(a.duration, b.duration));
    if (spread === null || first === undefined) return [];
    const duration = sum(totals.map(total => total.duration));
    const share = time === '0' ? 0 : Number(duration) / Number(time);
    const perItem = shareOut(duration, items.length);
    const { kind, item } = first;
    return [{ state, kind, duration, share, perItem, items: totals.length, item, ...spread }];
  });
  return states.sort((a, b) => longerFirst(a.duration, b.duration));
}

function resetsOf(items: readonly DelayedItem[]): Omit<ResetDelays, 'worst'> {
  const buildTime = sum(items.map(item => item.buildTime));
  const lostBuildTime = sum(items.map(item => item.lostBuildTime));
  return {
    count: items.reduce((count, item) => count + item.resets.length, 0),
    items: items.filter(item => item.resets.length > 0).length,
    lostBuildTime,
    buildTime,
    lostShare: buildTime === '0' ? 0 : Number(lostBuildTime) / Number(buildTime),
    ...culpritsOf(items),
    list: resetCases(items),
  };
}

function slowestOf(items: readonly DelayedItem[]): readonly SlowItem[] {
  const slowest = items.toSorted((a, b) => longerFirst(a.duration, b.duration)).slice(0, SLOWEST);
  return slowest.map(({ item, changes, enqueuedAt, duration, ended, resets, lostBuildTime, totals }) => {
    const [most] = totals;
    return {
      item,
      changes,
      enqueuedAt,
      duration,
      result: ended?.result ?? null,
      reason: ended?.reason ?? null,
      resets: resets.length,
      lostBuildTime,
      mostly: most === undefined ? null : { state: most.state, kind: most.kind, duration: most.duration },
    };
  });
}

/** Nearest rank; null without values. */
function spreadOf(durations: readonly Nanoseconds[]): Spread | null {
  const sorted = durations.toSorted((a, b) => longerFirst(b, a));
  const at = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
  const [p50, p95, longest] = [at(0.5), at(0.95), at(1)];
  if (p50 === undefined || p95 === undefined || longest === undefined) return null;
  return { mean: shareOut(sum(durations), durations.length), p50, p95, longest };
}

function shareOut(duration: Nanoseconds, among: number): Nanoseconds {
  return parseNanoseconds((BigInt(duration) / BigInt(Math.max(1, among))).toString());
}

function longerFirst(a: Nanoseconds, b: Nanoseconds): number {
  return isBefore(b, a) ? -1 : isBefore(a, b) ? 1 : 0;
}

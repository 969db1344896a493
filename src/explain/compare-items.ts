/**
 * An item beside one that went well, phase by phase, and beside what is usual: where did the time go that the other did not need?
 *
 *     phase                          this     other    usual (P50, P95)
 *     awaits executor               2m 10s       4s       3s …   9s    slower
 *     unit-tests                    3m 40s   3m 31s   3m 30s … 3m 50s
 *       playbook run/test.sh        3m 30s   3m 22s   …
 *
 * Pure. The web chooses the others (`src/web/compare-route.ts`); the command line prints the document (`compare-text.ts`).
 */
import { millisecondsBetween, type Nanoseconds } from '../lib/clock.ts';
import type { Uuid } from '../lib/ids.ts';
import { percentile } from '../lib/percentile.ts';
import { latest } from '../lib/time-window.ts';
import { leadChange } from '../model/about-item.ts';
import { changeText, targetBranchOf } from '../model/change.ts';
import { buildsetsOf, endOfItem, type QueueItem } from '../model/queue-item.ts';
import type { BuildSetResult } from '../model/results.ts';
import { type ItemPhase, type ItemPhaseName, phasesOf } from './phases.ts';

/** What a comparison needs of an item: small, since a hundred are in memory. */
export interface ComparableItem extends ComparedItem {
  readonly phases: readonly ItemPhase[];
}

/** Times are nanoseconds since the epoch, `ms` is milliseconds. */
export interface ComparedItem {
  readonly item: Uuid;
  /** `changeText` of each change. */
  readonly changes: readonly string[];
  readonly enqueuedAt: Nanoseconds;
  /** When it left, or now. */
  readonly until: Nanoseconds;
  readonly ms: number;
  /** Null: still in its pipeline. */
  readonly result: BuildSetResult | null;
  /** Times it was tested again. */
  readonly resets: number;
}

/** Milliseconds that a phase took in items that went well. */
interface UsualTime {
  readonly p50: number;
  readonly p95: number;
  /** How many items. */
  readonly items: number;
}

/** Milliseconds. */
export type ComparedPhase = ItemPhaseName & {
  readonly ms: number;
  /** Null: the other item has no such phase, or there is no other. */
  readonly other: number | null;
  /** Null: too few items have it. */
  readonly usual: UsualTime | null;
  /** Noticeably longer than in 19 of 20 items, or, where that is not known, half as long again as in the other. */
  readonly slower: boolean;
};

export interface Comparison {
  readonly item: ComparedItem;
  /** Null: none went well lately. */
  readonly other: ComparedItem | null;
  /** How many items say what is usual. */
  readonly usualOf: number;
  /** The longest states first, then the longest jobs, each with its parts and then the tasks that took longer, longest first. */
  readonly phases: readonly ComparedPhase[];
}

/** With fewer, nothing is called usual. */
const FEWEST = 5;
/** Milliseconds: less than this is no difference to look into. */
const NOTICED = 250;
/** Where nothing is usual: that many times as long, and at least {@link NOTICED_BESIDE_ONE} longer. */
const FACTOR = 1.5;
const NOTICED_BESIDE_ONE = 1000;
/** Of one job. */
const MOST_TASKS = 10;

/** @param now end of an item that has not left. */
export function comparableItem(item: QueueItem, now: Nanoseconds): ComparableItem {
  const until = latest(endOfItem(item) ?? now, item.enqueuedAt);
  return {
    item: item.uuid,
    changes: item.changes.map(changeText),
    enqueuedAt: item.enqueuedAt,
    until,
    ms: millisecondsBetween(item.enqueuedAt, until),
    result: item.phase.phase === 'left' ? item.phase.result : null,
    resets: buildsetsOf(item).length - 1,
    phases: phasesOf(item, now),
  };
}

/** It left with success, and is about the same project and branch as `item`. */
export function isComparable(item: QueueItem, candidate: QueueItem): boolean {
  const [own, its] = [leadChange(item), leadChange(candidate)];
  return (
    candidate.uuid !== item.uuid &&
    candidate.role === 'live' &&
    candidate.phase.phase === 'left' &&
    candidate.phase.result === 'SUCCESS' &&
    its.project === own.project &&
    targetBranchOf(its) === targetBranchOf(own)
  );
}

/** The newest that was tested once only, otherwise the newest. @param good newest first. */
export function lastGood(good: readonly ComparableItem[]): ComparableItem | null {
  return good.find(({ resets }) => resets === 0) ?? good[0] ?? null;
}

/** @param good items that say what is usual. */
export function compareItems(
  item: ComparableItem,
  other: ComparableItem | null,
  good: readonly ComparableItem[],
): Comparison {
  const theirs = other === null ? null : timesOf(other);
  const usual = usualTimes(good);
  const phases = item.phases.map((phase): ComparedPhase => {
    const { key, ms, ...name } = phase;
    // A state that it was never in took it no time; a job that it did not run says nothing.
    const others = theirs === null ? null : (theirs.get(key) ?? (phase.level === 'state' ? 0 : null));
    const times = { ms, other: others, usual: usual(phase) };
    return { ...name, ...times, slower: isSlower(times) };
  });
  return {
    item: withoutPhases(item),
    other: other === null ? null : withoutPhases(other),
    usualOf: good.length,
    phases: inOrder(phases),
  };
}

function withoutPhases({ phases: _, ...item }: ComparableItem): ComparedItem {
  return item;
}

function timesOf({ phases }: ComparableItem): ReadonlyMap<string, number> {
  return new Map(phases.map(({ key, ms }) => [key, ms]));
}

function usualTimes(good: readonly ComparableItem[]): (phase: ItemPhase) => UsualTime | null {
  const all = good.map(timesOf);
  return ({ key, level }) => {
    const times = all.flatMap(each => each.get(key) ?? (level === 'state' ? 0 : []));
    const sorted = times.toSorted((a, b) => a - b);
    const [p50, p95] = [percentile(sorted, 0.5), percentile(sorted, 0.95)];
    return p50 === null || p95 === null || sorted.length < FEWEST ? null : { p50, p95, items: sorted.length };
  };
}

function isSlower({ ms, other, usual }: Pick<ComparedPhase, 'ms' | 'other' | 'usual'>): boolean {
  if (usual !== null) return ms - usual.p95 >= NOTICED;
  return other !== null && ms > FACTOR * other && ms - other >= NOTICED_BESIDE_ONE;
}

function inOrder(phases: readonly ComparedPhase[]): readonly ComparedPhase[] {
  const longest = phases.toSorted((a, b) => b.ms - a.ms);
  const states = longest.filter(({ level }) => level === 'state');
  const jobs = longest.flatMap(phase => (phase.level === 'job' ? phase : []));
  const below = (job: string, level: 'part' | 'task') =>
    longest.filter(phase => phase.level === level && phase.job === job);
  const tasks = (job: string) => below(job, 'task').filter(isWorthShowing).slice(0, MOST_TASKS);
  return [...states, ...jobs.flatMap(job => [job, ...below(job.job, 'part'), ...tasks(job.job)])];
}

/** A playbook may report thousands of tasks. */
function isWorthShowing({ ms, other, usual, slower }: ComparedPhase): boolean {
  return slower || ms - (usual?.p50 ?? other ?? ms) >= NOTICED;
}

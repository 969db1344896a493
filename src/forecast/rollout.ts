/**
 * One possible future of a queue. Pure: the same numbers give the same future.
 *
 * A job takes as long as one of its last runs, and fails as often. In a dependent pipeline an item leaves behind those ahead of it, and
 * each time an item ahead fails, everything behind it begins anew. Executors are as busy as they were lately; semaphores that jobs wait
 * for are free when their holders have ended.
 */

import type { PlannedItem, PlannedJob } from './queue-plan.ts';
import { type Random, random } from './random.ts';
import type { RecentWork } from './recent-work.ts';
import { pick, remaining } from './remaining.ts';
import { type AwaitedSemaphores, type SemaphoreSlots, semaphoreSlots } from './semaphore-slots.ts';

/** How items of a queue depend on each other: `chain` one on top of the other, `turns` one after the other, `alone` not at all. */
export type QueueKind = 'chain' | 'turns' | 'alone';

/** Of a queue, and the same for all its rollouts. Times are milliseconds since the epoch. */
export interface RolloutRules {
  readonly kind: QueueKind;
  /** Items of a chain that run at the same time; 0: no limit. */
  readonly window: number;
  readonly now: number;
  readonly around: Pick<RecentWork, 'preparations' | 'waits' | 'reports'>;
  readonly awaited: AwaitedSemaphores;
}

/** What became of one item. */
export interface ItemFuture {
  /** Milliseconds since the epoch. */
  readonly leaves: number;
  readonly lands: boolean;
  /** Its jobs began anew, from now on. */
  readonly disturbed: boolean;
}

/** @param number of the rollout: each draws its own random numbers. */
export function rollout(
  items: readonly PlannedItem[],
  rules: RolloutRules,
  number: number,
): readonly ItemFuture[] {
  const width = widthOf(rules);
  const left: number[] = [];
  const futures: ItemFuture[] = [];
  const slots = semaphoreSlots(rules.awaited, rules.now, number);
  /** When the last item leaves that the following ones are tested on. */
  let landed = rules.now;
  let failedAt = Number.NEGATIVE_INFINITY;
  for (const [place, item] of items.entries()) {
    const draw = random(item.seed ^ Math.imul(number + 1, 0x9e_37_79_b9));
    const opens = width > 0 && place >= width ? (left[place - width] ?? rules.now) : rules.now;
    const disturbed = rules.kind === 'chain' && failedAt > rules.now;
    const run = runItem(
      item,
      Math.max(opens, disturbed ? failedAt : rules.now),
      disturbed,
      { ...rules, slots },
      draw,
    );
    const turn = rules.kind === 'alone' ? run.end : Math.max(run.end, landed);
    const leaves = turn + pick(rules.around.reports, draw());
    const lands = run.failedAt === null && (disturbed || !item.failing);
    if (lands) landed = Math.max(landed, leaves);
    // Those behind an item that has failed already have begun anew.
    else if (run.failedAt !== null && (disturbed || !item.failing))
      failedAt = Math.max(failedAt, run.failedAt);
    insert(left, leaves);
    futures.push({ leaves, lands, disturbed });
  }
  return futures;
}

/** Items that run at the same time; 0: no limit. */
function widthOf({ kind, window }: RolloutRules): number {
  return kind === 'turns' ? 1 : kind === 'chain' ? window : 0;
}

type RunRules = RolloutRules & { readonly slots: SemaphoreSlots };

/** @param anew what its jobs have done so far does not count. */
function runItem(
  item: PlannedItem,
  from: number,
  anew: boolean,
  rules: RunRules,
  draw: Random,
): { readonly end: number; readonly failedAt: number | null } {
  const isNew = anew || item.jobs.every(({ progress }) => progress.state === 'waiting');
  const begin = isNew ? from + pick(rules.around.preparations, draw()) : from;
  const ends: number[] = [];
  const failed: boolean[] = [];
  let end = begin;
  let failedAt: number | null = null;
  for (const job of item.jobs) {
    const parents = job.after.map(index => ends[index] ?? begin);
    const skipped = job.after.some(index => failed[index]);
    const ready = Math.max(begin, ...parents);
    const ran = skipped ? { end: ready, good: true } : runJob(job, ready, anew, rules, draw);
    ends.push(ran.end);
    failed.push(skipped || !ran.good);
    end = Math.max(end, ran.end);
    if (!ran.good && job.voting) failedAt = failedAt === null ? ran.end : Math.min(failedAt, ran.end);
  }
  return { end, failedAt };
}

function runJob(
  { progress, risk, semaphores, ...job }: PlannedJob,
  ready: number,
  anew: boolean,
  { now, around, slots }: RunRules,
  draw: Random,
): { readonly end: number; readonly good: boolean } {
  const wait = pick(around.waits, draw());
  const passes = draw() >= risk;
  const samples = passes || job.bad.length === 0 ? job.good : job.bad;
  const noise = Math.exp(spreadOf(samples) * 2 * (draw() + draw() + draw() - 1.5));
  const chance = draw();
  if (anew || progress.state === 'waiting') {
    const end = slots.readyAt(semaphores, ready) + wait + pick(samples, chance) * noise;
    slots.heldUntil(semaphores, end);
    return { end, good: passes };
  }
  switch (progress.state) {
    case 'ended':
      return { end: Math.min(now, progress.at), good: progress.good };
    case 'requested': {
      const taken = now + remaining(around.waits, now - progress.since, chance, 1);
      return { end: taken + pick(samples, draw()) * noise, good: passes };
    }
    case 'started':
      return {
        end: now + remaining(samples, now - progress.since, chance, noise),
        good: passes && !progress.failing,
      };
  }
}

/** Standard deviation of the logarithm: few samples say little of how far durations spread. */
function spreadOf(samples: readonly number[]): number {
  return 0.02 + 0.3 / Math.sqrt(samples.length + 1);
}

/** Keeps them sorted. */
function insert(sorted: number[], value: number): void {
  const place = sorted.findLastIndex(each => each <= value);
  sorted.splice(place + 1, 0, value);
}

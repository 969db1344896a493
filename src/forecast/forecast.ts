/**
 * When the items of a queue will leave it: the queue is played forward many times from where it is (rollout.ts), with what finished
 * items say about jobs (recent-work.ts). Pure, and bounded: about a hundredth of a second for the largest queue.
 *
 *     forecastQueues([{ kind: 'chain', window: 20, items }], recent, now).get(uuid)
 *     → { kind: 'known', place: 3, early: …, likely: …, late: …, lands: 0.93, undisturbed: 0.81 }
 *
 * Files, in the order of reading: item-work.ts (an item at one moment), recent-work.ts, queue-plan.ts, rollout.ts (random.ts,
 * remaining.ts, semaphore-slots.ts), this one, forecast-pipeline.ts, calibration.ts (how right it was).
 */
import type { Uuid } from '../lib/ids.ts';
import type { ManagerName } from '../model/pipeline.ts';
import type { ItemWork, QueuedWork } from './item-work.ts';
import { type PlannedItem, planItem, type Unknown } from './queue-plan.ts';
import type { RecentWork } from './recent-work.ts';
import { type ItemFuture, type QueueKind, rollout } from './rollout.ts';
import { slotsAwaited } from './semaphore-slots.ts';

/** Times are milliseconds since the epoch. */
export type Forecast =
  | {
      readonly kind: 'known';
      /** In its queue, 1 the head. */
      readonly place: number;
      /** One in ten leaves before that. */
      readonly early: number;
      readonly likely: number;
      /** One in ten leaves after that. */
      readonly late: number;
      /** How likely it leaves with success, 0 to 1. The times are those of its landing, if there is a chance of that. */
      readonly lands: number;
      /** How likely nothing ahead of it makes it begin anew, 0 to 1. */
      readonly undisturbed: number;
    }
  | { readonly kind: 'unknown'; readonly place: number; readonly why: Unknown };

/** A queue at one moment. */
export interface QueueWork {
  readonly kind: QueueKind;
  /** 0: no limit. */
  readonly window: number;
  /** Why an operator paused it; absent: it is not paused. */
  readonly paused?: string;
  /** The head first. */
  readonly items: readonly QueuedWork[];
}

/** Items of one queue that get a forecast: too much can happen before the others leave. */
const MOST_ITEMS = 100;
/** Jobs of all items of a pipeline that get one; each item counts as one more. */
const MOST_PLANNED = 2_000;
/** Jobs in all rollouts together, unless there would be fewer than the least rollouts: a bound of time. */
const MOST_JOBS = 20_000;
const ROLLOUTS = { least: 30, most: 200 } as const;

/** How the items of a pipeline's queues depend on each other. */
export function queueKindOf(manager: ManagerName): QueueKind {
  switch (manager) {
    case 'dependent':
      return 'chain';
    case 'serial':
    case 'supercedent':
      return 'turns';
    case 'independent':
      return 'alone';
  }
}

/** One for each item that runs jobs, but for those too far behind. @param queues of one pipeline. @param now milliseconds since the epoch. */
export function forecastQueues(
  queues: readonly QueueWork[],
  recent: RecentWork,
  now: number,
): ReadonlyMap<Uuid, Forecast> {
  const forecasts = new Map<Uuid, Forecast>();
  const room = { jobs: MOST_PLANNED };
  const plans = queues.map(queue => ({ ...queue, planned: planQueue(queue, recent, room, forecasts) }));
  const jobs = plans
    .flatMap(({ planned }) => planned)
    .reduce((sum, { plan }) => sum + plan.jobs.length + 1, 1);
  const rollouts = Math.max(ROLLOUTS.least, Math.min(ROLLOUTS.most, Math.floor(MOST_JOBS / jobs)));
  const awaited = slotsAwaited(
    plans.flatMap(({ planned }) => planned.map(({ plan }) => plan)),
    recent,
  );
  for (const { kind, window, planned } of plans) {
    const rules = { kind, window, now, around: recent, awaited };
    const futures: ItemFuture[][] = planned.map(() => []);
    const items = planned.map(({ plan }) => plan);
    for (let number = 0; number < rollouts; number++) {
      for (const [index, future] of rollout(items, rules, number).entries()) futures[index]?.push(future);
    }
    for (const [index, { uuid, place }] of planned.entries())
      forecasts.set(uuid, summary(place, futures[index] ?? []));
  }
  return forecasts;
}

interface Planned {
  readonly uuid: Uuid;
  readonly place: number;
  readonly plan: PlannedItem;
}

/** @param room becomes less by what is planned. @param forecasts gets those that are unknown. */
function planQueue(
  { kind, paused, items }: QueueWork,
  recent: RecentWork,
  room: { jobs: number },
  forecasts: Map<Uuid, Forecast>,
): readonly Planned[] {
  const planned: Planned[] = [];
  let stuck: number | undefined;
  for (const [index, item] of items.filter(({ isDependency }) => !isDependency).entries()) {
    if (index >= MOST_ITEMS || room.jobs <= 0) break;
    const place = index + 1;
    const plan = planBehind(item, stuck, paused, recent);
    room.jobs -= 'code' in plan ? 1 : plan.jobs.length + 1;
    if (!('code' in plan)) planned.push({ uuid: item.uuid, place, plan });
    else {
      forecasts.set(item.uuid, { kind: 'unknown', place, why: plan });
      if (kind !== 'alone') stuck ??= place;
    }
  }
  return planned;
}

/** @param stuck place of an item ahead of it that has no forecast. */
function planBehind(
  item: QueuedWork,
  stuck: number | undefined,
  paused: string | undefined,
  recent: RecentWork,
): PlannedItem | Unknown {
  if (stuck !== undefined && paused === undefined) return { code: 'ahead', place: stuck };
  const work = item.work();
  if (paused !== undefined && hasJobsToStart(work)) return { code: 'paused', reason: paused };
  return stuck === undefined ? planItem(work, recent) : { code: 'ahead', place: stuck };
}

function hasJobsToStart({ jobs, hasFailed }: ItemWork): boolean {
  return !hasFailed && (jobs === null || jobs.some(({ progress }) => progress.state === 'waiting'));
}

function summary(place: number, futures: readonly ItemFuture[]): Forecast {
  const landings = futures.filter(({ lands }) => lands);
  const times = (landings.length === 0 ? futures : landings)
    .map(({ leaves }) => leaves)
    .sort((a, b) => a - b);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(share * times.length))] ?? 0;
  return {
    kind: 'known',
    place,
    early: at(0.1),
    likely: at(0.5),
    late: at(0.9),
    lands: landings.length / futures.length,
    undisturbed: futures.filter(({ disturbed }) => !disturbed).length / futures.length,
  };
}

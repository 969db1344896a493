/**
 * Semaphores that jobs of a pipeline wait for, in one possible future: a slot is free when the job that holds it has ended, and the
 * jobs that wait take slots in the order of their items. Pure.
 *
 * One that no job waits for now counts as free: how many may hold it is not known here.
 */
import type { PlannedItem, PlannedJob } from './queue-plan.ts';
import { random } from './random.ts';
import type { RecentWork } from './recent-work.ts';
import { remaining } from './remaining.ts';

/** A slot that is held now. */
interface HeldSlot {
  /** Milliseconds since the epoch: since then the holder runs, or a job has waited for one that is not known. */
  readonly since: number;
  /** How long that took lately, in milliseconds. */
  readonly samples: readonly number[];
}

/** Slots by name of the semaphore, of those that jobs wait for; at least one each. */
export type AwaitedSemaphores = ReadonlyMap<string, readonly HeldSlot[]>;

/** @param items of one pipeline, those that are planned. A semaphore that none of them holds is held by others. */
export function slotsAwaited(
  items: readonly PlannedItem[],
  recent: Pick<RecentWork, 'semaphoreWaits'>,
): AwaitedSemaphores {
  const jobs = items.flatMap(item => item.jobs).filter(({ semaphores }) => semaphores.length > 0);
  const awaited = new Map<string, HeldSlot[]>();
  for (const { semaphores, awaitsSince } of jobs) {
    if (awaitsSince === undefined) continue;
    for (const name of semaphores) {
      if (awaited.has(name)) continue;
      const held = jobs.flatMap(job => (job.semaphores.includes(name) ? heldBy(job) : []));
      const elsewhere = { since: awaitsSince, samples: recent.semaphoreWaits(name) };
      awaited.set(name, held.length === 0 ? [elsewhere] : held);
    }
  }
  return awaited;
}

function heldBy({ progress, good }: PlannedJob): readonly HeldSlot[] {
  const { state } = progress;
  return state === 'started' || state === 'requested' ? [{ since: progress.since, samples: good }] : [];
}

/** Of one rollout. Times are milliseconds since the epoch. */
export interface SemaphoreSlots {
  /** @returns when a job that is ready then has all of them. */
  readyAt(names: readonly string[], ready: number): number;
  /** A job has held them until then. */
  heldUntil(names: readonly string[], end: number): void;
}

/** @param number of the rollout. */
export function semaphoreSlots(awaited: AwaitedSemaphores, now: number, number: number): SemaphoreSlots {
  if (awaited.size === 0) return FREE;
  const draw = random(Math.imul(number + 1, 0x85_eb_ca_6b));
  const slots = new Map(
    [...awaited].map(([name, held]) => [
      name,
      held.map(({ since, samples }) => now + remaining(samples, now - since, draw(), 1)),
    ]),
  );
  return {
    readyAt: (names, ready) =>
      names.reduce((time, name) => Math.max(time, Math.min(...(slots.get(name) ?? [time]))), ready),
    heldUntil(names, end) {
      for (const name of names) {
        const times = slots.get(name);
        if (times !== undefined) times[times.indexOf(Math.min(...times))] = end;
      }
    },
  };
}

const FREE: SemaphoreSlots = { readyAt: (_, ready) => ready, heldUntil: () => {} };

/**
 * When each item would have landed without a culprit: the landings of a queue, replayed without the resets that it caused.
 *
 *     begun             reset by C                    ready        landed
 *       ├─ first try ───────┤─ last try ────────────────┤─ … ───────┤
 *       ├─ as long as the last try ──┤─ … ───────┤ ghost
 *
 * An item is ready when a try of its last length ends, and lands behind the item that landed before it, after the same rest as it did.
 * Only the resets are taken away. Window, executors and the order of landing stay as they were, so that a ghost is rather late; and a
 * reset by another culprit that followed stays, too. Pure.
 */
import { fromMilliseconds, type Nanoseconds, toMilliseconds } from '../lib/clock.ts';
import type { Uuid } from '../lib/ids.ts';
import type { DelayedItem } from './delayed-item.ts';

/** Milliseconds since the epoch: comparing landings needs no nanoseconds. */
interface Landing {
  readonly item: Uuid;
  readonly landed: number;
  /** Its last try had passed. */
  readonly ready: number;
  /** From `ready`, or the landing before it if that is later, to `landed`. */
  readonly rest: number;
  /** When each try began; null: it never did. The last one is the one that landed. */
  readonly begun: readonly (number | null)[];
  /** Who ended each try but the last; null: no item. */
  readonly culprits: readonly (Uuid | null)[];
}

/** Those of one queue, in the order of time. */
export type QueueLandings = readonly Landing[];

/** An item that landed, and when it would have. */
export interface Ghost {
  readonly item: Uuid;
  readonly at: Nanoseconds;
  /** Milliseconds that it landed later. */
  readonly lateMs: number;
}

/** Of each queue, what it landed. */
export function landedByQueue(items: readonly DelayedItem[]): readonly QueueLandings[] {
  const landed = items.filter(({ ended }) => ended?.reason === 'reported' && ended.result === 'SUCCESS');
  return [...Map.groupBy(landed, ({ queue }) => queue).values()].map(ofQueue);
}

function ofQueue(items: readonly DelayedItem[]): QueueLandings {
  let before = Number.NEGATIVE_INFINITY;
  return items
    .map(item => ({ item, landed: toMilliseconds(item.until) }))
    .toSorted((a, b) => a.landed - b.landed)
    .map(({ item, landed }) => {
      const ended = item.tries.at(-1)?.ended ?? null;
      const ready = Math.min(landed, ended === null ? landed : toMilliseconds(ended));
      const rest = landed - Math.max(ready, before);
      before = landed;
      const byTry = new Map(item.resets.map(({ buildset, culprit }) => [buildset, culprit?.item ?? null]));
      return {
        ...{ item: item.item, landed, ready, rest },
        begun: item.tries.map(({ begun }) => (begun === null ? null : toMilliseconds(begun))),
        culprits: item.tries.slice(0, -1).map(({ number }) => byTry.get(number) ?? null),
      };
    });
}

/** Those that would have landed at least a millisecond earlier. */
export function ghostsWithout(queues: readonly QueueLandings[], culprit: Uuid): readonly Ghost[] {
  return queues.flatMap(landings => {
    let before = Number.NEGATIVE_INFINITY;
    return landings.flatMap(landing => {
      const at = Math.max(readyWithout(landing, culprit), before) + landing.rest;
      before = at;
      const lateMs = landing.landed - at;
      return lateMs < 1 ? [] : [{ item: landing.item, at: fromMilliseconds(at), lateMs }];
    });
  });
}

/** Its first try that only the culprit stood in the way of, from there on. */
function readyWithout({ ready, begun, culprits }: Landing, culprit: Uuid): number {
  const last = begun.at(-1) ?? null;
  if (last === null) return ready;
  const others = culprits.findLastIndex(each => each !== culprit);
  const first = begun.slice(others + 1).find(each => each !== null) ?? last;
  return Math.min(ready, first + (ready - last));
}

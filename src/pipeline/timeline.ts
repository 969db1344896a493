/**
 * The timeline tiles an item's life: each entry ends where the next begins. A state that lasted no time at all (a turn is
 * decided in several calls with one `now`) leaves no entry.
 */
import { laterOf, type Nanoseconds } from '../lib/clock.ts';
import type { ItemEvent, QueueItem, TimelineEntry } from '../model/queue-item.ts';

/** The same item when it is in that state already. */
export function inState(item: QueueItem, state: Omit<TimelineEntry, 'since'>, now: Nanoseconds): QueueItem {
  const last = item.timeline[item.timeline.length - 1] ?? item.timeline[0];
  if (isSame(last, state)) return item;
  const [first, ...rest] = item.timeline;
  const entry: TimelineEntry = { ...state, since: laterOf(now, last.since) };
  if (entry.since !== last.since) return { ...item, timeline: [first, ...rest, entry] };
  if (rest.length === 0) return { ...item, timeline: [entry] };
  const kept = rest.slice(0, -1);
  const previous = kept.at(-1) ?? first;
  return { ...item, timeline: isSame(previous, entry) ? [first, ...kept] : [first, ...kept, entry] };
}

/**
 * As {@link inState}, for a wait that begins when an earlier turn believed another state to begin: it takes the place of that, but is not
 * one with the same wait before it, whose end has been sent.
 */
export function inAnotherWait(
  item: QueueItem,
  state: Omit<TimelineEntry, 'since'>,
  since: Nanoseconds,
): QueueItem {
  const [first, ...rest] = item.timeline;
  const last = rest.at(-1);
  if (last === undefined || BigInt(since) > BigInt(last.since)) return inState(item, state, since);
  return { ...item, timeline: [first, ...rest.slice(0, -1), { ...state, since: last.since }] };
}

function isSame(a: Omit<TimelineEntry, 'since'>, b: Omit<TimelineEntry, 'since'>): boolean {
  return a.state === b.state && a.subject === b.subject && a.item === b.item;
}

/** Adds a point in time to the item: a span event in its trace. */
export function withEvent(item: QueueItem, event: ItemEvent): QueueItem {
  return { ...item, events: [...item.events, event] };
}

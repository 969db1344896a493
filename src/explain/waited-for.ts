/**
 * The items an item waited for, and their states meanwhile.
 *
 *     48s for acme/app master/logout,1a2b3c4d: running 40s, executor 8s
 *
 * The states that name another item are `change-ahead`, `hold-following`, `needed-change` and, where one item is tested at a
 * time, `window`.
 */
import type { Nanoseconds } from '../lib/clock.ts';
import type { Uuid } from '../lib/ids.ts';
import { between, earliest, isBefore, latest, sum } from '../lib/time-window.ts';
import type { StretchState } from '../model/item-states.ts';
import type { QueueItem } from '../model/queue-item.ts';
import { type Stretch, stretchesOf } from './stretches.ts';

/** All waits in one state for one item, added up. */
export interface WaitedFor {
  readonly item: Uuid;
  /** Its changes, as recorded by the scheduler. */
  readonly change: string;
  readonly state: StretchState;
  readonly duration: Nanoseconds;
  /** Its own states in that time, longest first; empty when its record is not available. */
  readonly meanwhile: readonly { readonly state: StretchState; readonly duration: Nanoseconds }[];
}

/** Maximum number of items read for one explanation: those waited for longest. */
const MOST_ITEMS = 20;

/** The items whose records {@link waitedForOf} needs. */
export function itemsWaitedFor(stretches: readonly Stretch[]): readonly Uuid[] {
  return [...new Set(groups(stretches).map(group => group.item))].slice(0, MOST_ITEMS);
}

/** @param others records of {@link itemsWaitedFor} by uuid, as far as they were found. @param until end of the stretches of open items. */
export function waitedForOf(
  stretches: readonly Stretch[],
  others: ReadonlyMap<Uuid, QueueItem> | undefined,
  until: Nanoseconds,
): readonly WaitedFor[] {
  return groups(stretches).map(({ waits, ...group }) => {
    const other = others?.get(group.item);
    return { ...group, meanwhile: other === undefined ? [] : statesWithin(stretchesOf(other, until), waits) };
  });
}

function groups(stretches: readonly Stretch[]) {
  const byItem = Map.groupBy(
    stretches.filter(stretch => stretch.whom !== undefined),
    stretch => `${stretch.whom} ${stretch.state}`,
  );
  const found = [...byItem.values()].flatMap(waits => {
    const [first] = waits;
    if (first?.whom === undefined) return [];
    const duration = sum(waits.map(wait => wait.duration));
    return { item: first.whom, change: first.subject ?? '', state: first.state, duration, waits };
  });
  return found.sort((a, b) => Number(BigInt(b.duration) - BigInt(a.duration)));
}

function statesWithin(states: readonly Stretch[], waits: readonly Stretch[]): WaitedFor['meanwhile'] {
  const sums = new Map<StretchState, Nanoseconds>();
  for (const wait of waits) {
    for (const state of states) {
      const [from, to] = [latest(state.from, wait.from), earliest(state.to, wait.to)];
      if (isBefore(from, to))
        sums.set(state.state, sum([sums.get(state.state) ?? between(from, from), between(from, to)]));
    }
  }
  return [...sums]
    .map(([state, duration]) => ({ state, duration }))
    .sort((a, b) => Number(BigInt(b.duration) - BigInt(a.duration)));
}

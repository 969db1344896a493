/**
 * What a turn begins with: the state, the events that are due, and the records of all changes in reach, judged against the
 * requirements. Events are facts: they stay in their queue until the commit.
 */
import type { Nanoseconds } from '../../lib/clock.ts';
import type { Uuid } from '../../lib/ids.ts';
import type { ChangeKey, ChangeRecord } from '../../model/change.ts';
import type { PipelineEvent } from '../../model/event.ts';
import type { PipelineState } from '../../model/pipeline-state.ts';
import type { TurnMemory } from '../../pipeline/turn.ts';
import type { QueueEntry } from '../../store/event-queue.ts';
import { type Gathered, gatherChangeFacts, gatheredFrom, holdsStill } from '../changes/change-facts.ts';
import type { PreparedFreeze } from './pending-freezes.ts';
import type { PipelineContext } from './pipeline-context.ts';
import { MOST_WAITING_HELD, MOST_WAITING_RECHECKS } from './rechecks.ts';

/** Bounds of one turn, set by the runner. */
export interface TurnLimits {
  /** Events taken at most, so that a commit stays small; the rest waits for the next turn. */
  readonly events: number;
  /** Milliseconds to wait for job graphs; events whose graph is not ready then wait for another turn. */
  readonly patience: number;
}

/** Of every turn but those that search for a failing event. */
export const USUAL_LIMITS: TurnLimits = { events: 200, patience: 50 };
/** To find an event that makes turns fail: it alone, or none. */
export const oneEvent = (entry: object | undefined): TurnLimits => ({
  events: entry === undefined ? 0 : 1,
  patience: Number.POSITIVE_INFINITY,
});

/** What a turn begins with. */
export interface KnownState {
  /** What is stored, as this holder knows it. */
  readonly state: PipelineState;
  /** Of the turn that ended so, decided with this very context; null: there was none. */
  readonly memory: TurnMemory | null;
  /** What the facts of the memory were gathered from. */
  readonly gathered: Gathered | null;
  /** A turn of this holder was measured, so all gauges have been set. */
  readonly isMeasured: boolean;
}

/** The events of one turn. */
export interface TakenEvents {
  readonly entries: readonly QueueEntry<PipelineEvent>[];
  readonly freezes: ReadonlyMap<Uuid, PreparedFreeze>;
  readonly events: readonly PipelineEvent[];
  /** The queue may hold further events. */
  readonly more: boolean;
  readonly mostPostponed: number;
  readonly mostHeld: number;
}

export async function takeEvents(
  { clock, rechecks, pending, events, changes }: PipelineContext,
  state: PipelineState,
  { events: limit, patience }: TurnLimits,
): Promise<TakenEvents> {
  const most = limit + rechecks.waiting + (limit === 1 ? 0 : pending.waiting);
  const listed = limit === 0 ? [] : await events.list(most);
  clock.catchUp(listed.map(entry => entry.value));
  const due = rechecks.due(listed, clock.now()).slice(0, limit === 1 ? 1 : most);
  const { taken, freezes } = await pending.sort(due, state, patience);
  await changes.fresh();
  return {
    entries: taken,
    freezes,
    events: taken.map(entry => entry.value),
    more: listed.length === most,
    mostPostponed: MOST_WAITING_RECHECKS - (listed.length - due.length),
    mostHeld: MOST_WAITING_HELD - (listed.length - due.length),
  };
}

type KnownChanges = ReturnType<typeof gatherChangeFacts>;

/** Gathered again only where something has changed since the turn before. */
export function knownChanges(
  context: PipelineContext,
  { state, memory, gathered }: KnownState,
  events: readonly PipelineEvent[],
  landed: ReadonlyMap<ChangeKey, ChangeRecord>,
  now: Nanoseconds,
): { readonly facts: KnownChanges; readonly gathered: Gathered } {
  const mark = context.changes.mark();
  const isUnchanged =
    gathered !== null && landed.size === 0 && holdsStill(gathered, state, events, { mark, now });
  if (isUnchanged && memory !== null) return { facts: memory.changes, gathered };
  const record = (key: ChangeKey) => landed.get(key) ?? context.record(key);
  const facts = gatherChangeFacts(state, events, { ...context, record }, now, memory?.changes);
  // A landing is in the cache, with a mark of its own, once the turn is stored.
  return { facts, gathered: gatheredFrom(state, facts, mark) };
}

/** When a requirement of a change in the pipeline may give another verdict. */
export function recheckTimesOf({ items }: PipelineState, changes: KnownChanges): readonly Nanoseconds[] {
  const times: Nanoseconds[] = [];
  for (const item of items.values())
    for (const { key } of item.changes) {
      const time = changes.get(key)?.requirements.recheckAt;
      if (time !== undefined) times.push(time);
    }
  return times;
}

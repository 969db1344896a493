/**
 * Reports: durable intents, carried out side by side, in lanes of connection and repository, those of one item in their order, answered
 * by an event to the pipeline.
 * Notes that are written at the same time share a push, and one that waits for its host holds up no other.
 *
 * The deed comes after the intent and before the answer, so a crash between them makes it happen again: drivers ask the
 * host first and find it done. No pipeline waits inside a turn for a host.
 *
 * Directly before each deed the right to do it is proved by a write under the fence and the layout in force, and the driver asks once more directly
 * before each push: a process that was stopped in between, for however long, does nothing when it goes on.
 *
 * A host that does not serve us:
 *
 *     the item waits for the answer    answered with `host`: the item is in its queue again, and waits where people see it
 *     landed, a note is left           answered as landed; the note is an intent of its own from then on
 *     nobody waits (start, refusal)    the intent stays, and is tried again, ever more rarely, for a day
 */

import { millisecondsBetween } from '../../lib/clock.ts';
import type { IdMaker } from '../../lib/ids.ts';
import { createLanes } from '../../lib/lanes.ts';
import { pause } from '../../lib/pause.ts';
import { createDirty } from '../../lib/signal.ts';
import type { Change } from '../../model/change.ts';
import { reportIntentCodec } from '../../model/codec/records.ts';
import type { PipelineEvent } from '../../model/event.ts';
import type { ReportIntent } from '../../model/report-intent.ts';
import type { EventQueue } from '../../store/event-queue.ts';
import type { Fence } from '../../store/fence.ts';
import { listOutbox, type OutboxEntry } from '../../store/outbox.ts';
import { type Operation, remove, type Store, set } from '../../store/port.ts';
import type { Quarantine } from '../../store/quarantine.ts';
import { wakeUps } from '../../store/wake-ups.ts';
import { reportLogFacts } from '../../tracing/log-facts.ts';
import { createLaterReports } from './later-reports.ts';
import { carryOut, type Deed, type DeedDeps, NotAllowedToAct } from './report-deed.ts';
import { type LayoutInForce, proveRight } from './right-to-act.ts';

export interface ReportLoopDeps extends Omit<DeedDeps, 'prove' | 'mayAct'> {
  readonly ids: IdMaker;
  readonly store: Store;
  /** Outbox of intents of one pipeline. */
  readonly outbox: string;
  readonly events: EventQueue<PipelineEvent>;
  /** Where intents go that nobody can read. */
  readonly quarantine: Quarantine;
  readonly layout: LayoutInForce;
}

/** Words that a host has not taken for so long are not said any more. */
const LONGEST_NOTE_HOURS = 24;

/**
 * Of one pipeline under way at a time: so many repositories, and so many intents of each, which share a push where they are notes. A
 * repository that hangs takes one place, however many reports there are for it.
 */
const AT_ONCE = { groups: 32, ofEach: 32 };
/** Timers may be a little early. */
const SLACK_MS = 20;

/** Carries out the intents of one pipeline, under its fence. Returns when aborted; throws when the fence is lost. */
export async function processReports(deps: ReportLoopDeps, fence: Fence, signal: AbortSignal): Promise<void> {
  const right = {
    mayAct: () => fence.held,
    prove: (change: Change) => proveRight(change, deps, fence, signal),
  };
  const lanes = createLanes(AT_ONCE);
  const stop = AbortSignal.any([signal, lanes.failed]);
  const taken = new Set<string>();
  const dirty = createDirty(true);
  const later = createLaterReports(deps.clock);
  const carry = async (intent: ReportIntent, path: string) => {
    // Its project's host may have failed another one while this waited for its turn.
    if (later.holds(intent)) {
      taken.delete(path);
      return;
    }
    const deed = await carryOutInContact(intent, { ...deps, ...right }, fence, stop);
    const operations = settled(intent, deed, path, deps);
    if (operations !== undefined) await fence.commit(operations, deps.ids.uuid());
    if (operations !== undefined && deed.unsaid === undefined) {
      if (deed.outcome.kind === 'done') later.done(intent);
      return;
    }
    taken.delete(path);
    void pause(later.add(intent, msNamed(deed, deps)) + SLACK_MS, stop).then(() => dirty.set());
  };
  try {
    for await (const _ of wakeUps(deps.store, deps.outbox, stop, ({ kind }) => kind === 'created', dirty)) {
      for (const entry of await newEntries(deps, taken)) {
        const node = await deps.store.get(entry.path);
        const intent = await deps.quarantine.read(reportIntentCodec, entry.path, node);
        if (intent === undefined) continue;
        if (later.holds(intent)) taken.delete(entry.path);
        else lanes.run({ group: repositoryOf(intent), key: laneOf(intent) }, () => carry(intent, entry.path));
      }
    }
  } catch (error) {
    lanes.stop(error);
  }
  try {
    await lanes.idle();
  } catch (error) {
    if (!signal.aborted || error !== signal.reason) throw error;
  }
}

/** Adds them to `taken`, and forgets there what has left the outbox. */
async function newEntries(
  { store, outbox }: ReportLoopDeps,
  taken: Set<string>,
): Promise<readonly OutboxEntry[]> {
  const entries = await listOutbox(store, outbox);
  const present = new Set(entries.map(({ path }) => path));
  for (const path of taken) if (!present.has(path)) taken.delete(path);
  const fresh = entries.filter(({ path }) => !taken.has(path));
  for (const { path } of fresh) taken.add(path);
  return fresh;
}

/** Its connection and repository; of several, the first. */
function repositoryOf({ parts, uuid }: ReportIntent): string {
  return parts[0]?.change.project ?? uuid;
}

/** Reports that must keep their order: start before success. An item merges when all ahead of it have left, so merges do by themselves. */
function laneOf({ item, parts, uuid }: ReportIntent): string {
  return item ?? parts[0]?.change.key ?? uuid;
}

/** What ends the intent, or leaves of it what is still to be said; undefined: all of it is to be tried again later. */
function settled(
  intent: ReportIntent,
  deed: Deed,
  path: string,
  deps: ReportLoopDeps,
): readonly Operation[] | undefined {
  if (deed.outcome.kind === 'host' && intent.awaited !== true) {
    const hours = millisecondsBetween(intent.requestedAt, deps.clock.now()) / 3_600_000;
    if (hours < LONGEST_NOTE_HOURS || intent.parts.some(part => part.merges && intent.answered !== true))
      return undefined;
    deps.log.error(reportLogFacts(intent), 'a code host did not take a report for a day; it is given up');
    return [
      remove(path),
      ...answer(intent, { ...deed, outcome: { kind: 'failed', text: deed.outcome.trouble.text } }, deps),
    ];
  }
  const rest =
    deed.unsaid === undefined
      ? remove(path)
      : set(path, reportIntentCodec.encode({ ...withoutWaiter(intent), parts: deed.unsaid, answered: true }));
  return [rest, ...answer(intent, deed, deps)];
}

/** Milliseconds until the time the host named; 0: it named none. */
function msNamed({ outcome }: Deed, { clock }: ReportLoopDeps): number {
  const notBefore = outcome.kind === 'host' ? outcome.trouble.notBefore : undefined;
  return notBefore === undefined ? 0 : Math.max(0, millisecondsBetween(clock.now(), notBefore));
}

function withoutWaiter({ awaited: _, ...intent }: ReportIntent): ReportIntent {
  return intent;
}

function answer(intent: ReportIntent, { outcome, parts }: Deed, deps: ReportLoopDeps): readonly Operation[] {
  if (intent.item === null || intent.answered === true) return [];
  return deps.events.put({
    kind: 'report-result',
    uuid: deps.ids.uuid(),
    item: intent.item,
    report: intent.uuid,
    at: deps.clock.now(),
    outcome,
    parts,
  });
}

/** A contact that is lost for a while between the proof and the deed costs a repetition, not the fence. */
async function carryOutInContact(
  intent: ReportIntent,
  deps: DeedDeps,
  fence: Fence,
  signal: AbortSignal,
): Promise<Deed> {
  for (;;) {
    try {
      return await carryOut(intent, deps, signal);
    } catch (error) {
      if (!(error instanceof NotAllowedToAct) || fence.lost.aborted) throw error;
    }
  }
}

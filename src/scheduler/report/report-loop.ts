/**
 * Performs reports: durable intents, side by side in lanes of connection and repository, those of one item in their order. Each is
 * answered with an event to the pipeline. Comments written at the same time share a push, and one that waits for its host delays no
 * other.
 *
 * The host is written to after the intent is stored and before the answer is, so a crash in between repeats it: drivers ask the
 * host first and find it done. No turn waits for a host.
 *
 * Directly before each write at the host, the right to act is proved by a commit under the fence and the layout in force, and the
 * driver asks once more directly before each push: a process that was stopped in between, for any time, does nothing when it resumes.
 *
 * A host that does not serve:
 *
 *     the item waits for the answer    answered with `host`: the item is in its queue again, and waits where people see it
 *     landed, a comment is left        answered as landed; the comment is an intent of its own from then on
 *     no item waits (start, refusal)   the intent stays, and is retried with growing pauses, for a day
 */

import { millisecondsBetween } from '../../lib/clock.ts';
import type { IdMaker } from '../../lib/ids.ts';
import { createLanes, type Lanes } from '../../lib/lanes.ts';
import { pause } from '../../lib/pause.ts';
import { createDirty } from '../../lib/signal.ts';
import { leadChange } from '../../model/about-item.ts';
import type { Change } from '../../model/change.ts';
import { reportIntentCodec } from '../../model/codec/records.ts';
import type { PipelineEvent } from '../../model/event.ts';
import type { QueueItem } from '../../model/queue-item.ts';
import type { ReportIntent } from '../../model/report-intent.ts';
import type { EventQueue } from '../../store/event-queue.ts';
import type { Fence } from '../../store/fence.ts';
import { type Operation, remove, type Store, set } from '../../store/port.ts';
import type { Quarantine } from '../../store/quarantine.ts';
import { wakeUps } from '../../store/wake-ups.ts';
import { reportLogFacts } from '../../tracing/log-facts.ts';
import { createLaterReports } from './later-reports.ts';
import type { LiveProgress, ProgressActing } from './live-progress.ts';
import {
  NotAllowedToAct,
  type PerformedReport,
  type PerformReportDeps,
  performReport,
} from './perform-report.ts';
import { createOffers, type Offer } from './report-offers.ts';
import { type LayoutInForce, proveRight } from './right-to-act.ts';

/** Of one pipeline, passed by its holder. */
export interface ReportLoopDeps extends Omit<PerformReportDeps, 'prove' | 'mayAct' | 'isFirstTry' | 'since'> {
  readonly ids: IdMaker;
  readonly store: Store;
  /** Outbox of intents of one pipeline. */
  readonly outbox: string;
  readonly events: EventQueue<PipelineEvent>;
  /** For unreadable intents. */
  readonly quarantine: Quarantine;
  readonly layout: LayoutInForce;
  /** Shares the lanes of the reports. Absent: nothing is shown before its result. */
  readonly progress?: LiveProgress;
}

/** Comments that a host has not taken for so long are given up. */
const LONGEST_NOTE_HOURS = 24;

/**
 * Of one pipeline at a time: so many repositories, and so many intents of each; comments share a push. A repository that hangs takes
 * one place, however many reports there are for it.
 */
const AT_ONCE = { groups: 32, ofEach: 32 };
/** Timers may be a little early. */
const SLACK_MS = 20;

/** Carries out the intents of one pipeline, under its fence. Returns when aborted; throws when the fence is lost. */
export async function processReports(deps: ReportLoopDeps, fence: Fence, signal: AbortSignal): Promise<void> {
  const right = {
    since: deps.clock.now(),
    mayAct: () => fence.held,
    prove: (change: Change) => proveRight(change, deps, fence, signal),
  };
  const lanes = createLanes(AT_ONCE);
  const stop = AbortSignal.any([signal, lanes.failed]);
  const dirty = createDirty(true);
  const later = createLaterReports(deps.clock);
  const offers = await createOffers(deps);
  const perform = async (intent: ReportIntent, { path, isFirst }: Offer) => {
    // The host may have failed with another report of the project meanwhile.
    if (later.holds(intent)) {
      offers.putBack(path);
      return;
    }
    const performed = await performInContact(intent, { ...deps, ...right, isFirstTry: isFirst }, fence, stop);
    const operations = settled(intent, performed, path, deps);
    if (operations !== undefined) await fence.commit(operations, deps.ids.uuid());
    if (operations !== undefined && performed.unsent === undefined) {
      if (performed.outcome.kind === 'done') later.done(intent);
      return;
    }
    offers.putBack(path);
    void pause(later.add(intent, msNamed(performed, deps)) + SLACK_MS, stop).then(() => dirty.set());
  };
  const acting: ProgressActing = {
    inLane: (item, task) => inLane(item, task, lanes, stop),
    mayAct: right.mayAct,
    commit: operations => fence.commit(operations, deps.ids.uuid()),
  };
  const showing = deps.progress?.run(acting, stop).catch(error => lanes.stop(error));
  try {
    for await (const _ of wakeUps(deps.store, deps.outbox, stop, ({ kind }) => kind === 'created', dirty)) {
      for (const entry of await offers.next()) {
        const node = await deps.store.get(entry.path);
        const intent = await deps.quarantine.read(reportIntentCodec, entry.path, node);
        if (intent === undefined) continue;
        if (later.holds(intent)) offers.putBack(entry.path);
        else lanes.run({ group: repositoryOf(intent), key: laneOf(intent) }, () => perform(intent, entry));
      }
    }
  } catch (error) {
    lanes.stop(error);
  }
  try {
    await showing;
    await lanes.idle();
  } catch (error) {
    if (!signal.aborted || error !== signal.reason) throw error;
  }
}

/** Its connection and repository; of several, the first. */
function repositoryOf({ parts, uuid }: ReportIntent): string {
  return parts[0]?.change.project ?? uuid;
}

/** Reports of one lane keep their order: start before success. Landings need none: an item lands when all ahead of it have left. */
function laneOf({ item, parts, uuid }: ReportIntent): string {
  return item ?? parts[0]?.change.key ?? uuid;
}

/** Behind the reports of the item that run or wait. Stopped before its turn, the task does not begin. */
async function inLane(
  item: QueueItem,
  task: () => Promise<void>,
  lanes: Lanes,
  stop: AbortSignal,
): Promise<void> {
  const ended = Promise.withResolvers<void>();
  const giveUp = () => ended.resolve();
  stop.addEventListener('abort', giveUp, { once: true });
  lanes.run({ group: leadChange(item).project, key: item.uuid }, async () => {
    if (!stop.aborted) await task().finally(giveUp);
  });
  await ended.promise;
  stop.removeEventListener('abort', giveUp);
}

/** Operations that remove the intent, or reduce it to the parts still to be sent; undefined: all of it is retried later. */
function settled(
  intent: ReportIntent,
  performed: PerformedReport,
  path: string,
  deps: ReportLoopDeps,
): readonly Operation[] | undefined {
  if (performed.outcome.kind === 'host' && intent.awaited !== true) {
    const hours = millisecondsBetween(intent.requestedAt, deps.clock.now()) / 3_600_000;
    if (hours < LONGEST_NOTE_HOURS || intent.parts.some(part => part.merges && intent.answered !== true))
      return undefined;
    deps.log.error(
      reportLogFacts(intent),
      'a code host did not take a report for a day; the report is given up',
    );
    return [
      remove(path),
      ...answer(
        intent,
        { ...performed, outcome: { kind: 'failed', text: performed.outcome.trouble.text } },
        deps,
      ),
    ];
  }
  const rest =
    performed.unsent === undefined
      ? remove(path)
      : set(
          path,
          reportIntentCodec.encode({ ...withoutAwaited(intent), parts: performed.unsent, answered: true }),
        );
  return [rest, ...answer(intent, performed, deps)];
}

/** Milliseconds until the time the host named; 0: it named none. */
function msNamed({ outcome }: PerformedReport, { clock }: ReportLoopDeps): number {
  const notBefore = outcome.kind === 'host' ? outcome.trouble.notBefore : undefined;
  return notBefore === undefined ? 0 : Math.max(0, millisecondsBetween(clock.now(), notBefore));
}

function withoutAwaited({ awaited: _, ...intent }: ReportIntent): ReportIntent {
  return intent;
}

function answer(
  intent: ReportIntent,
  { outcome, parts }: PerformedReport,
  deps: ReportLoopDeps,
): readonly Operation[] {
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

/** Lost contact with the store between the proof and the write at the host costs a repetition, not the fence. */
async function performInContact(
  intent: ReportIntent,
  deps: PerformReportDeps,
  fence: Fence,
  signal: AbortSignal,
): Promise<PerformedReport> {
  let { isFirstTry } = deps;
  for (;;) {
    try {
      return await performReport(intent, { ...deps, isFirstTry }, signal);
    } catch (error) {
      if (!(error instanceof NotAllowedToAct) || fence.lost.aborted) throw error;
      isFirstTry = false;
    }
  }
}

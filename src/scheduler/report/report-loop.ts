/**
 * Performs reports: durable intents, side by side in lanes of connection and repository, those of one item in their order. Each is
 * answered with an event to the pipeline. Comments written at the same time share a push, and one that waits for its host delays no
 * other. Landings have places of their own, which no comment takes; those of items that land together are one task, and are answered
 * in one commit.
 *
 * The host is written to after the intent is stored and before the answer is, so a crash in between repeats it: drivers ask the
 * host first and find it done. No turn waits for a host.
 *
 * A map of the folder:
 *
 *     intents        report-intents (from the commands of a turn; report-facts, report-text, reported-trace) → stored-report
 *     performing     report-offers → report-groups → perform-report → perform-part, part-record; right-to-act, withheld-report;
 *                    later-reports (no item waits for them)
 *     messages       message-intents (reported-item), watched-messengers: to connections that only take reports
 *     several        perform-together → land-in-order, then perform-report for each
 *     live texts     live-progress → show-at, progress-report
 *     the log        host-alarm
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
import { createLanes, type Lane, type Lanes } from '../../lib/lanes.ts';
import { pause } from '../../lib/pause.ts';
import { createDirty } from '../../lib/signal.ts';
import { leadChange } from '../../model/about-item.ts';
import type { Change } from '../../model/change.ts';
import { reportIntentCodec } from '../../model/codec/records.ts';
import type { PipelineEvent } from '../../model/event.ts';
import type { ReportIntent } from '../../model/report-intent.ts';
import type { EventQueue } from '../../store/event-queue.ts';
import type { Fence } from '../../store/fence.ts';
import { type Operation, remove, type Store, set } from '../../store/port.ts';
import type { Quarantine } from '../../store/quarantine.ts';
import { wakeUps } from '../../store/wake-ups.ts';
import { reportLogFacts } from '../../tracing/log-facts.ts';
import { createLaterReports, type LaterReports, type ReportPlace } from './later-reports.ts';
import type { LiveProgress, ProgressActing } from './live-progress.ts';
import { NotAllowedToAct, type PerformReportDeps } from './perform-part.ts';
import { type PerformedReport, performReport } from './perform-report.ts';
import { performTogether } from './perform-together.ts';
import { groupsOf, inCommits, type OfferedReport } from './report-groups.ts';
import { createOffers, type ReportOffers } from './report-offers.ts';
import { type LayoutInForce, proveRight } from './right-to-act.ts';

/** Of one pipeline, passed by its holder. */
export interface ReportLoopDeps extends Omit<PerformReportDeps, 'prove' | 'mayAct' | 'isFirstTry' | 'since'> {
  readonly ids: IdMaker;
  readonly store: Store;
  /** Outbox of intents of one pipeline. */
  readonly outbox: string;
  readonly events: EventQueue<PipelineEvent>;
  /** What of a report serves or does not, and has its lanes. Default: the change's project, as at a code host. */
  readonly placeOf?: ReportPlace;
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
 * two places, one for landings and one for comments, however many reports there are for it.
 */
const AT_ONCE = { groups: 64, ofEach: 32 };
/** Timers may be a little early. */
const SLACK_MS = 20;

/** Carries out the intents of one pipeline, under its fence. Returns when aborted; throws when the fence is lost. */
export async function processReports(deps: ReportLoopDeps, fence: Fence, signal: AbortSignal): Promise<void> {
  const right = {
    since: deps.clock.now(),
    mayAct: () => fence.held,
    prove: (changes: readonly [Change, ...Change[]]) => proveRight(changes, deps, fence, signal),
  };
  const lanes = createLanes(AT_ONCE);
  const stop = AbortSignal.any([signal, lanes.failed]);
  const dirty = createDirty(true);
  const later = createLaterReports(deps.clock, deps.placeOf);
  const offers = await createOffers(deps);
  const carry = createCarrier({ deps, right, fence, lanes, stop, later, offers, dirty });
  const acting: ProgressActing = {
    inLane: (item, task) => inLane({ group: leadChange(item).project, key: item.uuid }, task, lanes, stop),
    mayAct: right.mayAct,
    mayShow: async change => (await deps.layout.standingOf(change)).standing === 'held',
    commit: operations => fence.commit(operations, deps.ids.uuid()),
  };
  const showing = deps.progress?.run(acting, stop).catch(error => lanes.stop(error));
  try {
    for await (const _ of wakeUps(deps.store, deps.outbox, stop, ({ kind }) => kind === 'created', dirty)) {
      const offered: OfferedReport[] = [];
      for (const offer of await offers.next()) {
        const node = await deps.store.get(offer.path);
        const intent = await deps.quarantine.read(reportIntentCodec, offer.path, node);
        if (intent === undefined) continue;
        if (later.holds(intent)) offers.putBack(offer.path);
        else offered.push({ intent, offer });
      }
      for (const group of groupsOf(offered)) {
        const [first] = group;
        if (first.intent.together !== undefined)
          lanes.run(laneOfLanding(first.intent), () => carry.together(group));
        else lanes.run(laneOfReport(first.intent, deps.placeOf), () => carry.one(first));
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

interface Carrying {
  readonly deps: ReportLoopDeps;
  readonly right: Pick<PerformReportDeps, 'since' | 'mayAct' | 'prove'>;
  readonly fence: Fence;
  readonly lanes: Lanes;
  readonly stop: AbortSignal;
  readonly later: LaterReports;
  readonly offers: ReportOffers;
  readonly dirty: Pick<ReturnType<typeof createDirty>, 'set'>;
}

/** Performs reports and commits what came of them. */
function createCarrier({ deps, right, fence, lanes, stop, later, offers, dirty }: Carrying) {
  const leave = ({ intent, offer }: OfferedReport, performed: PerformedReport, isSettled: boolean) => {
    if (isSettled && performed.unsent === undefined) {
      if (performed.outcome.kind === 'done') later.done(intent);
      return;
    }
    offers.putBack(offer.path);
    void pause(later.add(intent, msNamed(performed, deps)) + SLACK_MS, stop).then(() => dirty.set());
  };
  const one = async (offered: OfferedReport) => {
    const { intent, offer } = offered;
    // The host may have failed with another report of the project meanwhile.
    if (later.holds(intent)) {
      offers.putBack(offer.path);
      return;
    }
    const acting = { ...deps, ...right, isFirstTry: offer.isFirst };
    const performed = await inContact(acting, fence, each => performReport(intent, each, stop));
    const operations = settled(intent, performed, offer.path, deps);
    if (operations !== undefined) await fence.commit(operations, deps.ids.uuid());
    leave(offered, performed, operations !== undefined);
  };
  const together = async (group: readonly OfferedReport[]) => {
    const intents = group.map(({ intent }) => intent);
    const acting = {
      ...{ ...deps, ...right, isFirstTry: group.every(({ offer }) => offer.isFirst) },
      inLane: (intent: ReportIntent, task: () => Promise<void>) =>
        inLane({ group: repositoryOf(intent), key: laneOf(intent) }, task, lanes, stop),
    };
    const all = await inContact(acting, fence, each => performTogether(intents, each, stop));
    const answered = group.flatMap((offered, index) => {
      const performed = all[index];
      return performed === undefined ? [] : [{ offered, performed }];
    });
    const answers = answered.map(
      ({ offered: { intent, offer }, performed }) => settled(intent, performed, offer.path, deps) ?? [],
    );
    for (const operations of inCommits(answers)) await fence.commit(operations, deps.ids.uuid());
    for (const { offered, performed } of answered) leave(offered, performed, true);
  };
  return { one, together };
}

/** Its connection and repository; of several, the first. */
function repositoryOf({ parts, uuid }: ReportIntent): string {
  return parts[0]?.change.project ?? uuid;
}

function laneOfReport(intent: ReportIntent, placeOf: ReportPlace | undefined): Lane {
  const [first] = intent.parts;
  if (placeOf !== undefined && first !== undefined)
    return { group: placeOf(first), key: `${placeOf(first)} ${laneOf(intent)}` };
  const group = repositoryOf(intent);
  const lands = intent.parts.some(({ merges }) => merges);
  return { group: lands ? `landings of ${group}` : group, key: laneOf(intent) };
}

/** Of intents that land together. Some of them may be offered later, when the commit with all of them was a large one. */
function laneOfLanding(intent: ReportIntent): Lane {
  return { group: `landings of ${repositoryOf(intent)}`, key: `landing ${intent.together}` };
}

/** Reports of one lane keep their order: start before success. */
function laneOf({ item, parts, uuid }: ReportIntent): string {
  return item ?? parts[0]?.change.key ?? uuid;
}

/** Behind the reports of the lane that run or wait. Stopped before its turn, the task does not begin. */
async function inLane(lane: Lane, task: () => Promise<void>, lanes: Lanes, stop: AbortSignal): Promise<void> {
  const ended = Promise.withResolvers<void>();
  const giveUp = () => ended.resolve();
  stop.addEventListener('abort', giveUp, { once: true });
  lanes.run(lane, async () => {
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

function withoutAwaited({ awaited: _, together: __, ...intent }: ReportIntent): ReportIntent {
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
async function inContact<Deps extends PerformReportDeps, Performed>(
  deps: Deps,
  fence: Fence,
  perform: (deps: Deps) => Promise<Performed>,
): Promise<Performed> {
  let { isFirstTry } = deps;
  for (;;) {
    try {
      return await perform({ ...deps, isFirstTry });
    } catch (error) {
      if (!(error instanceof NotAllowedToAct) || fence.lost.aborted) throw error;
      isFirstTry = false;
    }
  }
}

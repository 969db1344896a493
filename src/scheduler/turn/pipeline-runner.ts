/**
 * A pipeline's life in one scheduler: take the fence, load what is stored, then one turn per wake-up until the fence is lost.
 *
 * A wake-up is an entry in the pipeline's event queue, or a poke (new layout, changed facts). A turn that throws is taken
 * again with one event only; the event that keeps failing is laid aside after a few attempts, so that one poisoned event
 * neither stops a pipeline nor disappears.
 *
 * One scheduler holds it at a time; the others stand by and go on at once where it died: same items, same places, same traces.
 */

import { millisecondsBetween, type Nanoseconds } from '../../lib/clock.ts';
import type { IdMaker } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import { pause } from '../../lib/pause.ts';
import { createDirty, type Dirty } from '../../lib/signal.ts';
import type { MetricsSink } from '../../metrics/registry.ts';
import { isNewerRecord } from '../../model/codec/record.ts';
import type { PipelineEvent } from '../../model/event.ts';
import type { PipelineState } from '../../model/pipeline-state.ts';
import { isHostUnasked, nextHostRetry } from '../../pipeline/host-wait.ts';
import type { Arrival } from '../../pipeline/takeovers.ts';
import { isOutOfContact } from '../../store/connection.ts';
import { ensureNode } from '../../store/ensure-node.ts';
import type { EventQueue } from '../../store/event-queue.ts';
import { type Fence, Fenced } from '../../store/fence.ts';
import { preparePipeline } from '../../store/load-pipeline.ts';
import type { StorePaths } from '../../store/paths.ts';
import type { Store } from '../../store/port.ts';
import { pipelineEventLogFacts } from '../../tracing/log-facts.ts';
import { type SettleDeps, settleLostWork } from '../care/settle-lost-work.ts';
import type { FairShare, Held } from '../fair-share.ts';
import { fencedLoop, type LoopDeps, runTogether } from '../loop.ts';
import { createHostAlarm } from '../report/host-alarm.ts';
import { processReports, type ReportLoopDeps } from '../report/report-loop.ts';
import { layoutInForce } from '../report/right-to-act.ts';
import type { TenantLayout } from '../tenant/tenant-layout.ts';
import { arrivalAt, sayGoodbye } from './arrival.ts';
import type { PipelineContext } from './pipeline-context.ts';
import { oneEvent, pipelineTurn, USUAL_LIMITS } from './pipeline-turn.ts';
import { createPriorityRevision } from './revise-priorities.ts';
import { blobsOf, storedState } from './stored-state.ts';

/** A turn with the same first event fails this often before that event is laid aside. */
const MAX_ATTEMPTS = 4;
/** Turns in a row that could not be committed: more than that is no coincidence. */
const MAX_AGAIN = 50;
/** Milliseconds between looks for work that got lost without anybody noticing. */
const CARE_INTERVAL = 60_000;

export interface PipelineRunnerDeps extends LoopDeps {
  readonly tenant: string;
  readonly pipeline: string;
  readonly ids: IdMaker;
  readonly store: Store;
  readonly paths: StorePaths;
  readonly log: Log;
  readonly events: EventQueue<PipelineEvent>;
  readonly layout: Pick<TenantLayout, 'upToDate' | 'refresh' | 'settled'>;
  /** With the current layout; called once per turn. */
  context(): PipelineContext;
  readonly lostWork: Omit<SettleDeps, 'events'>;
  readonly reports: Omit<ReportLoopDeps, 'layout'>;
  readonly share: FairShare;
  readonly metrics: MetricsSink | undefined;
  /** Of this process, for people. */
  readonly name: string;
}

export interface PipelineRunner {
  /** Something outside the pipeline's own queue is different: look again. */
  poke(): void;
  run(signal: AbortSignal): Promise<void>;
}

export function createPipelineRunner(deps: PipelineRunnerDeps): PipelineRunner {
  const dirty = createDirty();
  const places = deps.paths.pipeline(deps.tenant, deps.pipeline);
  return {
    poke: () => dirty.set(),
    async run(signal) {
      await preparePipeline(deps.store, places, signal);
      await deps.events.prepare(signal);
      await ensureNode(deps.store, deps.reports.outbox, signal);
      using watch = deps.store.watch(places.eventQueue, event => {
        if (event.kind !== 'deleted') dirty.set();
      });
      void watch;
      const request = {
        lockPath: places.lock,
        epochPath: places.epoch,
        lastOperationPath: places.lastOperation,
        guid: deps.ids.uuid(),
      };
      const name = `pipeline ${deps.tenant}/${deps.pipeline}`;
      await fencedLoop(name, request, deps, signal, async (fence, stop) => {
        try {
          await tenure(deps, dirty, fence, stop);
        } finally {
          // Whoever holds it next tells how full it is.
          deps.metrics?.forget({ tenant: deps.tenant, pipeline: deps.pipeline });
        }
      });
    },
  };
}

async function tenure(
  deps: PipelineRunnerDeps,
  dirty: Dirty,
  fence: Fence,
  signal: AbortSignal,
): Promise<void> {
  using held = deps.share.hold();
  await deps.lostWork.mergeRequests.prepare(signal);
  await deps.lostWork.buildRequests.prepare(signal);
  await runTogether(AbortSignal.any([signal, fence.lost]), stop => [
    turning(deps, dirty, held, fence, stop),
    processReports({ ...deps.reports, layout: layoutInForce(deps.layout, deps.context) }, fence, stop),
    wakeRegularly(dirty, stop),
  ]);
}

/** Turns, one after the other, until aborted, or until the pipeline is for another scheduler. */
async function turning(
  deps: PipelineRunnerDeps,
  dirty: Dirty,
  held: Held,
  fence: Fence,
  signal: AbortSignal,
): Promise<void> {
  await deps.layout.upToDate();
  let state = await storedState(deps, fence);
  const arrival = await arrivalAt(state, { ...deps, clock: deps.context().clock });
  tellArrival(arrival, deps.log);
  const goodbye = () =>
    sayGoodbye(state, arrival, fence, {
      ...deps,
      clock: deps.context().clock,
      counters: deps.paths.pipeline(deps.tenant, deps.pipeline).state,
    });
  let careAt = Number.NEGATIVE_INFINITY;
  // Not at once: two that both think they hold too much would hand it to and fro and never work.
  const keepUntil = deps.clock.monotonic() + CARE_INTERVAL;
  let again = 0;
  const revise = createPriorityRevision();
  const alarm = createHostAlarm(deps.log);
  const hostTimer = createTimer(dirty, signal);
  const recheckTimer = createTimer(dirty, signal);
  dirty.set();
  for (;;) {
    held.items = state.items.size;
    try {
      await dirty.wait(signal);
    } catch (error) {
      await goodbye();
      throw error;
    }
    await deps.layout.upToDate();
    if (deps.clock.monotonic() >= careAt) {
      await settleLostWork(state, { ...deps.lostWork, events: deps.events }, deps.context(), fence);
      careAt = deps.clock.monotonic() + CARE_INTERVAL;
      const contenders = await contendersBeside(deps, fence);
      if (deps.clock.monotonic() >= keepUntil && isForOthers(contenders, deps)) {
        held[Symbol.dispose]();
        await goodbye();
        return;
      }
    }
    const lookedAt = deps.context().clock.now();
    const before = state;
    const end = await turn(deps, state, arrival, fence, dirty);
    again = end === 'again' ? again + 1 : 0;
    if (again > MAX_AGAIN) throw new Error(`${MAX_AGAIN} turns in a row could not be committed`);
    state = end === 'again' ? await storedState(deps, fence) : end;
    await revise(state, deps.context(), fence);
    const now = deps.context().clock.now();
    alarm.look(state, now);
    // By the time of the look: a commit may take longer than a host is left alone.
    hostTimer(nextHostRetry(state.items.values(), lookedAt), now);
    recheckTimer(deps.context().rechecks.next(lookedAt), now);
    if (state !== before && isHostUnasked(state.items.values(), lookedAt)) dirty.set();
    deps.context().graphs.retain(new Set(blobsOf(state)));
  }
}

function tellArrival({ takeover }: Arrival, log: Log): void {
  if (takeover === null) return;
  const { from, how, since, at } = takeover;
  const ms = Math.round(millisecondsBetween(since, at));
  const was = how === 'lost' ? 'was gone' : 'gave it up';
  log.info(
    { from, how, ms },
    `the pipeline is taken over: ${from} ${was}, and no scheduler held it for ${ms} ms`,
  );
}

/** Timers may be a little early. */
const SLACK_MS = 20;

/** Timers of this length and less are exact; what is later is looked at once more by then. */
const LONGEST_TIMER_MS = 86_400_000;

/** @returns sets when there is something to do by time alone; null: at no time yet. */
function createTimer(dirty: Dirty, signal: AbortSignal) {
  let pending: Nanoseconds | null = null;
  return (time: Nanoseconds | null, now: Nanoseconds): void => {
    if (time === null || time === pending) return;
    pending = time;
    const ms = Math.min(LONGEST_TIMER_MS, Math.max(0, millisecondsBetween(now, time)));
    void pause(ms + SLACK_MS, signal).then(() => {
      if (pending === time) pending = null;
      dirty.set();
    });
  };
}

/**
 * Who wants the pipeline, the holder among them.
 *
 * @throws Fenced when our place in the lock is gone: a pipeline without work would not notice by itself, and count as held.
 */
async function contendersBeside({ store, paths, tenant, pipeline }: PipelineRunnerDeps, fence: Fence) {
  const { lock } = paths.pipeline(tenant, pipeline);
  const contenders = (await store.children(lock)) ?? [];
  if (!contenders.includes(fence.contender)) throw new Fenced(lock, 'not-applied');
  return contenders;
}

function isForOthers(contenders: readonly string[], { share, log }: PipelineRunnerDeps): boolean {
  if (!share.isExceeded(contenders.length)) return false;
  log.info(
    {},
    'this scheduler holds more than its share of the pipelines; another one goes on with this one',
  );
  return true;
}

async function wakeRegularly(dirty: Dirty, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await pause(CARE_INTERVAL, signal);
    dirty.set();
  }
}

async function turn(
  deps: PipelineRunnerDeps,
  state: PipelineState,
  arrival: Arrival,
  fence: Fence,
  dirty: Dirty,
): Promise<PipelineState | 'again'> {
  try {
    const end = await pipelineTurn(deps.context(), state, arrival, fence, USUAL_LIMITS);
    if (end.kind === 'nothing-to-do') return state;
    if (end.kind === 'again' || end.more) dirty.set();
    if (end.kind === 'again' && end.because === 'layout') await deps.layout.refresh();
    return end.kind === 'committed' ? end.state : 'again';
  } catch (error) {
    if (isNoFaultOfEvents(error)) throw error;
    deps.log.error({ err: error }, 'a turn failed; taking it again with one event');
    await singly(deps, arrival, fence);
    dirty.set();
    return 'again';
  }
}

/**
 * A turn from the stored state with the first event alone, to find the one that is at fault.
 *
 * @throws the turn's error when it fails without any event as well: then the stored state itself is at fault.
 */
async function singly(deps: PipelineRunnerDeps, arrival: Arrival, fence: Fence): Promise<void> {
  const { clock, rechecks } = deps.context();
  const [entry] = rechecks.due(await deps.events.list(1 + rechecks.waiting), clock.now());
  const state = await storedState(deps, fence);
  try {
    await pipelineTurn(deps.context(), state, arrival, fence, oneEvent(entry));
  } catch (error) {
    if (isNoFaultOfEvents(error) || entry === undefined) throw error;
    const hopeless = entry.attempts + 1 >= MAX_ATTEMPTS;
    deps.log.error(
      {
        ...pipelineEventLogFacts(entry.value),
        err: error,
        kind: entry.value.kind,
        attempts: entry.attempts + 1,
      },
      hopeless ? 'an event is laid aside: no turn with it succeeds' : 'a turn with one event failed',
    );
    await fence.commit(
      hopeless ? deps.events.deadLetter(entry, error) : [deps.events.noteFailure(entry)],
      deps.ids.uuid(),
    );
  }
}

function isNoFaultOfEvents(error: unknown): boolean {
  return error instanceof Fenced || isNewerRecord(error) || isOutOfContact(error);
}

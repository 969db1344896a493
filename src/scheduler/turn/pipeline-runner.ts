/**
 * A pipeline in one scheduler: acquires the fence, loads the stored state, then takes one turn per wake-up until the fence is lost.
 *
 * A wake-up is an entry in the pipeline's event queue, or a poke (new layout, changed facts). What becomes of a
 * turn that throws: turn-or-retry.ts.
 *
 * One scheduler holds the pipeline at a time; when it dies, another takes over: same items, same places, same traces.
 */

import type { Connection } from '../../driver/connection.ts';
import type { Messenger } from '../../driver/messenger.ts';
import { millisecondsBetween } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { pause } from '../../lib/pause.ts';
import { createDirty, type Dirty } from '../../lib/signal.ts';
import type { MetricsSink } from '../../metrics/registry.ts';
import { nextHostRetry } from '../../pipeline/host-wait.ts';
import type { Arrival } from '../../pipeline/takeovers.ts';
import { ensureNode } from '../../store/ensure-node.ts';
import { type Fence, Fenced } from '../../store/fence.ts';
import { preparePipeline } from '../../store/load-pipeline.ts';
import type { StorePaths } from '../../store/paths.ts';
import { type SettleDeps, settleLostWork } from '../care/settle-lost-work.ts';
import type { FairShare, Held } from '../fair-share.ts';
import { fencedLoop, type LoopDeps, runTogether } from '../loop.ts';
import { createQueueWatch, type QueueWatch } from '../notices/queue-watch.ts';
import { createHostAlarm } from '../report/host-alarm.ts';
import { createLiveProgress, type LiveProgress } from '../report/live-progress.ts';
import { processReports, type ReportLoopDeps } from '../report/report-loop.ts';
import { layoutInForce } from '../report/right-to-act.ts';
import type { TenantLayout } from '../tenant/tenant-layout.ts';
import { arrivalAt, noteRelease } from './arrival.ts';
import type { PipelineContext } from './pipeline-context.ts';
import { createPriorityRevision } from './revise-priorities.ts';
import { blobsOf } from './stored-state.ts';
import { knownFromStore, turnOrRetry } from './turn-or-retry.ts';
import { createTurnTimer } from './turn-timer.ts';

/** Turns in a row that could not be committed: more than that is no coincidence. */
const MAX_AGAIN = 50;
/** Milliseconds between searches for lost work. */
const CARE_INTERVAL = 60_000;

/** Passed by tenant-pipelines.ts; the same for every layout. */
export interface PipelineRunnerDeps
  extends LoopDeps,
    SettleDeps,
    Omit<ReportLoopDeps, 'layout' | 'progress' | 'placeOf' | 'connections'> {
  readonly connections: ReadonlyMap<string, Connection>;
  readonly tenant: string;
  readonly pipeline: string;
  readonly paths: StorePaths;
  readonly layout: Pick<TenantLayout, 'upToDate' | 'refresh' | 'settled'>;
  /** With the current layout; called once per turn. */
  context(): PipelineContext;
  /** Reports to connections that only take reports. */
  readonly messages: {
    readonly outbox: string;
    readonly messengers: ReadonlyMap<string, Pick<Messenger, 'reporter'>>;
  };
  readonly share: FairShare;
  readonly metrics: MetricsSink | undefined;
  /** Of this process, for people. */
  readonly name: string;
}

/** Every scheduler runs one for each pipeline of its tenants; only one of them holds the fence. */
export interface PipelineRunner {
  /** Something outside the pipeline's own queue has changed: take a turn. */
  poke(): void;
  /** Returns when aborted, or when the session with the store is over; in between, any number of terms. */
  run(signal: AbortSignal): Promise<void>;
}

/** Reads and writes nothing before `run`. */
export function createPipelineRunner(deps: PipelineRunnerDeps): PipelineRunner {
  const dirty = createDirty();
  const places = deps.paths.pipeline(deps.tenant, deps.pipeline);
  return {
    poke: () => dirty.set(),
    async run(signal) {
      await preparePipeline(deps.store, places, signal);
      await deps.events.prepare(signal);
      for (const path of [deps.outbox, deps.messages.outbox]) await ensureNode(deps.store, path, signal);
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
          await holdPipeline(deps, dirty, fence, stop);
        } finally {
          deps.context().semaphores.follow(new Set());
          // The next holder reports its measurements.
          deps.metrics?.forget({ tenant: deps.tenant, pipeline: deps.pipeline });
        }
      });
    },
  };
}

async function holdPipeline(
  deps: PipelineRunnerDeps,
  dirty: Dirty,
  fence: Fence,
  signal: AbortSignal,
): Promise<void> {
  using held = deps.share.hold();
  await deps.mergeRequests.prepare(signal);
  await deps.buildRequests.prepare(signal);
  const progress = createLiveProgress(deps);
  const watch = createQueueWatch({ ...deps, path: deps.paths.pipeline(deps.tenant, deps.pipeline).notices });
  const layout = layoutInForce(deps.layout, deps.context);
  const { outbox, messengers } = deps.messages;
  const messages = { ...deps, layout, outbox, connections: messengers, placeOf: connectionOf };
  await runTogether(AbortSignal.any([signal, fence.lost]), stop => [
    takeTurns({ ...deps, progress, watch }, dirty, held, fence, stop),
    processReports({ ...deps, progress, layout }, fence, stop),
    processReports(messages, fence, stop),
    watch.run(fence, stop),
    wakeRegularly(dirty, stop),
  ]);
}

/** A server serves or does not as a whole. */
function connectionOf({ connection }: { readonly connection: string }): string {
  return connection;
}

/** Takes turns, one after the other, until aborted or until the pipeline is released for another scheduler. */
async function takeTurns(
  deps: PipelineRunnerDeps & { readonly progress: LiveProgress; readonly watch: QueueWatch },
  dirty: Dirty,
  held: Held,
  fence: Fence,
  signal: AbortSignal,
): Promise<void> {
  await deps.layout.upToDate();
  let known = await knownFromStore(deps, fence);
  let decidedBy = deps.context();
  const arrival = await arrivalAt(known.state, { ...deps, clock: deps.context().clock });
  logArrival(arrival, deps.log);
  const release = () =>
    noteRelease(known.state, arrival, fence, {
      ...deps,
      clock: deps.context().clock,
      counters: deps.paths.pipeline(deps.tenant, deps.pipeline).state,
    });
  let careAt = Number.NEGATIVE_INFINITY;
  // Not immediately: two schedulers that both hold too much would pass the pipeline back and forth.
  const keepUntil = deps.clock.monotonic() + CARE_INTERVAL;
  let again = 0;
  const revise = createPriorityRevision();
  const alarm = createHostAlarm(deps.log);
  const hostTimer = createTurnTimer(dirty, signal);
  const recheckTimer = createTurnTimer(dirty, signal);
  dirty.set();
  for (;;) {
    held.hasItems(known.state.items.size > 0);
    try {
      await dirty.wait(signal);
    } catch (error) {
      await release();
      throw error;
    }
    await deps.layout.upToDate();
    if (deps.clock.monotonic() >= careAt) {
      await settleLostWork(known.state, deps, deps.context(), fence);
      careAt = deps.clock.monotonic() + CARE_INTERVAL;
      const contenders = await contendersBeside(deps, fence);
      if (deps.clock.monotonic() >= keepUntil && isToBeReleased(contenders, deps)) {
        held[Symbol.dispose]();
        await release();
        return;
      }
    }
    const decidedAt = deps.context().clock.now();
    // Another layout says otherwise of the same facts.
    if (decidedBy !== deps.context()) known = { ...known, memory: null, gathered: null };
    decidedBy = deps.context();
    const end = await turnOrRetry(deps, decidedBy, known, arrival, fence, dirty);
    again = end === 'again' ? again + 1 : 0;
    if (again > MAX_AGAIN) throw new Error(`${MAX_AGAIN} turns in a row could not be committed`);
    known = end === 'again' ? await knownFromStore(deps, fence) : end;
    const { state } = known;
    await revise(state, deps.context(), fence);
    const now = deps.context().clock.now();
    alarm.observe(state, now);
    deps.progress.observe(state, deps.context());
    deps.watch.observe(state);
    // From the time of the decision: a commit may take longer than the pause of a host.
    hostTimer(nextHostRetry(state.items.values(), decidedAt), now);
    recheckTimer(deps.context().rechecks.next(decidedAt), now);
    deps.context().graphs.retain(blobsOf(state));
  }
}

function logArrival({ takeover }: Arrival, log: Log): void {
  if (takeover === null) return;
  const { from, how, since, at } = takeover;
  const ms = Math.round(millisecondsBetween(since, at));
  const what = how === 'lost' ? 'was lost' : 'released it';
  log.info(
    { from, how, ms },
    `the pipeline is taken over: ${from} ${what}, and no scheduler held it for ${ms} ms`,
  );
}

/**
 * The contenders for the pipeline's lock, including this process.
 *
 * @throws Fenced when our own node is gone: a pipeline without work would not notice otherwise.
 */
async function contendersBeside({ store, paths, tenant, pipeline }: PipelineRunnerDeps, fence: Fence) {
  const { lock } = paths.pipeline(tenant, pipeline);
  const contenders = (await store.children(lock)) ?? [];
  if (!contenders.includes(fence.contender)) throw new Fenced(lock, 'not-applied');
  return contenders;
}

function isToBeReleased(contenders: readonly string[], { share, log }: PipelineRunnerDeps): boolean {
  if (!share.isExceeded(contenders.length)) return false;
  log.info({}, 'this scheduler holds more than its share of the pipelines and releases this one');
  return true;
}

async function wakeRegularly(dirty: Dirty, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await pause(CARE_INTERVAL, signal);
    dirty.set();
  }
}

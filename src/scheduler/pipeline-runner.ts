/**
 * A pipeline's life in one scheduler: take the fence, load what is stored, then one turn per wake-up until the fence is lost.
 *
 * A wake-up is an entry in the pipeline's event queue, or a poke (new layout, changed facts). A turn that throws is taken
 * again with one event only; the event that keeps failing is laid aside after a few attempts, so that one poisoned event
 * neither stops a pipeline nor disappears.
 */

import type { IdMaker } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import { createDirty, type Dirty } from '../lib/signal.ts';
import { graphOf } from '../model/build-set.ts';
import type { PipelineEvent } from '../model/event.ts';
import type { PipelineState } from '../model/pipeline-state.ts';
import { ensureNode } from '../store/ensure-node.ts';
import type { EventQueue } from '../store/event-queue.ts';
import { type Fence, Fenced } from '../store/fence.ts';
import { loadPipeline, preparePipeline } from '../store/load-pipeline.ts';
import type { StorePaths } from '../store/paths.ts';
import type { Store } from '../store/port.ts';
import { fencedLoop, type LoopDeps } from './loop.ts';
import type { PipelineContext } from './pipeline-context.ts';
import { MAX_EVENTS, pipelineTurn } from './pipeline-turn.ts';
import { processReports, type ReportLoopDeps } from './report-loop.ts';
import { type TakeOverDeps, takeOver } from './take-over.ts';

/** A turn with the same first event fails this often before that event is laid aside. */
const MAX_ATTEMPTS = 4;
/** Turns in a row that could not be committed: more than that is no coincidence. */
const MAX_AGAIN = 50;

export interface PipelineRunnerDeps extends LoopDeps {
  readonly tenant: string;
  readonly pipeline: string;
  readonly ids: IdMaker;
  readonly store: Store;
  readonly paths: StorePaths;
  readonly log: Log;
  readonly events: EventQueue<PipelineEvent>;
  /** With the current layout; called once per turn. */
  context(): PipelineContext;
  readonly takeOver: Omit<TakeOverDeps, 'events'>;
  readonly reports: ReportLoopDeps;
  /** The pipeline holds this now: for others of this process (blobs in use). */
  onState(state: PipelineState): void;
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
      await fencedLoop(name, request, deps, signal, (fence, stop) => tenure(deps, dirty, fence, stop));
    },
  };
}

async function tenure(
  deps: PipelineRunnerDeps,
  dirty: Dirty,
  fence: Fence,
  signal: AbortSignal,
): Promise<void> {
  let state = await storedState(deps);
  await takeOver(state, { ...deps.takeOver, events: deps.events }, fence, signal);
  deps.onState(state);
  dirty.set();
  const stop = new AbortController();
  const either = AbortSignal.any([signal, fence.lost, stop.signal]);
  let again = 0;
  const turning = async () => {
    for (;;) {
      await dirty.wait(either);
      const end = await turn(deps, state, fence, dirty);
      again = end === 'again' ? again + 1 : 0;
      if (again > MAX_AGAIN) throw new Error(`${MAX_AGAIN} turns in a row could not be committed`);
      // What was committed of a turn in several parts is known to the store alone.
      state = end === 'again' ? await storedState(deps) : end;
      deps.context().graphs.retain(new Set(blobsOf(state)));
      deps.onState(state);
    }
  };
  const loops = [turning(), processReports(deps.reports, fence, either)];
  try {
    await Promise.race(loops);
    either.throwIfAborted();
  } finally {
    stop.abort();
    await Promise.allSettled(loops);
  }
}

/** As the store has it, with its job graphs at hand. */
async function storedState(deps: PipelineRunnerDeps): Promise<PipelineState> {
  const state = await loadPipeline(deps.store, deps.paths.pipeline(deps.tenant, deps.pipeline));
  await deps.context().graphs.load(blobsOf(state));
  return state;
}

function blobsOf(state: PipelineState): readonly string[] {
  return [...state.items.values()].flatMap(item => graphOf(item.buildset)?.blob ?? []);
}

async function turn(
  deps: PipelineRunnerDeps,
  state: PipelineState,
  fence: Fence,
  dirty: Dirty,
): Promise<PipelineState | 'again'> {
  try {
    const end = await pipelineTurn(deps.context(), state, fence, MAX_EVENTS);
    if (end.kind === 'nothing-to-do') return state;
    if (end.kind === 'again' || end.more) dirty.set();
    return end.kind === 'committed' ? end.state : 'again';
  } catch (error) {
    if (error instanceof Fenced) throw error;
    deps.log.error({ err: error }, 'a turn failed; taking it again with one event');
    await singly(deps, fence);
    dirty.set();
    return 'again';
  }
}

/**
 * A turn from the stored state with the first event alone, to find the one that is at fault.
 *
 * @throws the turn's error when it fails without any event as well: then the stored state itself is at fault.
 */
async function singly(deps: PipelineRunnerDeps, fence: Fence): Promise<void> {
  const [entry] = await deps.events.list(1);
  const state = await storedState(deps);
  try {
    await pipelineTurn(deps.context(), state, fence, entry === undefined ? 0 : 1);
  } catch (error) {
    if (error instanceof Fenced || entry === undefined) throw error;
    const hopeless = entry.attempts + 1 >= MAX_ATTEMPTS;
    deps.log.error(
      { err: error, event: entry.value.kind, attempts: entry.attempts + 1 },
      hopeless ? 'an event is laid aside: no turn with it succeeds' : 'a turn with one event failed',
    );
    await fence.commit(
      hopeless ? deps.events.deadLetter(entry, error) : [deps.events.noteFailure(entry)],
      deps.ids.uuid(),
    );
  }
}

/**
 * A turn that throws is retried from the stored state with one event alone; an event that keeps failing becomes a dead letter, so that
 * it neither stops the pipeline nor disappears.
 */
import type { Dirty } from '../../lib/signal.ts';
import { isNewerRecord } from '../../model/codec/record.ts';
import type { PipelineEvent } from '../../model/event.ts';
import type { Arrival } from '../../pipeline/takeovers.ts';
import { isOutOfContact } from '../../store/connection.ts';
import type { EventQueue } from '../../store/event-queue.ts';
import { type Fence, Fenced } from '../../store/fence.ts';
import { pipelineEventLogFacts } from '../../tracing/log-facts.ts';
import type { TenantLayout } from '../tenant/tenant-layout.ts';
import type { PipelineContext } from './pipeline-context.ts';
import { pipelineTurn } from './pipeline-turn.ts';
import { type StoredStateDeps, storedState } from './stored-state.ts';
import { type KnownState, oneEvent, USUAL_LIMITS } from './turn-reads.ts';

/** Failed turns with the same first event before that event becomes a dead letter. */
const MAX_ATTEMPTS = 4;

interface TurnDeps extends StoredStateDeps {
  readonly events: EventQueue<PipelineEvent>;
  readonly layout: Pick<TenantLayout, 'refresh'>;
}

/** From the store, for a turn that looks at everything. */
export async function knownFromStore(deps: StoredStateDeps, fence: Fence): Promise<KnownState> {
  return { state: await storedState(deps, fence), memory: null, gathered: null, isMeasured: false };
}

/** @returns what the next turn begins with; `again`: what is stored. Then, and where more waits, `dirty` is set. */
export async function turnOrRetry(
  deps: TurnDeps,
  context: PipelineContext,
  known: KnownState,
  arrival: Arrival,
  fence: Fence,
  dirty: Dirty,
): Promise<KnownState | 'again'> {
  try {
    const end = await pipelineTurn(context, known, arrival, fence, USUAL_LIMITS);
    if (end.kind === 'nothing-to-do') return end.known;
    if (end.kind === 'again' || end.more) dirty.set();
    if (end.kind === 'again' && end.because === 'layout') await deps.layout.refresh();
    return end.kind === 'committed' ? end.known : 'again';
  } catch (error) {
    if (isNoFaultOfEvents(error)) throw error;
    deps.log.error({ err: error }, 'a turn failed; retrying with one event');
    await turnWithOneEvent(deps, arrival, fence);
    dirty.set();
    return 'again';
  }
}

/**
 * A turn from the stored state with the first event alone, to find the event that makes turns fail.
 *
 * @throws the turn's error when it fails without any event as well: then the stored state itself is at fault.
 */
async function turnWithOneEvent(deps: TurnDeps, arrival: Arrival, fence: Fence): Promise<void> {
  const { clock, rechecks } = deps.context();
  const [entry] = rechecks.due(await deps.events.list(1 + rechecks.waiting), clock.now());
  const known = await knownFromStore(deps, fence);
  try {
    await pipelineTurn(deps.context(), known, arrival, fence, oneEvent(entry));
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
      hopeless ? 'an event is a dead letter now: no turn with it succeeds' : 'a turn with one event failed',
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

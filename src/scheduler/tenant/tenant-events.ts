/**
 * Stage 3: takes the events of one tenant in order. An event that may have changed configuration renews the layout before any event
 * behind it is processed. Then every pipeline with a matching trigger gets the event; for the others the reason is a decision.
 *
 * Here is the loop, with what waits and what is given up; what one event comes to is tenant-event.ts.
 */
import type { IdMaker } from '../../lib/ids.ts';
import { createDirty } from '../../lib/signal.ts';
import { connectionOfKey } from '../../model/change.ts';
import { isNewerRecord } from '../../model/codec/record.ts';
import type { TenantEvent } from '../../model/event.ts';
import { isOutOfContact } from '../../store/connection.ts';
import type { QueueEntry } from '../../store/event-queue.ts';
import { type Fence, Fenced } from '../../store/fence.ts';
import { tenantEventLogFacts } from '../../tracing/log-facts.ts';
import { HostNotAsked } from '../changes/resolve-dependencies.ts';
import { isRemoteFault, REMOTE_PAUSES } from '../remote-fault.ts';
import { pipelineClock } from '../turn/pipeline-clock.ts';
import { placesOfRequest } from './enqueue-by-hand.ts';
import { createHeldPlaces } from './held-places.ts';
import {
  ConfigurationNotGiven,
  configurationOf,
  type Forward,
  forwardOf,
  type TenantEventDeps,
} from './tenant-event.ts';
import { givenUpTenantEventRows } from './tenant-event-rows.ts';

/** An event that fails this often becomes a dead letter. */
const MAX_ATTEMPTS = 4;
/**
 * Milliseconds before configuration is read again that a host did not give. Each try may take as long as a host is waited for, and the
 * tenant's other events wait for it.
 */
const CONFIGURATION_PAUSES = [1_000, 5_000, 30_000, 120_000, 600_000] as const;
/** Commit conflicts in a row about one event; more are no coincidence. */
const MOST_CONFLICTS = 50;

/** Passed by the holder of the tenant (tenant-runner.ts). */
export interface TenantEventsDeps extends Omit<TenantEventDeps, 'held' | 'configured'> {
  readonly ids: IdMaker;
  /** Milliseconds before a held place is retried. Default {@link REMOTE_PAUSES}, for configuration {@link CONFIGURATION_PAUSES}. */
  readonly pauses?: readonly number[];
}

/**
 * Returns when aborted; throws when the fence is lost. While a host is away its events wait, in their order; those of other
 * hosts go on.
 */
export async function processTenantEvents(
  outer: TenantEventsDeps,
  fence: Fence,
  signal: AbortSignal,
): Promise<void> {
  const deps: LoopDeps = {
    ...outer,
    held: createHeldPlaces(() => performance.now()),
    configured: new Set(),
  };
  const retry = createDirty(true);
  let timer: NodeJS.Timeout | undefined;
  const known = new Set<string>();
  let waiting: WaitingEvent[] = [];
  try {
    for await (const _ of deps.queue.arrivals(signal, retry)) {
      clearTimeout(timer);
      waiting = await retryWaiting(waiting, deps, fence, signal);
      for await (const entries of deps.queue.additions(known))
        for (const entry of entries) {
          const places = placesOf(entry.value);
          if (deps.held.isHeld(places) || !(await taken(entry, deps, fence, signal)))
            waiting.push({ path: entry.path, places });
        }
      if (waiting.length === 0) continue;
      const ms = waiting.reduce((least, { places }) => Math.min(least, deps.held.rest(places)), Infinity);
      timer = setTimeout(() => retry.set(), ms);
    }
  } finally {
    clearTimeout(timer);
  }
}

type LoopDeps = TenantEventsDeps & Pick<TenantEventDeps, 'held' | 'configured'>;

/** An event that stays in the queue; only its path is kept, so that any number may wait. */
interface WaitingEvent {
  readonly path: string;
  readonly places: readonly string[];
}

/** @returns those that still wait. */
async function retryWaiting(
  waiting: readonly WaitingEvent[],
  deps: LoopDeps,
  fence: Fence,
  signal: AbortSignal,
): Promise<WaitingEvent[]> {
  const left: WaitingEvent[] = [];
  for (const event of waiting) {
    const rests = deps.held.rest(event.places) > 0;
    const [entry] = rests ? [] : await deps.queue.read([event.path]);
    if (rests || (entry !== undefined && !(await taken(entry, deps, fence, signal)))) left.push(event);
  }
  return left;
}

/** @returns false: it waits, because a place that it needs is in trouble; after an abort, too. */
async function taken(
  entry: QueueEntry<TenantEvent>,
  deps: LoopDeps,
  fence: Fence,
  signal: AbortSignal,
): Promise<boolean> {
  if (signal.aborted) return false;
  const { held } = deps;
  const places = placesOf(entry.value);
  try {
    const { unread } = await processEntry(entry, deps, fence, signal);
    deps.configured.delete(entry.value.uuid);
    held.release(places);
    if (unread !== null) held.hold(configurationOf(unread), deps.pauses ?? CONFIGURATION_PAUSES);
    return true;
  } catch (error) {
    if (signal.aborted || !isRemoteFault(error)) throw error;
    const place = failedPlace(error, places);
    held.hold(
      place,
      deps.pauses ?? (error instanceof ConfigurationNotGiven ? CONFIGURATION_PAUSES : REMOTE_PAUSES),
    );
    const facts = { err: error, tenant: deps.tenant, ...tenantEventLogFacts(entry.value) };
    deps.log.warn(facts, `${place} is in trouble: its events wait`);
    return false;
  }
}

/** What does not serve: the host of the event, unless the error names less. */
function failedPlace(error: unknown, places: readonly [string, ...string[]]): string {
  // Any change may name one of a host that is away: only the change that names it waits.
  return (error instanceof HostNotAsked ? places[1] : undefined) ?? places[0];
}

/** The events of one place are processed in order. The first is held when the event fails, the others only by name. */
function placesOf(event: TenantEvent): readonly [string, ...string[]] {
  switch (event.kind) {
    case 'trigger':
      return [event.trigger.connection, event.trigger.change.key];
    case 'updated':
    case 'dequeue':
    case 'promote':
      return [connectionOfKey(event.change), event.change];
    case 'first-look':
      return [configurationOf(event.project, event.landed?.branch)];
    case 'enqueue':
      return placesOfRequest(event);
  }
}

/**
 * @returns the project whose configuration has to be read again: an event for that is in the queue.
 * @throws the error of an event that may succeed at another attempt; the caller's loop restarts after a pause.
 */
async function processEntry(
  entry: QueueEntry<TenantEvent>,
  { clock: own, ...rest }: LoopDeps,
  fence: Fence,
  signal: AbortSignal,
  conflicts = 0,
): Promise<Pick<Forward, 'unread'>> {
  const { value } = entry;
  // The scheduler that forwarded it may have a clock that is ahead of ours.
  const clock = pipelineClock(own);
  clock.catchUp([value]);
  const deps: LoopDeps = { ...rest, clock };
  const takenAt = clock.now();
  try {
    await deps.changes.fresh();
    const forward = await forwardOf(value, takenAt, deps, fence, signal);
    await fence.commit([deps.queue.ack(entry), ...forward.operations], deps.ids.uuid());
    deps.changes.remember(forward.records);
    return forward;
  } catch (error) {
    if (error instanceof Fenced || isNewerRecord(error) || isOutOfContact(error) || signal.aborted)
      throw error;
    if (isRemoteFault(error)) throw error;
    // Commit conflict about the change's record: the event is processed again with the new record, and has not failed.
    if (conflicts < MOST_CONFLICTS && (await deps.changes.conflict(error)))
      return processEntry(entry, deps, fence, signal, conflicts + 1);
    const hopeless = entry.attempts + 1 >= MAX_ATTEMPTS;
    await fence.commit(
      hopeless
        ? [...deps.queue.deadLetter(entry, error), ...givenUpTenantEventRows(value, takenAt, deps)]
        : [deps.queue.noteFailure(entry)],
      deps.ids.uuid(),
    );
    if (!hopeless) throw error;
    deps.log.error(
      { err: error, ...tenantEventLogFacts(value) },
      'a tenant event is a dead letter now: it cannot be processed',
    );
    return { unread: null };
  }
}

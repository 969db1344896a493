/**
 * Station 2: takes the events of one connection in order, lets its driver read the host, and hands what came of it to the
 * tenants. One commit per event: gone from the connection's queue, there in the tenants' queues, with the refreshed changes,
 * the driver's memory, and the trace of the trip.
 *
 * Events that ask the driver for the same look are answered together: one reading of the host, one trace, which names the
 * deliveries it answers. Only those that were stored before the look began; later news means another look.
 *
 * An event whose processing fails is tried again a few times with a pause, then laid aside where people see it; the ones
 * behind it go on. While the host cannot be reached at all, nothing is laid aside: the queue waits for it.
 */
import type { Connection } from '../../driver/connection.ts';
import type { DriverMemory } from '../../driver/driver-memory.ts';
import type { ProcessedEvent } from '../../driver/source.ts';
import { pause } from '../../lib/pause.ts';
import { isNewerRecord } from '../../model/codec/record.ts';
import { driverMemoryCodec } from '../../model/codec/records.ts';
import type { ConnectionEvent } from '../../model/event.ts';
import type { ProjectKey } from '../../model/project.ts';
import { isOutOfContact } from '../../store/connection.ts';
import type { QueueEntry } from '../../store/event-queue.ts';
import type { Fence } from '../../store/fence.ts';
import { create, type Operation, type Store, set } from '../../store/port.ts';
import { createQuarantine } from '../../store/quarantine.ts';
import { deliveryLogFacts, eventLogFacts } from '../../tracing/log-facts.ts';
import { type FailureReason, withFailure } from '../../tracing/spans/event-process-spans.ts';
import { landingsOf } from '../changes/own-merges.ts';
import { isRemoteFault, REMOTE_PAUSES } from '../remote-fault.ts';
import { pipelineClock } from '../turn/pipeline-clock.ts';
import { type Attempts, type ForwardDeps, forwardOperations, givenUpRows } from './forward-event.ts';

const MAX_ATTEMPTS = 5;
/** Commits in a row that others were quicker than: more than that is no coincidence. */
const MAX_CONFLICTS = 50;

export interface ConnectionEventsDeps extends ForwardDeps {
  readonly store: Store;
  /** Milliseconds before the second, third, ... attempt; the last one repeats. Default {@link REMOTE_PAUSES}. */
  readonly pauses?: readonly number[];
  projects(): ReadonlySet<ProjectKey>;
  /** Looks who the tenants are; before each event. */
  lookAtTenants?(): Promise<void>;
}

/** Returns when aborted; throws when the fence is lost. */
export async function processConnectionEvents(
  deps: ConnectionEventsDeps,
  fence: Fence,
  signal: AbortSignal,
): Promise<void> {
  for await (const batch of deps.queue.batches(signal)) {
    for (const entries of groupedByLook(batch, deps.connection))
      await processEntries(entries, deps, fence, signal);
  }
}

type Entries = readonly [QueueEntry<ConnectionEvent>, ...QueueEntry<ConnectionEvent>[]];

/** In the order of the first of each group. */
function groupedByLook(
  batch: readonly QueueEntry<ConnectionEvent>[],
  { source }: Connection,
): readonly Entries[] {
  const groups: [QueueEntry<ConnectionEvent>, ...QueueEntry<ConnectionEvent>[]][] = [];
  const byKey = new Map<string, QueueEntry<ConnectionEvent>[]>();
  for (const entry of batch) {
    const key = source.coalesceKey?.(entry.value);
    const known = key === undefined ? undefined : byKey.get(key);
    if (known !== undefined) known.push(entry);
    else {
      const group: (typeof groups)[number] = [entry];
      groups.push(group);
      if (key !== undefined) byKey.set(key, group);
    }
  }
  return groups;
}

async function processEntries(
  entries: Entries,
  { clock: own, ...rest }: ConnectionEventsDeps,
  fence: Fence,
  signal: AbortSignal,
): Promise<void> {
  const [entry, ...others] = entries;
  const answered = others.map(other => other.value.deliveryId);
  // The web that took it in may have a clock that is ahead of ours.
  const clock = pipelineClock(own);
  clock.catchUp(entries.map(each => each.value));
  const deps: ConnectionEventsDeps = { ...rest, clock };
  const startedAt = clock.now();
  let failures: Attempts['failures'] = [];
  let conflicts = 0;
  for (let attempt = 1; ; attempt++) {
    await deps.changes.fresh();
    await deps.lookAtTenants?.();
    const begun = deps.changes.mark();
    let processed: ProcessedEvent;
    try {
      const context = { projects: deps.projects(), memory: driverMemory(deps), signal };
      processed = await deps.connection.source.process(entry.value, context);
    } catch (error) {
      signal.throwIfAborted();
      // What is remembered of the host was written by an upgraded scheduler: the event is for it as well.
      if (isNewerRecord(error) || isOutOfContact(error)) throw error;
      const facts = { err: error, ...deliveryLogFacts(entry.value), attempt };
      failures = withFailure(failures, { at: clock.now(), reason: reasonOf(error) });
      if (attempt >= MAX_ATTEMPTS && !isRemoteFault(error)) {
        deps.log.error(
          { ...facts, ...eventLogFacts(entry.value.uuid) },
          `an event of connection ${deps.connection.name} cannot be processed; it is laid aside`,
        );
        const trace = givenUpRows(
          entry.value,
          { startedAt, tries: attempt, failures, landings: new Map(), answered },
          deps,
        );
        const letters = entries.flatMap(each => deps.queue.deadLetter(each, error));
        await fence.commit([...letters, ...trace], deps.ids.uuid());
        return;
      }
      deps.log.warn(
        facts,
        `an event of connection ${deps.connection.name} could not be processed; trying again`,
      );
      const pauses = deps.pauses ?? REMOTE_PAUSES;
      await pause(pauses[Math.min(attempt, pauses.length) - 1] ?? 30_000, signal);
      continue;
    }
    if (
      await committed(
        entries,
        processed,
        { startedAt, tries: attempt, failures, answered, begun },
        deps,
        fence,
      )
    )
      return;
    conflicts += 1;
    if (conflicts > MAX_CONFLICTS)
      throw new Error(
        `${MAX_CONFLICTS} times in a row somebody else wrote what event ${entry.value.uuid} is about`,
      );
    attempt -= 1;
  }
}

/** For people who read the trace; the log has the error. */
function reasonOf(error: unknown): FailureReason {
  return isRemoteFault(error) ? 'host-unreachable' : 'not-understood';
}

/**
 * @returns false: somebody wrote one of the changes while the host was asked (it has landed, say), so what the host said may
 *   be older than that. It has to be asked again.
 */
async function committed(
  entries: Entries,
  processed: ProcessedEvent,
  { begun, ...attempts }: Omit<Attempts, 'landings'> & { readonly begun: number },
  deps: ConnectionEventsDeps,
  fence: Fence,
): Promise<boolean> {
  const { changes } = deps;
  const memory = await memoryOperations(processed, deps);
  const landings = await landingsOf(processed.events, deps);
  await changes.fresh();
  const keys = processed.changes.map(record => record.change.key);
  if (changes.changedSince(begun, keys)) return false;
  try {
    const forward = forwardOperations(entries, processed, { ...attempts, landings }, deps);
    await fence.commit([...forward, ...memory], deps.ids.uuid());
  } catch (error) {
    if (await changes.conflict(error)) return false;
    throw error;
  }
  changes.remember(processed.changes);
  return true;
}

/** What cannot be read is laid aside, and the driver looks at the host as if for the first time. */
export function driverMemory(
  deps: Pick<ConnectionEventsDeps, 'store' | 'paths' | 'connection' | 'clock' | 'log'>,
): DriverMemory {
  const places = deps.paths.connection(deps.connection.name);
  const quarantine = createQuarantine({ ...deps, path: deps.paths.quarantine });
  return {
    async get(key) {
      const path = places.memoryOf(key);
      return await quarantine.read(driverMemoryCodec, path, await deps.store.get(path));
    },
  };
}

function memoryOperations(
  { memory }: ProcessedEvent,
  deps: ConnectionEventsDeps,
): Promise<readonly Operation[]> {
  return Promise.all(
    memory.map(async ({ key, value }) => {
      const path = deps.paths.connection(deps.connection.name).memoryOf(key);
      const data = driverMemoryCodec.encode(value);
      return (await deps.store.get(path)) === undefined ? create(path, data) : set(path, data);
    }),
  );
}

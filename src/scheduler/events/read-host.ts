/**
 * One read of the host: an event, and those that need the same read, processed by the driver and forwarded in one commit. It
 * removes them from the connection's queue, and adds events to the tenants' queues, the refreshed changes, the driver's memory and
 * the trace.
 *
 *     processed         committed; what landed while the host was read stays landed, and no other commit conflict about the same
 *                       changes leads to a second read unless the answer may be older than what was written
 *     later             the host does not serve this lane: retried with growing pauses for as long as it takes
 *     not understood    retried a few times, then quarantined with a trace that names the reason
 */
import { hostSteps, hostStepsOfError } from '../../driver/host-steps.ts';
import type { ProcessedEvent, ProcessedLater } from '../../driver/source.ts';
import { addMilliseconds, millisecondsBetween } from '../../lib/clock.ts';
import { unlessAborted } from '../../lib/unless-aborted.ts';
import { type ChangeKey, type ChangeRecord, changeText } from '../../model/change.ts';
import { isNewerRecord } from '../../model/codec/record.ts';
import type { ConnectionEvent } from '../../model/event.ts';
import type { ProjectKey } from '../../model/project.ts';
import type { Step } from '../../model/step.ts';
import { isOutOfContact } from '../../store/connection.ts';
import type { QueueEntry } from '../../store/event-queue.ts';
import type { Fence } from '../../store/fence.ts';
import { type Store, StoreError } from '../../store/port.ts';
import { deliveryLogFacts, eventLogFacts } from '../../tracing/log-facts.ts';
import { landingsOf } from '../changes/own-merges.ts';
import { countOwnReports } from '../changes/own-reports.ts';
import { recordsSince } from '../changes/records-since.ts';
import { type DependencyResolver, HostNotAsked } from '../changes/resolve-dependencies.ts';
import { isRemoteFault, REMOTE_PAUSES, troubleOf } from '../remote-fault.ts';
import { pipelineClock } from '../turn/pipeline-clock.ts';
import { type OpenedMemory, openDriverMemory } from './driver-memory.ts';
import { type Attempts, type ForwardDeps, forwardOperations, quarantinedEventRows } from './forward-event.ts';
import { failedTry, nextTry, type ReadTries } from './read-tries.ts';

/** Attempts of an event that the driver does not understand. */
const MOST_MISUNDERSTOOD = 5;
/** Commit conflicts in a row: more than that is no coincidence. */
const MOST_CONFLICTS = 50;
/** Milliseconds. A host that names a later time is asked after this, because the limit may be gone or a clock be wrong. */
const LONGEST_HOLD = 3_600_000;

/** Of one connection, the same for every read. */
export interface HostReadDeps extends ForwardDeps {
  readonly store: Store;
  readonly dependencies: Pick<DependencyResolver, 'resolve'>;
  /** Milliseconds before the second, third, ... attempt; the last one repeats. Default {@link REMOTE_PAUSES}. */
  readonly pauses?: readonly number[];
  /** Those any tenant has on this connection, at the time of the call. */
  projects(): ReadonlySet<ProjectKey>;
  /** Reads which tenants there are; called before each read of the host. */
  refreshTenants?(): Promise<void>;
}

/** The event, and those processed with it. */
type ReadEntries = readonly [QueueEntry<ConnectionEvent>, ...QueueEntry<ConnectionEvent>[]];

/** What becomes of the lane. */
export type ReadEnd =
  /** Its events are out of the queue. */
  | { readonly kind: 'taken' }
  /** They stay, and are retried after `ms` milliseconds. */
  | { readonly kind: 'held'; readonly tries: ReadTries; readonly ms: number };

type Answer =
  | { readonly kind: 'processed'; readonly processed: ProcessedEvent; readonly memory: OpenedMemory }
  | ({ readonly kind: 'later'; readonly steps: readonly Step[] } & ProcessedLater['later'])
  | { readonly kind: 'not-understood'; readonly error: unknown };

interface ReadSignals {
  /** Once aborted, nothing is committed. */
  readonly stop: AbortSignal;
  /** Once aborted, the driver's answer is not awaited either. */
  readonly abandoned: AbortSignal;
}

/**
 * @param before earlier attempts with the same first event; undefined: this is the first.
 * @throws the reason of the signal that aborted.
 */
export async function readHost(
  entries: ReadEntries,
  before: ReadTries | undefined,
  { clock: own, ...rest }: HostReadDeps,
  fence: Fence,
  signals: ReadSignals,
): Promise<ReadEnd> {
  const [{ value: event }] = entries;
  // The web that received it may have a clock that is ahead of ours.
  const clock = pipelineClock(own);
  clock.catchUp([...entries.map(each => each.value), ...(before === undefined ? [] : [before])]);
  const deps: HostReadDeps = { ...rest, clock };
  const tries = nextTry(before, clock.now());
  let known: Asked | undefined;
  for (let conflicts = 0; conflicts < MOST_CONFLICTS; conflicts++) {
    const asked: Asked = known ?? (await askNow(event, deps, signals));
    const { answer } = asked;
    switch (answer.kind) {
      case 'later': {
        const { reason, text, steps } = answer;
        const [at, ms] = [clock.now(), holdOf(answer, tries, deps)];
        const failure = { kind: 'later', reason, text, retryAt: addMilliseconds(at, ms), steps } as const;
        return { kind: 'held', tries: failedTry(tries, failure, at), ms };
      }
      case 'not-understood':
        return await misunderstood(entries, tries, answer.error, deps, fence);
      case 'processed': {
        signals.stop.throwIfAborted();
        const outcome = await committed(entries, answer, { tries, begun: asked.begun }, deps, fence);
        if (outcome === 'committed') return { kind: 'taken' };
        if (outcome instanceof Error) return await misunderstood(entries, tries, outcome, deps, fence);
        known = outcome === 'conflict' ? asked : undefined;
      }
    }
  }
  throw new Error(`${MOST_CONFLICTS} commit conflicts in a row about event ${event.uuid}`);
}

interface Asked {
  readonly answer: Answer;
  /** When the host was asked, for `changedSince` of the change cache. */
  readonly begun: number;
}

async function askNow(event: ConnectionEvent, deps: HostReadDeps, signals: ReadSignals): Promise<Asked> {
  await deps.changes.fresh();
  await deps.refreshTenants?.();
  const begun = deps.changes.mark();
  return { begun, answer: await ask(event, deps, signals) };
}

async function ask(
  event: ConnectionEvent,
  deps: HostReadDeps,
  { stop, abandoned }: ReadSignals,
): Promise<Answer> {
  const memory = openDriverMemory(deps);
  try {
    const record = (key: ChangeKey) => deps.changes.record(key);
    const context = { projects: deps.projects(), memory, record, signal: stop };
    const outcome = await unlessAborted(() => deps.connection.source.process(event, context), abandoned);
    if (outcome === undefined) throw abandoned.reason;
    if ('later' in outcome) return { kind: 'later', steps: hostSteps(outcome.steps), ...outcome.later };
    const changes = await Promise.all(outcome.changes.map(each => resolved(each, deps, abandoned)));
    return { kind: 'processed', processed: { ...outcome, changes }, memory };
  } catch (error) {
    stop.throwIfAborted();
    // The driver's memory was written by an upgraded scheduler: the event is left to it, too.
    if (isNewerRecord(error) || isOutOfContact(error)) throw error;
    return isRemoteFault(error)
      ? { kind: 'later', steps: hostStepsOfError(error), ...troubleOf(error) }
      : { kind: 'not-understood', error };
  }
}

/**
 * The failure of another host does not hold this lane: lines that need that host stay as written. They are resolved before a pipeline
 * takes the change (see missing-records.ts).
 */
async function resolved(
  record: ChangeRecord,
  deps: HostReadDeps,
  signal: AbortSignal,
): Promise<ChangeRecord> {
  try {
    return await deps.dependencies.resolve(record, signal);
  } catch (error) {
    if (!(error instanceof HostNotAsked)) throw error;
    deps.log.warn({ err: error, change: changeText(record.change) }, 'a dependency is not known yet');
    return record;
  }
}

/** Milliseconds until the lane is retried. */
function holdOf({ notBefore }: ProcessedLater['later'], { waits }: ReadTries, deps: HostReadDeps): number {
  const own = pauseAfter((waits.at(-1)?.tries ?? 0) + 1, deps);
  const named = notBefore === undefined ? 0 : millisecondsBetween(deps.clock.now(), notBefore);
  return Math.min(LONGEST_HOLD, Math.max(own, named));
}

/** Milliseconds after failure number `failures` in a row. */
function pauseAfter(failures: number, { pauses = REMOTE_PAUSES }: HostReadDeps): number {
  return pauses[Math.min(failures, pauses.length) - 1] ?? 30_000;
}

/** Tried again a few times, then quarantined: other events of the connection go on. */
async function misunderstood(
  entries: ReadEntries,
  tries: ReadTries,
  error: unknown,
  deps: HostReadDeps,
  fence: Fence,
): Promise<ReadEnd> {
  const failed = failedTry(tries, { kind: 'not-understood', error }, deps.clock.now());
  if (failed.misunderstood < MOST_MISUNDERSTOOD)
    return { kind: 'held', tries: failed, ms: pauseAfter(failed.misunderstood, deps) };
  await quarantine(entries, failed, error, deps, fence);
  return { kind: 'taken' };
}

async function quarantine(
  entries: ReadEntries,
  tries: ReadTries,
  error: unknown,
  deps: HostReadDeps,
  fence: Fence,
): Promise<void> {
  const [{ value: event }] = entries;
  deps.log.error(
    { err: error, tries: tries.tries, ...deliveryLogFacts(event), ...eventLogFacts(event.uuid) },
    `an event of connection ${deps.connection.name} cannot be processed; it is quarantined`,
  );
  const attempts = { ...tries, landings: new Map(), answered: answeredWith(entries) };
  const letters = entries.flatMap(each => deps.queue.deadLetter(each, error));
  await fence.commit([...letters, ...quarantinedEventRows(event, attempts, deps)], deps.ids.uuid());
}

/** Ids of the deliveries that are processed with the first. */
function answeredWith([, ...others]: ReadEntries): Attempts['answered'] {
  return others.map(({ value }) => value.deliveryId);
}

/**
 * @returns `outdated`: one of the changes was written while the host was asked, or another lane wrote the same memory, so the host's
 *   answer may be older. It has to be asked again. `conflict`: something was written in this very moment; the answer is to be judged
 *   once more. An error: the answer does not fit into one commit.
 */
async function committed(
  entries: ReadEntries,
  { processed: answered, memory }: Extract<Answer, { kind: 'processed' }>,
  { tries, begun }: { readonly tries: ReadTries; readonly begun: number },
  deps: HostReadDeps,
  fence: Fence,
): Promise<'committed' | 'conflict' | 'outdated' | Error> {
  const { changes } = deps;
  const remembered = await memory.operations(answered.memory);
  const landings = await landingsOf(answered.events, deps);
  await changes.fresh();
  const records = recordsSince(begun, answered.changes, changes);
  if (records === undefined) return 'outdated';
  const processed = countOwnReports({ ...answered, changes: records }, changes.record.bind(changes));
  try {
    const attempts: Attempts = { ...tries, landings, answered: answeredWith(entries) };
    const forward = forwardOperations(entries, processed, attempts, deps);
    await fence.commit([...forward, ...remembered], deps.ids.uuid());
  } catch (error) {
    if (memory.conflict(error, processed.memory)) return 'outdated';
    if (await changes.conflict(error)) return 'conflict';
    if (error instanceof StoreError && error.code === 'TooLarge') return new Error(tooLargeText(processed));
    throw error;
  }
  changes.remember(processed.changes);
  return 'committed';
}

function tooLargeText({ events, changes, memory }: ProcessedEvent): string {
  return `what the driver made of it does not fit into one commit: ${events.length} events, ${changes.length} changes, ${memory.length} entries of memory`;
}

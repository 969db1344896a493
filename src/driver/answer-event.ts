/**
 * From one notification to the answer of `Source.process`, for drivers that read what it is about and compare with their memory.
 *
 * Writes nothing, so it can be repeated: the same memory and the same finding give the same answer.
 */
import { type Nanoseconds, parseNanoseconds } from '../lib/clock.ts';
import { derivedUuid, spanIdOf, traceIdOf } from '../lib/ids.ts';
import { targetBranchOf } from '../model/change.ts';
import type { ConnectionEvent, TriggerEvent } from '../model/event.ts';
import type { ProjectKey } from '../model/project.ts';
import type { Step } from '../model/step.ts';
import type { DriverMemory } from './driver-memory.ts';
import type { HostFinding, HostFound, HostHappening } from './host-finding.ts';
import { gatherSteps } from './host-steps.ts';
import { isMapping } from './read-mapping.ts';
import type { ProcessedEvent, ProcessedLater } from './source.ts';
import type { StaleReads } from './stale-reads.ts';

/** Nothing of the event concerns any tenant. @param text why, in one clause for people. */
export function discardedEvent(text: string): ProcessedEvent {
  return { events: [], changes: [], updated: [], memory: [], refusals: [], discarded: text };
}

/** What is the same for all events of a driver, and the place where it remembers when a project was first seen. */
export interface EventAnswering {
  readonly driver: string;
  readonly staleReads: StaleReads;
  /** Key of the memory: one for each project. */
  readonly seenKey: string;
  /** When the event happened, as well as that is known. */
  readonly at: Nanoseconds;
}

/** @param since when the first event of the project came in; undefined: this is the first one. @param steps gets the requests. */
export type EventReader = (reading: {
  readonly since: Nanoseconds | undefined;
  readonly steps: (step: Step) => void;
}) => Promise<HostFound> | HostFound;

/** @throws what `read` throws; RecordError `newer` when an upgraded process wrote the memory. */
export async function answerEvent(
  event: ConnectionEvent,
  project: ProjectKey,
  memory: DriverMemory,
  answering: EventAnswering,
  read: EventReader,
): Promise<ProcessedEvent | ProcessedLater> {
  const { steps, add } = gatherSteps();
  const first = await firstLook(memory, answering);
  const found = await read({ since: first.since, steps: add });
  if ('later' in found) return { later: found.later, steps };
  const staleReads = answering.staleReads.settle(event.uuid);
  const [query, ...queries] = steps;
  const noted =
    query === undefined || staleReads === 0
      ? steps
      : [{ ...query, facts: { ...query.facts, stale_reads: staleReads } }, ...queries];
  return processedEvent(triggerEvents(event, answering.driver, found.happened), found, {
    memory: [...found.memory, ...first.memory],
    queries: noted,
    ...(found.lookAgain === true || first.since === undefined ? { firstLooks: [project] } : {}),
  });
}

/** Before the first event of a project its branches may have moved unnoticed. */
async function firstLook(
  memory: DriverMemory,
  { seenKey, at }: EventAnswering,
): Promise<{ readonly memory: ProcessedEvent['memory']; readonly since: Nanoseconds | undefined }> {
  const seen = await memory.get(seenKey);
  return isMapping(seen) && typeof seen.at === 'string'
    ? { memory: [], since: parseNanoseconds(seen.at) }
    : { memory: [{ key: seenKey, value: { version: 1, at } }], since: undefined };
}

/** @param events of `found.happened`. @param rest in place of what `found` has of it. */
export function processedEvent(
  events: readonly TriggerEvent[],
  found: HostFinding,
  rest: Pick<ProcessedEvent, 'memory' | 'queries' | 'firstLooks'>,
): ProcessedEvent {
  const announced = new Set(events.map(each => each.change.key));
  const updated = found.changes.map(({ change }) => change.key).filter(key => !announced.has(key));
  const { changes, refusals = [], dequeues = [], promotes = [], questions = [], again, discarded } = found;
  const visible = [events, updated, dequeues, promotes, questions].some(each => each.length > 0);
  return {
    ...{ events, changes, updated, refusals },
    ...rest,
    ...(dequeues.length === 0 ? {} : { dequeues }),
    ...(promotes.length === 0 ? {} : { promotes }),
    ...(questions.length === 0 ? {} : { questions }),
    ...(again === undefined ? {} : { again }),
    ...(visible ? {} : { discarded: discarded ?? 'nothing happened that a pipeline could see' }),
  };
}

/**
 * What happened, as trigger events.
 *
 * @param driver as written in `[connection NAME] driver`.
 * @param happened in order: an event's uuid follows from its place in it, so that a repetition after a crash gives the same ones.
 */
export function triggerEvents(
  event: ConnectionEvent,
  driver: string,
  happened: readonly HostHappening[],
): readonly TriggerEvent[] {
  return happened.map(({ change, configMayHaveChanged = [], branchesChanged = false, ...rest }, ordinal) => ({
    ...rest,
    uuid: derivedUuid(event.uuid, 'trigger', String(ordinal)),
    connection: event.connection,
    driver,
    project: change.project,
    branch: targetBranchOf(change) ?? null,
    ref: change.ref,
    change,
    configMayHaveChanged,
    branchesChanged,
    receivedAt: event.receivedAt,
    sampled: event.sampled,
    // The root of the event's trace.
    span: { traceId: traceIdOf(event.uuid), spanId: spanIdOf(event.uuid) },
  }));
}

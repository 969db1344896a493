/**
 * Processes one notification: reads what it is about, and derives what happened.
 *
 *   1 form, and whether any tenant has the project: no request before that             here
 *   2 what is remembered                                                               change-memory.ts
 *   3 the change, its parents and footers, or the ref, or the branches, now            process-change.ts, read-record.ts, process-ref.ts, process-project.ts
 *   4 what happened in between                                                         change-happenings.ts
 *   5 events, change records, new memory                                               change-record.ts, trigger-event.ts
 *
 * Writes nothing, so it can be repeated: the same memory and the same answers give the same result.
 */
import { isMapping } from '../../../src/driver/read-mapping.ts';
import type { ProcessedEvent, ProcessedLater, Source } from '../../../src/driver/source.ts';
import { assertNever } from '../../../src/lib/assert-never.ts';
import { type Nanoseconds, parseNanoseconds } from '../../../src/lib/clock.ts';
import type { ConnectionEvent } from '../../../src/model/event.ts';
import { type ProjectKey, projectKey } from '../../../src/model/project.ts';
import type { Step } from '../../../src/model/step.ts';
import { type GerritNotification, readGerritNotification } from '../intake/notification.ts';
import { processMark } from '../listener/mark.ts';
import { processChange } from './process-change.ts';
import { processProject } from './process-project.ts';
import { processGerritRef } from './process-ref.ts';
import {
  type GerritFinding,
  type GerritFound,
  type GerritProcessDeps,
  type GerritProcessing,
  nothingOfGerrit,
} from './processing.ts';
import { gerritTriggerEvents } from './trigger-event.ts';

type ProcessContext = Parameters<Source['process']>[1];

const NOTHING: ProcessedEvent = { events: [], changes: [], updated: [], memory: [], refusals: [] };
/** Steps of one event; later ones are left out of its trace. */
const MOST_STEPS = 50;

/** @throws RecordError `newer` when an upgraded process wrote the memory; the signal's reason. */
export async function processGerritEvent(
  event: ConnectionEvent,
  context: ProcessContext,
  deps: GerritProcessDeps,
): Promise<ProcessedEvent | ProcessedLater> {
  const notification = readGerritNotification(event.payload);
  if (notification === undefined)
    return { ...NOTHING, discarded: `a gerrit connection has no event ${event.type} of this form` };
  if (notification.about.kind === 'mark') return processMark(notification.about);
  const project = projectKey({ connection: event.connection, name: notification.project });
  if (!context.projects.has(project)) return { ...NOTHING, discarded: `no tenant has project ${project}` };
  const steps: Step[] = [];
  const call: GerritProcessing['call'] = {
    project: notification.project,
    signal: context.signal,
    steps: step => {
      if (steps.length < MOST_STEPS) steps.push(step);
    },
  };
  const { memory, projects, record } = context;
  const first = await firstLook(project, event, notification, context);
  const { watchedSince } = first;
  const processing = { event, notification, project, projects, memory, watchedSince, record, call, deps };
  const found = await dispatch(processing);
  if ('later' in found) return { later: found.later, steps };
  const staleReads = deps.staleReads.settle(event.uuid);
  const queries = staleReads === 0 ? steps : steps.map((step, index) => noted(step, index, staleReads));
  return processed(event, project, found, first, queries);
}

/** On the first read of Gerrit. */
function noted(step: Step, index: number, staleReads: number): Step {
  return index === 0 ? { ...step, facts: { ...step.facts, stale_reads: staleReads } } : step;
}

function dispatch(processing: GerritProcessing): Promise<GerritFound> | GerritFound {
  const { about } = processing.notification;
  switch (about.kind) {
    case 'change':
      return processChange(about, processing);
    case 'ref':
      return processGerritRef(about, processing);
    case 'project':
      return processProject(processing);
    case 'mark':
      return nothingOfGerrit('of the listener');
    default:
      return assertNever(about);
  }
}

interface FirstLook {
  readonly memory: ProcessedEvent['memory'];
  readonly firstLooks: readonly ProjectKey[];
  readonly watchedSince: Nanoseconds;
}

/** Before the first event of a project its branches may have moved unnoticed. */
async function firstLook(
  project: ProjectKey,
  { madeAt, receivedAt }: ConnectionEvent,
  notification: GerritNotification,
  { memory }: ProcessContext,
): Promise<FirstLook> {
  const key = `watched/${notification.project}`;
  const seen = await memory.get(key);
  if (isMapping(seen) && typeof seen.at === 'string')
    return { memory: [], firstLooks: [], watchedSince: parseNanoseconds(seen.at) };
  const at = madeAt ?? receivedAt;
  return { memory: [{ key, value: { version: 1, at } }], firstLooks: [project], watchedSince: at };
}

function processed(
  event: ConnectionEvent,
  project: ProjectKey,
  found: GerritFinding,
  first: FirstLook,
  queries: readonly Step[],
): ProcessedEvent {
  const events = gerritTriggerEvents(event, found.happened);
  const announced = new Set(events.map(each => each.change.key));
  const updated = found.changes.map(({ change }) => change.key).filter(key => !announced.has(key));
  const firstLooks = found.lookAgain === true ? [project] : first.firstLooks;
  const isVisible = events.length + updated.length > 0;
  return {
    events,
    changes: found.changes,
    updated,
    memory: [...found.memory, ...first.memory],
    refusals: [],
    queries,
    ...(firstLooks.length === 0 ? {} : { firstLooks }),
    ...(found.again === undefined ? {} : { again: found.again }),
    ...(isVisible ? {} : { discarded: found.discarded ?? 'nothing happened that a pipeline could see' }),
  };
}

/**
 * Processes one notification: reads what it is about, and derives what happened.
 *
 *   1 form, and whether any tenant has the repository: no request before that          here
 *   2 what is remembered                                                               pull-memory.ts, memory-index.ts
 *   3 the thing now                                                                    read-pull.ts, read-ref.ts
 *   4 what happened in between                                                         pull-happenings.ts
 *   5 events, change records, new memory                                               trigger-event.ts
 *   6 what people ask for at GitHub: a button, a command in a comment                  process-button.ts, comment-command.ts
 *
 * Writes nothing, so it can be repeated: the same memory and the same answers give the same result.
 */

import { isMapping } from '../../../src/driver/read-mapping.ts';
import type { ProcessedEvent, ProcessedLater, Source } from '../../../src/driver/source.ts';
import { assertNever } from '../../../src/lib/assert-never.ts';
import { parseNanoseconds } from '../../../src/lib/clock.ts';
import type { ConnectionEvent } from '../../../src/model/event.ts';
import { type ProjectKey, projectKey } from '../../../src/model/project.ts';
import type { Step } from '../../../src/model/step.ts';
import { type Notification, readGithubNotification } from '../intake/notification.ts';
import { movedText } from '../repository-names.ts';
import { processButton } from './process-button.ts';
import { processCommit } from './process-commit.ts';
import { processMergeGroup } from './process-merge-group.ts';
import { processPull } from './process-pull.ts';
import { processRef } from './process-ref.ts';
import { processRules } from './process-rules.ts';
import {
  type EventProcessing,
  type GithubFinding,
  type GithubFound,
  type GithubProcessDeps,
  nothingFound,
} from './processing.ts';
import { githubTriggerEvents } from './trigger-event.ts';

type ProcessContext = Parameters<Source['process']>[1];

const NOTHING: ProcessedEvent = { events: [], changes: [], updated: [], memory: [], refusals: [] };
/** Steps of one event; later ones are left out of its trace. */
const MOST_STEPS = 50;

/** @throws RecordError `newer` when an upgraded process wrote the memory; the signal's reason. */
export async function processGithubEvent(
  event: ConnectionEvent,
  context: ProcessContext,
  deps: GithubProcessDeps,
): Promise<ProcessedEvent | ProcessedLater> {
  const notification = readGithubNotification(event.payload);
  if (notification === undefined)
    return { ...NOTHING, discarded: `a github connection has no event ${event.type} of this form` };
  if (notification.about.kind === 'installation') {
    deps.installationsChanged?.();
    return { ...NOTHING, discarded: 'what is known of installations is asked again' };
  }
  const project = projectKey({ connection: event.connection, name: notification.repository });
  if (!context.projects.has(project)) {
    const moved = movedFrom(event, notification, context.projects, deps);
    return { ...NOTHING, discarded: moved ?? `no tenant has project ${project}` };
  }
  const steps: Step[] = [];
  const call: EventProcessing['call'] = {
    repository: notification.repository,
    weight: 'event',
    signal: context.signal,
    steps: step => {
      if (steps.length < MOST_STEPS) steps.push(step);
    },
  };
  const { memory, record } = context;
  const first = await firstLook(project, event, notification, context);
  const { seenSince } = first;
  const found = await dispatch({ event, notification, project, memory, seenSince, record, call, deps });
  if ('later' in found) return { ...found, steps };
  const staleReads = deps.staleReads.settle(event.uuid);
  const queries = staleReads === 0 ? steps : steps.map((step, index) => noted(step, index, staleReads));
  return processed(event, project, found, first, queries);
}

/** On the last read of the host. */
function noted(step: Step, index: number, staleReads: number): Step {
  return index === 0 ? { ...step, facts: { ...step.facts, stale_reads: staleReads } } : step;
}

function dispatch(processing: EventProcessing): Promise<GithubFound> | GithubFound {
  const { about } = processing.notification;
  switch (about.kind) {
    case 'pull':
      return processPull(about, processing);
    case 'commit':
    case 'rerun':
      return processCommit(about, processing);
    case 'ref':
      return processRef(about, processing);
    case 'rules':
    case 'repository':
      return processRules(about, processing);
    case 'merge-group':
      return processMergeGroup(about, processing);
    case 'button':
      return processButton(about, processing);
    case 'installation':
      return nothingFound('of an installation');
    default:
      return assertNever(about);
  }
}

/** A repository of some tenant that has another name since. */
function movedFrom(
  { connection }: ConnectionEvent,
  { about, repository }: Notification,
  projects: ReadonlySet<ProjectKey>,
  { named }: Pick<GithubProcessDeps, 'named'>,
): string | undefined {
  if (about.kind !== 'repository' || about.formerName === undefined) return undefined;
  const former = projectKey({ connection, name: about.formerName });
  if (!projects.has(former)) return undefined;
  named?.(about.formerName, repository);
  return movedText(about.formerName, repository);
}

interface FirstLook {
  readonly memory: ProcessedEvent['memory'];
  readonly firstLooks: readonly ProjectKey[];
  readonly seenSince: EventProcessing['seenSince'];
}

/** Before the first event of a repository its branches may have moved unnoticed. */
async function firstLook(
  project: ProjectKey,
  { receivedAt }: ConnectionEvent,
  { repository }: Notification,
  { memory }: ProcessContext,
): Promise<FirstLook> {
  const key = `seen/${repository}`;
  const seen = await memory.get(key);
  if (seen === undefined)
    return {
      memory: [{ key, value: { version: 1, at: receivedAt } }],
      firstLooks: [project],
      seenSince: undefined,
    };
  const at = isMapping(seen) && typeof seen.at === 'string' ? parseNanoseconds(seen.at) : undefined;
  return { memory: [], firstLooks: [], seenSince: at };
}

function processed(
  event: ConnectionEvent,
  project: ProjectKey,
  found: GithubFinding,
  first: FirstLook,
  queries: readonly Step[],
): ProcessedEvent {
  const events = githubTriggerEvents(event, found.happened);
  const announced = new Set(events.map(each => each.change.key));
  const updated = found.changes.map(({ change }) => change.key).filter(key => !announced.has(key));
  const firstLooks = found.lookAgain === true ? [project] : first.firstLooks;
  const { dequeues = [], promotes = [], questions = [] } = found;
  const visible = events.length + updated.length + dequeues.length + promotes.length + questions.length > 0;
  return {
    events,
    changes: found.changes,
    updated,
    memory: [...found.memory, ...first.memory],
    refusals: found.refusals ?? [],
    queries,
    ...(dequeues.length === 0 ? {} : { dequeues }),
    ...(promotes.length === 0 ? {} : { promotes }),
    ...(questions.length === 0 ? {} : { questions }),
    ...(firstLooks.length === 0 ? {} : { firstLooks }),
    ...(found.again === undefined ? {} : { again: found.again }),
    ...(visible ? {} : { discarded: found.discarded ?? 'nothing happened that a pipeline could see' }),
  };
}

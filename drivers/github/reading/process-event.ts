/**
 * Processes one notification: reads what it is about, and derives what happened.
 *
 *   1 form, and whether any tenant has the repository: no request before that          here
 *   2 what is remembered                                                               pull-memory.ts, memory-index.ts
 *   3 the thing now                                                                    read-pull.ts, read-ref.ts
 *   4 what happened in between                                                         pull-happenings.ts
 *   5 what people ask for at GitHub: a button, a command in a comment                  process-button.ts, comment-command.ts
 *
 * `src/driver/answer-event.ts` makes events and the answer of it.
 */
import { answerEvent, discardedEvent } from '../../../src/driver/answer-event.ts';
import { nothingFound } from '../../../src/driver/host-finding.ts';
import type { ProcessedEvent, ProcessedLater, Source } from '../../../src/driver/source.ts';
import { assertNever } from '../../../src/lib/assert-never.ts';
import type { ConnectionEvent } from '../../../src/model/event.ts';
import { type ProjectKey, projectKey } from '../../../src/model/project.ts';
import { type Notification, readGithubNotification } from '../intake/notification.ts';
import { githubLanguages } from '../languages.ts';
import { movedText } from '../repository-names.ts';
import { processButton } from './process-button.ts';
import { processCommit } from './process-commit.ts';
import { processMergeGroup } from './process-merge-group.ts';
import { processPull } from './process-pull.ts';
import { processRef } from './process-ref.ts';
import { processRules } from './process-rules.ts';
import type { EventProcessing, GithubFound, GithubProcessDeps } from './processing.ts';

type ProcessContext = Parameters<Source['process']>[1];

/** @throws RecordError `newer` when an upgraded process wrote the memory; the signal's reason. */
export async function processGithubEvent(
  event: ConnectionEvent,
  context: ProcessContext,
  deps: GithubProcessDeps,
): Promise<ProcessedEvent | ProcessedLater> {
  const notification = readGithubNotification(event.payload);
  if (notification === undefined)
    return discardedEvent(`a github connection has no event ${event.type} of this form`);
  const { repository } = notification;
  if (notification.about.kind === 'installation') {
    deps.installationsChanged?.();
    return discardedEvent('what is known of installations is asked again');
  }
  const project = projectKey({ connection: event.connection, name: repository });
  if (!context.projects.has(project))
    return discardedEvent(
      movedFrom(event, notification, context.projects, deps) ?? `no tenant has project ${project}`,
    );
  const { memory, record, signal } = context;
  const answering = {
    ...{ driver: githubLanguages.name, staleReads: deps.staleReads },
    ...{ seenKey: `seen/${repository}`, at: event.receivedAt },
  };
  return await answerEvent(event, project, memory, answering, ({ since: seenSince, steps }) => {
    const call: EventProcessing['call'] = { repository, weight: 'event', signal, steps };
    return dispatch({ event, notification, project, memory, seenSince, record, call, deps });
  });
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

/**
 * Processes one notification: reads what it is about, and derives what happened.
 *
 *   1 form, and whether any tenant has the project: no request before that             here
 *   2 what is remembered                                                               change-memory.ts
 *   3 the change, its parents and footers, or the ref, or the branches, now            process-change.ts, read-record.ts, process-ref.ts, process-project.ts
 *   4 what happened in between                                                         change-happenings.ts
 *   5 the change record                                                                change-record.ts
 *
 * `src/driver/answer-event.ts` makes events and the answer of it.
 */
import { answerEvent, discardedEvent } from '../../../src/driver/answer-event.ts';
import { nothingFound } from '../../../src/driver/host-finding.ts';
import type { ProcessedEvent, ProcessedLater, Source } from '../../../src/driver/source.ts';
import { assertNever } from '../../../src/lib/assert-never.ts';
import type { ConnectionEvent } from '../../../src/model/event.ts';
import { projectKey } from '../../../src/model/project.ts';
import { readGerritNotification } from '../intake/notification.ts';
import { gerritLanguages } from '../languages.ts';
import { processMark } from '../listener/mark.ts';
import { processChange } from './process-change.ts';
import { processProject } from './process-project.ts';
import { processGerritRef } from './process-ref.ts';
import type { GerritFound, GerritProcessDeps, GerritProcessing } from './processing.ts';

type ProcessContext = Parameters<Source['process']>[1];

/** @throws RecordError `newer` when an upgraded process wrote the memory; the signal's reason. */
export async function processGerritEvent(
  event: ConnectionEvent,
  context: ProcessContext,
  deps: GerritProcessDeps,
): Promise<ProcessedEvent | ProcessedLater> {
  const notification = readGerritNotification(event.payload);
  if (notification === undefined)
    return discardedEvent(`a gerrit connection has no event ${event.type} of this form`);
  if (notification.about.kind === 'mark') return processMark(notification.about);
  const project = projectKey({ connection: event.connection, name: notification.project });
  if (!context.projects.has(project)) return discardedEvent(`no tenant has project ${project}`);
  const { memory, projects, record, signal } = context;
  const at = event.madeAt ?? event.receivedAt;
  const answering = {
    ...{ driver: gerritLanguages.name, staleReads: deps.staleReads, at },
    seenKey: `watched/${notification.project}`,
  };
  return await answerEvent(event, project, memory, answering, ({ since, steps }) => {
    const call: GerritProcessing['call'] = { project: notification.project, signal, steps };
    const watchedSince = since ?? at;
    return dispatch({ event, notification, project, projects, memory, watchedSince, record, call, deps });
  });
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
      return nothingFound('of the listener');
    default:
      return assertNever(about);
  }
}

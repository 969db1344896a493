/** A notification about a pull request: read it, compare, and say what happened. */
import { nothingFound } from '../../../src/driver/host-finding.ts';
import type { PullAbout } from '../intake/notification.ts';
import { commentCommand } from './comment-command.ts';
import { ownMerge } from './own-merge.ts';
import { type EventProcessing, type GithubFound, movedAway } from './processing.ts';
import { openPullIndexes, pullFinding, recallPull } from './pull-finding.ts';
import { isDone } from './pull-memory.ts';
import type { PullReading } from './read-pull.ts';

/** @throws RecordError `newer` when an upgraded process wrote the memory. */
export async function processPull(about: PullAbout, processing: EventProcessing): Promise<GithubFound> {
  const { event, notification, memory, project, call, deps } = processing;
  const { repository } = notification;
  const known = await recallPull(memory, repository, about.number);
  if (known !== undefined && about.once !== undefined && isDone(known, about.once))
    return nothingFound('it was processed with another delivery');
  if (about.comment !== undefined) {
    const us = await deps.api.identity(call);
    if (us.kind === 'later' || us.kind === 'lost') return { later: us.later };
    if (us.kind === 'ok' && us.data.login === notification.actor) return nothingFound('our own comment');
  }
  const merged = await ownMerge(about, known, processing);
  if (merged !== undefined) return merged;
  const what = `${repository}#${about.number}`;
  const read = await deps.readPull(project, about.number, call, about.base ?? known?.base);
  switch (read.kind) {
    case 'later':
      return { later: read.later };
    case 'moved':
      return movedAway(processing, read.name);
    case 'gone': {
      // A new pull request may be announced before the API shows it.
      const later = deps.staleReads.again(event.uuid, what);
      return later === undefined ? nothingFound(read.text) : { later };
    }
    case 'read': {
      const later = isOlder(read, about) ? deps.staleReads.again(event.uuid, what) : undefined;
      if (later !== undefined) return { later };
      const indexes = openPullIndexes(memory, repository);
      const finding = await pullFinding(known, read, indexes, processing);
      const command = await commentCommand(about, read.record.change, processing);
      if ('later' in command) return command;
      return { ...finding, ...command, memory: [...finding.memory, ...indexes.changes()] };
    }
  }
}

/** The webhook has whole seconds, as the API has. */
function isOlder({ pull }: PullReading, { updatedAt }: PullAbout): boolean {
  return updatedAt !== undefined && Date.parse(pull.updatedAt) < updatedAt;
}

/**
 * The webhook that a pull request was merged by us. Merged is final at GitHub: no reading could show anything else, however late the
 * webhook is, so the pull request is not read again (doc/decisions/0075). Merged by another it is read, because what else happened to
 * it may not have been processed yet.
 */
import { nothingFound } from '../../../src/driver/host-finding.ts';
import { type ChangeRecord, changeKey, commitOf } from '../../../src/model/change.ts';
import type { PullAbout } from '../intake/notification.ts';
import type { EventProcessing, GithubFinding } from './processing.ts';
import { indexHead, openPullIndexes } from './pull-finding.ts';
import { encodePullMemory, type PullMemory, pullMemoryKey } from './pull-memory.ts';

/** Undefined: it has to be read. @param known what is remembered of it. */
export async function ownMerge(
  about: PullAbout,
  known: PullMemory | undefined,
  processing: EventProcessing,
): Promise<GithubFinding | undefined> {
  const { project, record, notification, call, deps } = processing;
  if (about.mergedHead === undefined || known === undefined || known.head !== about.mergedHead)
    return undefined;
  if (known.status === 'merged') return nothingFound('it is known to be merged');
  const stored = record(changeKey(project, String(about.number)));
  if (known.status !== 'open' || known.base !== about.base || stored === undefined) return undefined;
  if (commitOf(stored.change) !== about.mergedHead) return undefined;
  const us = await deps.api.identity(call);
  if (us.kind !== 'ok' || us.data.login !== notification.actor) return undefined;
  return mergedFinding(known, stored, about, processing);
}

async function mergedFinding(
  known: PullMemory,
  stored: ChangeRecord,
  { number }: PullAbout,
  { memory, notification: { repository, actor }, deps }: EventProcessing,
): Promise<GithubFinding> {
  const indexes = openPullIndexes(memory, repository);
  const closed = { number, head: known.head, isOpen: false };
  await indexHead(closed, known, indexes.heads);
  await indexes.closed.set(String(number), '');
  const { isUnreported: _, ...rest } = known;
  return {
    happened: [
      {
        type: 'pull_request',
        facts: { action: 'closed', actor: { login: actor, permission: null } },
        change: stored.change,
      },
    ],
    changes: [{ ...stored, status: 'merged', fetchedAt: deps.clock.now() }],
    memory: [
      { key: pullMemoryKey(repository, number), value: encodePullMemory({ ...rest, status: 'merged' }) },
      ...indexes.changes(),
    ],
  };
}

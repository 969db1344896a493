/** Notifications about a commit: its statuses and check runs. Each pull request that has it as its head is read. */

import { nothingFound } from '../../../src/driver/host-finding.ts';
import type { MemoryIndex } from '../../../src/driver/memory-index.ts';
import type { ProcessedLater } from '../../../src/driver/source.ts';
import type { CommitAbout, RerunAbout } from '../intake/notification.ts';
import { type EventProcessing, type GithubFinding, type GithubFound, movedAway } from './processing.ts';
import { openPullIndexes, type PullIndexes, pullFinding, pullsOfHead, recallPull } from './pull-finding.ts';
import { contextText, isContextRunning } from './pull-happenings.ts';
import { isDone, type PullMemory } from './pull-memory.ts';
import { COMMIT_PULLS, type CommitPullsAnswer } from './query/commit-pulls.ts';
import { nodesOf } from './query/pull-state.ts';
import type { PullReading } from './read-pull.ts';
import { unread } from './unread.ts';

/** Pull requests with one head that are read for one event. */
const MOST_PULLS = 10;

/** @throws RecordError `newer` when an upgraded process wrote the memory. */
export async function processCommit(
  about: CommitAbout | RerunAbout,
  processing: EventProcessing,
): Promise<GithubFound> {
  const { notification, memory } = processing;
  const indexes = openPullIndexes(memory, notification.repository);
  const numbers = await pullsOfCommit(about.commit, indexes.heads, processing);
  if ('later' in numbers) return numbers;
  const findings: GithubFinding[] = [];
  for (const number of numbers.filter(each => !isMergedByUs(each, about, processing)).slice(0, MOST_PULLS)) {
    const found = await findingOf(number, about, indexes, processing);
    if ('later' in found) return found;
    findings.push(found);
  }
  const first = findings[0];
  if (first === undefined) return nothingFound('no open pull request has this commit as its head');
  const happened = findings.flatMap(each => each.happened);
  const changes = findings.flatMap(each => each.changes);
  const again = findings.flatMap(each => each.again ?? [])[0];
  return {
    happened,
    changes,
    memory: [...findings.flatMap(each => each.memory), ...indexes.changes()],
    ...(again === undefined ? {} : { again }),
    ...(happened.length + changes.length > 0 || first.discarded === undefined
      ? {}
      : { discarded: first.discarded }),
  };
}

/**
 * Open pull requests with this head: from the index; a commit that is not in it is looked for at GitHub. One that was a head and is
 * none any more is not: our own check ends after the pull request has landed.
 */
export async function pullsOfCommit(
  commit: string,
  heads: MemoryIndex,
  { call, deps }: EventProcessing,
): Promise<readonly number[] | ProcessedLater> {
  const known = await pullsOfHead(heads, commit);
  if (known !== undefined) return known;
  const [owner = '', name = ''] = call.repository.split('/');
  const answer = await deps.api.graphql<CommitPullsAnswer>(
    'commit-pulls',
    COMMIT_PULLS,
    { owner, name, commit },
    call,
  );
  if (answer.kind !== 'ok') {
    const why = unread(answer, `repository ${call.repository}`);
    return why.kind === 'later' ? { later: why.later } : [];
  }
  return nodesOf(answer.data.repository?.object?.associatedPullRequests).flatMap(
    ({ number, state, headRefOid }) => (state === 'OPEN' && headRefOid === commit ? [number] : []),
  );
}

/** Contexts of a merged pull request are no events: not read, where the event of the landing has not come yet. */
function isMergedByUs(
  number: number,
  about: CommitAbout | RerunAbout,
  { notification, deps }: EventProcessing,
): boolean {
  return (
    about.kind === 'commit' && deps.own?.isMerged(notification.repository, number, about.commit) === true
  );
}

async function findingOf(
  number: number,
  about: CommitAbout | RerunAbout,
  indexes: PullIndexes,
  processing: EventProcessing,
): Promise<GithubFound> {
  const { event, notification, memory, project, call, deps } = processing;
  const { repository } = notification;
  const known = await recallPull(memory, repository, number);
  const read = await deps.readPull(project, number, call, known?.base);
  if (read.kind === 'later') return { later: read.later };
  if (read.kind === 'moved') return movedAway(processing, read.name);
  if (read.kind === 'gone') return nothingFound(read.text);
  const later = isStale(read, about) ? deps.staleReads.again(event.uuid, about.commit) : undefined;
  if (later !== undefined) return { later };
  const finding = await pullFinding(known, read, indexes, processing);
  if (about.kind === 'commit') return finding;
  return { ...finding, happened: [...finding.happened, ...reruns(read, known, about, notification.actor)] };
}

/** The answer does not show what the webhook reported of this head. */
function isStale({ contexts, completedRuns, pull }: PullReading, about: CommitAbout | RerunAbout): boolean {
  if (about.kind !== 'commit' || about.context === undefined || pull.headRefOid !== about.commit)
    return false;
  const named = contexts.filter(({ name }) => name === about.context);
  if (named.length === 0) return true;
  const { completedRun } = about;
  return completedRun !== undefined && !completedRuns.has(completedRun) && named.every(isContextRunning);
}

/** Requests to run again: of one run, or of every run of our suite. Of an old head: none. */
function reruns(
  { pull, contexts, record }: PullReading,
  known: PullMemory | undefined,
  about: RerunAbout,
  login: string,
): GithubFinding['happened'] {
  if (pull.headRefOid !== about.commit) return [];
  if (about.once !== undefined && known !== undefined && isDone(known, about.once)) return [];
  const actor = { login, permission: null };
  return contexts
    .filter(
      ({ kind, app, name }) =>
        kind === 'check' && (about.run === undefined ? app === about.app : name === about.run),
    )
    .map(context => ({
      type: 'check_run',
      change: record.change,
      facts: { action: 'rerequested', check: contextText(context), actor },
    }));
}

/**
 * What happened to a change between two readings, as the events that Gerrit would have announced. Pure: memory and reading in, events
 * out, in an order that makes sense to a reader. The notification counts for a first reading alone, which has nothing to compare with.
 *
 *     patch set, restored   →   topic, hashtags, work in progress, private   →   comments and removed votes   →   abandoned, merged
 *
 * So a lost, doubled, late or swapped event ends in the same state: what it announced is found by the next reading, once.
 */
import { addMilliseconds, type Nanoseconds } from '../../../src/lib/clock.ts';
import { isBefore } from '../../../src/lib/time-window.ts';
import type { ChangeInfo, ChangeMessage } from '../api/change-info.ts';
import type { GerritAccount } from '../facts.ts';
import type { GerritEventFacts } from '../language/event-facts.ts';
import { type ChangeMemory, messagesSince, newestOf } from './change-memory.ts';
import { commentHappenings, type PatchsetComments, voteKey, votesInHeaders } from './comment-happenings.ts';
import { gerritsOwnTag, isComment } from './message-header.ts';
import { removalHappenings } from './removal-happenings.ts';

/** One event in the making. `type` is Gerrit's. */
export interface ChangeHappening {
  readonly type: string;
  readonly facts: GerritEventFacts;
}

/** Comments and removals of one reading, the newest: all of them have to fit into one commit of the store. */
const MOST_OF_MESSAGES = 60;
/** New messages looked at, the newest. */
const MOST_FRESH = 300;

/**
 * @param before as {@link changeBaseline} gives it: undefined for a change that is new.
 * @param patchsetComments those on a patch set as a whole, by the id of the message they came with.
 */
export function changeHappenings(
  before: ChangeMemory | undefined,
  now: ChangeMemory,
  info: ChangeInfo,
  patchsetComments: PatchsetComments = new Map(),
): readonly ChangeHappening[] {
  const fresh = freshMessages(info, before);
  const by: By = tags =>
    fresh.findLast(message => tags.includes(gerritsOwnTag(message) ?? ''))?.author ?? null;
  const said = [
    ...commentHappenings({ before, now, info, fresh, patchsetComments }),
    ...removalHappenings(before, now, info, fresh),
  ].toSorted((a, b) => a.place - b.place);
  return [
    ...beginnings(before, now, info, by),
    ...(before === undefined ? [] : edits(before, now, by)),
    ...said.slice(-MOST_OF_MESSAGES).map(({ type, facts }) => ({ type, facts })),
    ...endings(before, now, by),
  ];
}

/** The newest messages that came since, oldest first. */
export function freshMessages(
  { messages }: ChangeInfo,
  before: Pick<ChangeMemory, 'newest'> | undefined,
): readonly ChangeMessage[] {
  return messagesSince(messages, before?.newest).slice(-MOST_FRESH);
}

/** Who did it, by the newest of Gerrit's own messages with one of the tags. */
type By = (tags: readonly string[]) => GerritAccount | null;

/**
 * Of several patch sets the newest. A change that moved to another branch is new there: Gerrit announces nothing, and its votes and
 * results are those of the other branch.
 */
function beginnings(
  before: ChangeMemory | undefined,
  now: ChangeMemory,
  { revision }: ChangeInfo,
  by: By,
): readonly ChangeHappening[] {
  if (now.status !== 'NEW') return [];
  const patchset = now.patchset;
  const happened: ChangeHappening[] = [];
  if (before?.revision !== now.revision)
    happened.push({ type: 'patchset-created', facts: { by: revision.uploader, patchset } });
  else if (before.branch !== now.branch)
    happened.push({ type: 'patchset-created', facts: { by: by(['move']), patchset } });
  if (before?.status === 'ABANDONED')
    happened.push({ type: 'change-restored', facts: { by: by(['restore']), patchset } });
  return happened;
}

function edits(before: ChangeMemory, now: ChangeMemory, by: By): readonly ChangeHappening[] {
  const { patchset } = now;
  const happened: ChangeHappening[] = [];
  if (before.topic !== now.topic)
    happened.push({ type: 'topic-changed', facts: { by: by(['setTopic']), patchset } });
  const added = now.hashtags.filter(tag => !before.hashtags.includes(tag));
  const removed = before.hashtags.filter(tag => !now.hashtags.includes(tag));
  if (added.length + removed.length > 0)
    happened.push({
      type: 'hashtags-changed',
      facts: { by: by(['setHashtag']), patchset, added, removed },
    });
  if (before.wip !== now.wip)
    happened.push({
      type: 'wip-state-changed',
      facts: {
        by: by(['setWorkInProgress', 'setReadyForReview', 'newWipPatchSet', 'newPatchSet']),
        patchset,
      },
    });
  if (before.private !== now.private)
    happened.push({
      type: 'private-state-changed',
      facts: { by: by(['setPrivate', 'unsetPrivate']), patchset },
    });
  return happened;
}

function endings(before: ChangeMemory | undefined, now: ChangeMemory, by: By): readonly ChangeHappening[] {
  if (before?.status === now.status || before?.status === 'MERGED') return [];
  const { patchset } = now;
  switch (now.status) {
    case 'MERGED':
      return [{ type: 'change-merged', facts: { by: by(['merged']), patchset } }];
    case 'ABANDONED':
      return [{ type: 'change-abandoned', facts: { by: by(['abandon']), patchset } }];
    case 'NEW':
      return [];
  }
}

/** Milliseconds by which Gerrit's clock may be behind ours, and by which an event may be behind what it is about. */
const CLOCKS_DIFFER = 10_000;

/**
 * What to compare the first reading with. A change that is new is compared with nothing. An older one (it was there before this service
 * was, or the memory was lost) is compared with itself less what the notification says, and less what was done since the project is
 * watched: its event was lost, or is late.
 *
 * @param event type of the notification. @param watchedSince when the first event of the project came in.
 */
export function changeBaseline(
  now: ChangeMemory,
  info: ChangeInfo,
  event: string,
  watchedSince: Nanoseconds,
): ChangeMemory | undefined {
  const since = addMilliseconds(watchedSince, -CLOCKS_DIFFER);
  if (!isBefore(info.createdAt, since)) return undefined;
  const newest = newestBefore(info.messages, since, event);
  const tags = new Set(info.messages.filter(({ at }) => !isBefore(at, since)).map(gerritsOwnTag));
  const shows = (type: string, ...ofMessages: readonly string[]) =>
    event === type || ofMessages.some(tag => tags.has(tag));
  const isNewPatchset = event === 'patchset-created' || !isBefore(info.revision.createdAt, since);
  const wip = shows('wip-state-changed', 'setWorkInProgress', 'setReadyForReview') ? !now.wip : now.wip;
  const isPrivate = shows('private-state-changed', 'setPrivate', 'unsetPrivate') ? !now.private : now.private;
  return {
    ...now,
    newest,
    votes: votesBefore(now, messagesSince(info.messages, newest)),
    status: statusBefore(now.status, shows),
    ...{ wip, private: isPrivate },
    ...(now.status === 'NEW' && isNewPatchset ? { revision: '', patchset: 0, votes: [] } : {}),
    ...(shows('topic-changed', 'setTopic') ? { topic: now.topic === null ? '' : null } : {}),
    ...(shows('hashtags-changed', 'setHashtag') ? { hashtags: hashtagsBefore(now, info) } : {}),
  };
}

/** Without those that the new comments gave. */
function votesBefore({ votes }: ChangeMemory, fresh: readonly ChangeMessage[]): ChangeMemory['votes'] {
  const given = votesInHeaders(fresh);
  return votes.filter(({ label, by }) => !given.has(voteKey(by, label)));
}

type Shows = (type: string, ...ofMessages: readonly string[]) => boolean;

function statusBefore(status: ChangeInfo['status'], shows: Shows): ChangeInfo['status'] {
  switch (status) {
    case 'NEW':
      return shows('change-restored', 'restore') ? 'ABANDONED' : 'NEW';
    case 'ABANDONED':
      return shows('change-abandoned', 'abandon') ? 'NEW' : 'ABANDONED';
    case 'MERGED':
      return shows('change-merged', 'merged') ? 'NEW' : 'MERGED';
  }
}

/** Of a notification of a comment, the newest comment is new in any case. */
function newestBefore(
  messages: readonly ChangeMessage[],
  since: Nanoseconds,
  event: string,
): ChangeMemory['newest'] {
  const old = messages.filter(({ at }) => isBefore(at, since));
  const isAnnounced = event === 'comment-added' && !messages.slice(old.length).some(isComment);
  const last = isAnnounced ? old.findLastIndex(isComment) : -1;
  return newestOf(last < 0 ? old : old.slice(0, last));
}

/** `Hashtags added: gate, x\nHashtag removed: h1`, in the newest message about them. */
function hashtagsBefore(now: ChangeMemory, { messages }: ChangeInfo): readonly string[] {
  const text = messages.findLast(message => gerritsOwnTag(message) === 'setHashtag')?.text ?? '';
  const listed = (verb: 'added' | 'removed') =>
    new RegExp(`^Hashtags? ${verb}: (.*)$`, 'm').exec(text)?.[1]?.split(', ') ?? [];
  const added = new Set(listed('added'));
  return [...now.hashtags.filter(tag => !added.has(tag)), ...listed('removed')].toSorted();
}

/**
 * Votes that were taken away, as `vote-deleted`, or as `reviewer-deleted` where their voter is no reviewer any more. Those that went with
 * a new patch set, or that their voter took back in a comment, are none.
 */
import type { ChangeInfo, ChangeMessage } from '../api/change-info.ts';
import type { EventVote } from '../language/event-facts.ts';
import { accountKey, type ChangeMemory } from './change-memory.ts';
import { type MessageHappening, voteKey, votesByPerson, votesInHeaders } from './comment-happenings.ts';
import { gerritsOwnTag, removedVotes } from './message-header.ts';

/** A person's votes that are gone. */
interface Loss {
  readonly person: string;
  readonly lost: readonly { readonly label: string; readonly value: number }[];
  readonly votes: readonly EventVote[];
}

/** @param fresh messages that came since `before`, oldest first. */
export function removalHappenings(
  before: ChangeMemory | undefined,
  now: ChangeMemory,
  info: ChangeInfo,
  fresh: readonly ChangeMessage[],
): readonly MessageHappening[] {
  const losses = new Set(before?.revision === now.revision ? lossesOf(before, now, info, fresh) : []);
  const patchset = now.patchset;
  const announced = fresh.flatMap((message, place): readonly MessageHappening[] => {
    const type = REMOVALS.get(gerritsOwnTag(message) ?? '');
    if (type === undefined) return [];
    const removed = removedVotes(message);
    const loss = [...losses].find(({ lost }) =>
      lost.some(({ label, value }) => removed.some(each => each.label === label && each.value === value)),
    );
    if (loss !== undefined) losses.delete(loss);
    const votes = loss?.votes ?? removed.map(({ label, value }) => ({ label, value: 0, before: value }));
    return [{ type, place, facts: { by: message.author, votes, patchset: message.patchset ?? patchset } }];
  });
  const reviewers = new Set(info.reviewers.map(accountKey));
  const unannounced = [...losses].map(({ person, votes }): MessageHappening => {
    const type = reviewers.has(person) ? 'vote-deleted' : 'reviewer-deleted';
    return { type, place: fresh.length, facts: { by: null, votes, patchset } };
  });
  return [...announced, ...unannounced];
}

const REMOVALS: ReadonlyMap<string, MessageHappening['type']> = new Map([
  ['deleteVote', 'vote-deleted'],
  ['deleteReviewer', 'reviewer-deleted'],
]);

function lossesOf(
  before: ChangeMemory,
  now: ChangeMemory,
  { labels }: ChangeInfo,
  fresh: readonly ChangeMessage[],
): readonly Loss[] {
  const present = votesByPerson(now);
  const commented = votesInHeaders(fresh);
  return [...votesByPerson(before)].flatMap(([person, votes]): readonly Loss[] => {
    const theirs = present.get(person);
    const lost = [...votes]
      .filter(([label]) => theirs?.get(label) === undefined && !commented.has(voteKey(person, label)))
      .map(([label, value]) => ({ label, value }));
    if (lost.length === 0) return [];
    const gone = new Map(lost.map(({ label, value }) => [label, value]));
    const all = labels.map(({ name: label }) => {
      const value = theirs?.get(label) ?? 0;
      return { label, value, before: gone.get(label) ?? value };
    });
    return [{ person, lost, votes: all }];
  });
}

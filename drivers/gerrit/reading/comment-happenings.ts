/**
 * New comments of a reading as `comment-added`, with the votes of who wrote them.
 *
 * Gerrit names in a comment's header the votes that it changed; what the others were is known from the memory and from the reading. A
 * changed vote that no header names is one of its voter's newest comment.
 */
import type { ChangeInfo, ChangeMessage } from '../api/change-info.ts';
import type { EventVote, GerritEventFacts } from '../language/event-facts.ts';
import { accountKey, type ChangeMemory } from './change-memory.ts';
import { headerVotes, isComment } from './message-header.ts';

/** An event of a message. */
export interface MessageHappening {
  readonly type: 'comment-added' | 'vote-deleted' | 'reviewer-deleted';
  readonly facts: GerritEventFacts;
  /** Place of the message among the new ones. */
  readonly place: number;
}

/** Characters of a comment; of many in one reading fewer, so that all of them fit into one commit of the store. */
const LONGEST = 4_096;
const LONGEST_OF_MANY = 1_024;
const MANY = 20;

/** Comments on a patch set as a whole, by the id of the message they came with. */
export type PatchsetComments = ReadonlyMap<string, readonly string[]>;

/** What comments are made of. */
interface FreshComments {
  readonly before: ChangeMemory | undefined;
  readonly now: ChangeMemory;
  readonly info: ChangeInfo;
  /** Messages that came since `before`, oldest first. */
  readonly fresh: readonly ChangeMessage[];
  readonly patchsetComments: PatchsetComments;
}

/** Of one message. */
const MOST_PATCHSET_COMMENTS = 10;

/** @returns in the order of the messages. */
export function commentHappenings(comments: FreshComments): readonly MessageHappening[] {
  const { now, fresh, patchsetComments } = comments;
  const longest = fresh.length > MANY ? LONGEST_OF_MANY : LONGEST;
  const cut = (text: string) => text.slice(0, longest).toWellFormed();
  const votes = createVoteReplay(comments);
  return fresh.flatMap((message, place): readonly MessageHappening[] => {
    if (!isComment(message) || message.author === null) return [];
    const onPatchset = patchsetComments.get(message.id)?.slice(0, MOST_PATCHSET_COMMENTS).map(cut);
    const facts: GerritEventFacts = {
      by: message.author,
      comment: cut(message.text),
      ...(onPatchset === undefined ? {} : { patchsetComments: onPatchset }),
      tag: message.tag,
      votes: votes(message),
      patchset: message.patchset ?? now.patchset,
    };
    return [{ type: 'comment-added', facts, place }];
  });
}

/** Votes of one person by label. */
type Votes = Map<string, number>;

/** @returns to be asked for each comment in order. */
function createVoteReplay({
  before,
  now,
  info: { labels },
  fresh,
}: FreshComments): (message: ChangeMessage) => readonly EventVote[] {
  const names = labels.map(({ name }) => name);
  const isSamePatchset = before?.revision === now.revision;
  const known = isSamePatchset ? votesByPerson(before) : undefined;
  const present = votesByPerson(now);
  const isCurrent = ({ patchset }: ChangeMessage) => patchset === null || patchset === now.patchset;
  const comments = fresh.filter(message => isComment(message) && isCurrent(message));
  const replayed = new Map<string, Votes>();
  return message => {
    const header = headerVotes(message);
    if (!isCurrent(message)) return names.map(label => ({ label, value: header.get(label) ?? 0, before: 0 }));
    const person = personOf(message);
    const theirs = comments.filter(each => personOf(each) === person);
    const named = new Set(theirs.flatMap(each => [...headerVotes(each).keys()]));
    const voted: Votes =
      replayed.get(person) ??
      new Map(known === undefined ? unnamed(present.get(person), named) : known.get(person));
    const isNewest = theirs.at(-1) === message;
    const votes = names.map(label => {
      const earlier = voted.get(label) ?? 0;
      const settled = isNewest && !named.has(label) ? present.get(person)?.get(label) : undefined;
      return { label, value: header.get(label) ?? settled ?? earlier, before: earlier };
    });
    replayed.set(person, new Map(votes.map(({ label, value }) => [label, value])));
    return votes;
  };
}

/** Votes that were carried over to this patch set: no header names them. */
function unnamed(
  votes: Votes | undefined,
  named: ReadonlySet<string>,
): readonly (readonly [string, number])[] {
  return [...(votes ?? [])].filter(([label]) => !named.has(label));
}

function personOf({ author }: ChangeMessage): string {
  return author === null ? '' : accountKey(author);
}

/** By {@link accountKey}. */
export function votesByPerson({
  votes,
}: Pick<ChangeMemory, 'votes'>): ReadonlyMap<string, Map<string, number>> {
  const people = new Map<string, Votes>();
  for (const { by, label, value } of votes) {
    const theirs = people.get(by) ?? new Map<string, number>();
    people.set(by, theirs.set(label, value));
  }
  return people;
}

/** Names a person's vote. @param person as {@link accountKey} gives it. */
export function voteKey(person: string, label: string): string {
  return `${label} ${person}`;
}

/** The {@link voteKey}s of all votes that comments gave or took back. */
export function votesInHeaders(messages: readonly ChangeMessage[]): ReadonlySet<string> {
  const comments = messages.filter(isComment);
  return new Set(
    comments.flatMap(comment =>
      [...headerVotes(comment).keys()].map(label => voteKey(personOf(comment), label)),
    ),
  );
}

/**
 * What is remembered of a change between two readings: enough to see what happened in between. One entry per change, deflated, below
 * 1 KB for most.
 *
 * Messages are remembered by the time of the newest one and how many have that time: Gerrit only appends to a change's history, and its
 * ids differ once an older message was deleted.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { isMapping } from '../../../src/driver/read-mapping.ts';
import type { Nanoseconds } from '../../../src/lib/clock.ts';
import { sha256 } from '../../../src/lib/ids.ts';
import { isBefore } from '../../../src/lib/time-window.ts';
import type { ChangeRecord } from '../../../src/model/change.ts';
import { RecordError } from '../../../src/model/codec/record.ts';
import type { Json } from '../../../src/model/job.ts';
import type { ChangeInfo, ChangeMessage } from '../api/change-info.ts';
import type { GerritAccount } from '../facts.ts';

/** The newest messages: how many have this time. */
export interface NewestMessages {
  readonly at: Nanoseconds;
  readonly count: number;
}

/** A vote other than 0 on the remembered patch set. */
interface RememberedVote {
  /** As {@link accountKey} gives it. */
  readonly by: string;
  readonly label: string;
  readonly value: number;
}

/** The change as of the last reading. */
export interface ChangeMemory {
  readonly status: ChangeInfo['status'];
  /** Gerrit shows it no more. `deleted`: for good, as Gerrit announced. */
  readonly gone?: 'hidden' | 'deleted';
  /** A first look read it: no event was made of what it found. */
  readonly isUnreported?: true;
  readonly patchset: number;
  readonly revision: string;
  readonly branch: string;
  readonly wip: boolean;
  readonly private: boolean;
  readonly topic: string | null;
  readonly hashtags: readonly string[];
  readonly votes: readonly RememberedVote[];
  readonly newest: NewestMessages;
  /** `updated` of the change. */
  readonly updatedAt: Nanoseconds;
  /** Digest of the change record. */
  readonly record: string;
}

const VERSION = 1;
/** Votes and hashtags remembered; those beyond are not noticed. */
const MOST_VOTES = 1_000;
const MOST_HASHTAGS = 200;
/** Characters of a topic or hashtag. */
const MOST_TEXT = 500;
const MOST_UNPACKED = 512 * 1024;

/** @param number is unique over the whole of a Gerrit. */
export function changeMemoryKey(number: number): string {
  return `change/${number}`;
}

/** @param record of the same reading. */
export function changeMemory(info: ChangeInfo, record: ChangeRecord): ChangeMemory {
  return {
    status: info.status,
    patchset: info.revision.number,
    revision: info.revision.commit,
    branch: info.branch,
    wip: info.wip,
    private: info.private,
    topic: info.topic?.slice(0, MOST_TEXT) ?? null,
    hashtags: info.hashtags
      .slice(0, MOST_HASHTAGS)
      .map(tag => tag.slice(0, MOST_TEXT))
      .toSorted(),
    votes: votesOf(info),
    newest: newestOf(info.messages),
    updatedAt: info.updatedAt,
    record: recordDigest(record),
  };
}

function votesOf({ labels }: ChangeInfo): readonly RememberedVote[] {
  const votes = labels.flatMap(({ name: label, votes: given }) =>
    given.flatMap(({ by, value }) => (value === 0 ? [] : [{ by: accountKey(by), label, value }])),
  );
  return votes.slice(0, MOST_VOTES);
}

/** Names an account in memories: its id, or what else Gerrit shows of it. */
export function accountKey({ id, username, email, name }: GerritAccount): string {
  return id === null ? (username ?? email ?? name ?? '').slice(0, MOST_TEXT) : String(id);
}

/** Of none: the epoch. */
export function newestOf(messages: readonly ChangeMessage[]): NewestMessages {
  let newest: NewestMessages = { at: '0' as Nanoseconds, count: 0 };
  for (const { at } of messages) {
    const order = compareTimes(at, newest.at);
    if (order > 0) newest = { at, count: 1 };
    else if (order === 0) newest = { at, count: newest.count + 1 };
  }
  return newest;
}

/** Oldest first: those that came since. @param known undefined: all. */
export function messagesSince(
  messages: readonly ChangeMessage[],
  known: NewestMessages | undefined,
): readonly ChangeMessage[] {
  if (known === undefined) return messages;
  let seen = 0;
  return messages.filter(({ at }) => {
    const order = compareTimes(at, known.at);
    if (order !== 0) return order > 0;
    seen += 1;
    return seen > known.count;
  });
}

/**
 * Whether the reading shows an earlier state than the memory. Gerrit's times are whole seconds, so messages are counted as well: nearly
 * everything that happens to a change writes one.
 */
export function isOlderReading(info: ChangeInfo, memory: ChangeMemory | undefined): boolean {
  if (memory === undefined) return false;
  const newest = newestOf(info.messages);
  const order =
    info.revision.number - memory.patchset ||
    compareTimes(info.updatedAt, memory.updatedAt) ||
    compareTimes(newest.at, memory.newest.at) ||
    newest.count - memory.newest.count;
  return order < 0;
}

function compareTimes(a: Nanoseconds, b: Nanoseconds): number {
  if (a === b) return 0;
  return isBefore(a, b) ? -1 : 1;
}

/** The same for records that differ only in when they were read and when Gerrit last touched the change. */
function recordDigest({ fetchedAt: _, ...record }: ChangeRecord): string {
  const { updatedAt: __, ...facts } = isMapping(record.facts) ? record.facts : {};
  return sha256(JSON.stringify({ ...record, facts })).slice(0, 16);
}

/** In the form that {@link decodeChangeMemory} reads. */
export function encodeChangeMemory(memory: ChangeMemory): Json {
  return { version: VERSION, packed: deflateRawSync(JSON.stringify(memory)).toString('base64') };
}

/** @returns undefined: nothing is remembered. @throws RecordError `newer` when an upgraded process wrote it. */
export function decodeChangeMemory(value: Json | undefined): ChangeMemory | undefined {
  if (!isMapping(value)) return undefined;
  if (typeof value.version === 'number' && value.version > VERSION)
    throw new RecordError(
      'newer',
      `the memory of a change has version ${value.version}; known is ${VERSION}`,
    );
  if (value.version !== VERSION || typeof value.packed !== 'string') return undefined;
  const text = inflateRawSync(Buffer.from(value.packed, 'base64'), { maxOutputLength: MOST_UNPACKED });
  return JSON.parse(text.toString());
}

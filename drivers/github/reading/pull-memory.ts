/**
 * What is remembered of a pull request between two readings: enough to see what happened in between. One entry per pull request,
 * deflated, about 1 KB.
 *
 * Contexts and reviews are remembered as digests: to know that one differs, not what it was.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { isMapping } from '../../../src/driver/read-mapping.ts';
import { sha256 } from '../../../src/lib/ids.ts';
import type { ChangeStatus } from '../../../src/model/change.ts';
import { RecordError } from '../../../src/model/codec/record.ts';
import type { Json } from '../../../src/model/job.ts';
import type { ContextFact } from '../facts.ts';
import { nodesOf, type ReviewNode } from './query/pull-state.ts';
import type { PullReading } from './read-pull.ts';

/** The pull request as of the last reading. */
export interface PullMemory {
  /** Its opening was reported, or lies before the first reading. */
  readonly announced: boolean;
  /** No reading so far led to an event. */
  readonly isUnreported?: true;
  readonly head: string;
  readonly base: string;
  readonly status: ChangeStatus;
  readonly draft: boolean;
  readonly title: string;
  readonly body: string;
  readonly labels: readonly string[];
  /** Digests of reviews with their state. */
  readonly reviews: readonly string[];
  /** Digests of kind, maker and name of each context → of its state. */
  readonly contexts: ReadonlyMap<string, string>;
  /** Deeds that were processed, newest last: `comment-991`. */
  readonly done: readonly string[];
  /** Of the change record. */
  readonly record: string;
}

const VERSION = 1;
/** Deeds remembered for each pull request. */
const MOST_DONE = 60;
/** Contexts remembered; those beyond are not noticed. */
const MOST_CONTEXTS = 500;
const MOST_UNPACKED = 256 * 1024;

/** @param repository `owner/name`. */
export function pullMemoryKey(repository: string, number: number): string {
  return `pull/${repository}/${number}`;
}

/** @param before its deeds and announcement are kept. */
export function pullMemory(reading: PullReading, before: PullMemory | undefined): PullMemory {
  const { pull, record, contexts } = reading;
  const { fetchedAt: _, ...lasting } = record;
  return {
    announced: before?.announced ?? false,
    head: pull.headRefOid,
    base: pull.baseRefName,
    status: record.status,
    draft: pull.isDraft,
    title: digest(pull.title),
    body: digest(pull.body),
    labels: nodesOf(pull.labels).map(({ name }) => name),
    reviews: nodesOf(pull.latestOpinionatedReviews).map(reviewDigest),
    contexts: new Map(
      contexts.slice(0, MOST_CONTEXTS).map(each => [contextDigest(each), digest(each.state, 4)]),
    ),
    done: before?.done ?? [],
    record: digest(JSON.stringify(withoutClock(lasting)), 16),
  };
}

/** `updatedAt` differs after every comment; a record that differs in nothing else is the same. */
function withoutClock(record: { readonly facts: Json }): object {
  const { updatedAt: _, ...facts } = isMapping(record.facts) ? record.facts : {};
  return { ...record, facts };
}

/** @returns the memory with one more deed. */
export function withDeed(memory: PullMemory, once: string | undefined): PullMemory {
  if (once === undefined) return memory;
  return { ...memory, done: [...memory.done.filter(each => each !== once), once].slice(-MOST_DONE) };
}

/**
 * Whether the deed was processed before. Comments have growing numbers: one below all that are remembered, when as many as
 * possible are, was processed or is days old.
 */
export function isDone(memory: PullMemory, once: string): boolean {
  if (memory.done.includes(once)) return true;
  const number = commentNumber(once);
  if (number === undefined || memory.done.length < MOST_DONE) return false;
  const known = memory.done.flatMap(each => commentNumber(each) ?? []);
  return known.length > 0 && number < Math.min(...known);
}

function commentNumber(once: string): number | undefined {
  const found = /^comment-(\d+)$/.exec(once)?.[1];
  return found === undefined ? undefined : Number(found);
}

/** Of a review and what it says now. */
export function reviewDigest({ author, state, commit, submittedAt }: ReviewNode): string {
  return digest(JSON.stringify([author?.login, state, commit?.oid, submittedAt]));
}

/** Of a context without its state. */
export function contextDigest({ kind, by, name }: ContextFact): string {
  return digest(JSON.stringify([kind, by, name]));
}

/** Of its state. */
export function stateDigest({ state }: ContextFact): string {
  return digest(state, 4);
}

function digest(text: string, digits = 8): string {
  return sha256(text).slice(0, digits);
}

/** In the form that {@link decodePullMemory} reads. */
export function encodePullMemory(memory: PullMemory): Json {
  const text = JSON.stringify({ ...memory, contexts: [...memory.contexts] });
  return { version: VERSION, packed: deflateRawSync(text).toString('base64') };
}

/** @returns undefined: nothing is remembered. @throws RecordError `newer` when an upgraded process wrote it. */
export function decodePullMemory(value: Json | undefined): PullMemory | undefined {
  if (typeof value !== 'object' || value === null || !('version' in value) || !('packed' in value))
    return undefined;
  if (typeof value.version === 'number' && value.version > VERSION)
    throw new RecordError(
      'newer',
      `the memory of a pull request has version ${value.version}; known is ${VERSION}`,
    );
  if (value.version !== VERSION || typeof value.packed !== 'string') return undefined;
  const text = inflateRawSync(Buffer.from(value.packed, 'base64'), { maxOutputLength: MOST_UNPACKED });
  const read: Omit<PullMemory, 'contexts'> & { readonly contexts: readonly [string, string][] } = JSON.parse(
    text.toString(),
  );
  return { ...read, contexts: new Map(read.contexts) };
}

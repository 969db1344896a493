/**
 * Fetches the changes that a change depends on, transitively, those of its topic among them, and records the queries.
 *
 * An event refreshes its own project only. Records of other projects may be out of date after a lost webhook, so open changes there
 * are fetched again: a missed approval must not delay the change until the next poll. Where the host does not answer, the known
 * record counts. Lines that named no change are resolved again.
 */
import type { Connection } from '../../driver/connection.ts';
import type { Clock, Nanoseconds } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import {
  type Change,
  type ChangeKey,
  type ChangeRecord,
  changeKeyText,
  changeText,
  connectionOfKey,
} from '../../model/change.ts';
import type { ConnectionName } from '../../model/project.ts';
import type { Step } from '../../model/step.ts';
import type { ChangeCache } from '../changes/change-cache.ts';
import { withOwnReports } from '../changes/own-reports.ts';
import type { DependencyResolver } from '../changes/resolve-dependencies.ts';
import { isRemoteFault } from '../remote-fault.ts';
import type { TopicMembers, TopicQuestions } from './topic-members.ts';

/** Far beyond any `max-dependencies`; stops a hostile chain. */
const MAX_ASKED = 200;

/** Known changes of other projects fetched again: a commit message may have any number of `Depends-On` lines. */
const MOST_REFRESHED = 40;

/** Queries shown in a trace. */
const MOST_QUERIES = 50;

/** Passed by the tenant's holder, before a pipeline takes the change. */
export interface MissingRecordsDeps {
  readonly changes: Pick<ChangeCache, 'record' | 'fresh' | 'mark' | 'changedSince'>;
  readonly connections: ReadonlyMap<ConnectionName, Connection>;
  readonly dependencies: DependencyResolver;
  readonly topics: TopicQuestions;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Pick<Log, 'warn'>;
}

/** @param since when the event was received: newer records are not fetched again. */
export async function missingRecords(
  change: Change,
  since: Nanoseconds,
  deps: MissingRecordsDeps,
  signal: AbortSignal,
): Promise<{ readonly records: readonly ChangeRecord[]; readonly queries: readonly Step[] }> {
  const { changes: cache, clock } = deps;
  const queries: Step[] = [];
  const found = new Map<ChangeKey, ChangeRecord>();
  const seen = new Set<ChangeKey>([change.key]);
  const begun = cache.mark();
  let refreshed = 0;

  /** @returns what it needs directly. */
  async function resolved(key: ChangeKey): Promise<readonly ChangeKey[]> {
    const record = await current(key);
    if (record === undefined) return [];
    const topic = await deps.topics.membersOf(record, since, signal);
    if (topic !== null && topic.asked !== null) queries.push(topicQuery(key, topic.asked));
    const sized = topic === null ? record : withTopicSize(record, topic);
    const next = await deps.dependencies.resolve(sized, signal);
    if (next !== record || found.has(key)) found.set(key, next);
    return [...next.dependsOn, ...(topic?.changes ?? [])];
  }

  async function current(key: ChangeKey): Promise<ChangeRecord | undefined> {
    const known = cache.record(key);
    if (known !== undefined && !isDue(known, change, since)) return known;
    if (known !== undefined && ++refreshed > MOST_REFRESHED) return known;
    const startedAt = clock.now();
    const record = known === undefined ? await ask(key, deps, signal) : await askAgain(known, deps, signal);
    queries.push(queryOf(key, startedAt, clock.now()));
    if (record !== undefined) found.set(key, withOwnReports(record, known));
    // The host does not have it any more: the next poll of its project finds out why.
    return record ?? known;
  }

  // One depth at a time: queries to the same host share its answer.
  for (let depth: ChangeKey[] = [change.key]; depth.length > 0 && found.size < MAX_ASKED; ) {
    const needed = await Promise.all(depth.slice(0, MAX_ASKED).map(resolved));
    depth = needed.flat().filter(key => !seen.has(key));
    for (const key of depth) seen.add(key);
    depth = [...new Set(depth)];
  }
  await cache.fresh();
  // A record written meanwhile, by a landing perhaps, is newer than the host's answer.
  const records = [...found.values()].filter(record => !cache.changedSince(begun, [record.change.key]));
  return { records, queries: queries.slice(0, MOST_QUERIES) };
}

function isDue({ change, status, fetchedAt }: ChangeRecord, of: Change, since: Nanoseconds): boolean {
  return status === 'open' && change.project !== of.project && BigInt(fetchedAt) < BigInt(since);
}

async function askAgain(
  known: ChangeRecord,
  deps: MissingRecordsDeps,
  signal: AbortSignal,
): Promise<ChangeRecord | undefined> {
  const { key } = known.change;
  try {
    return await ask(key, deps, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (!isRemoteFault(error)) throw error;
    deps.log.warn(
      { err: error, change: changeText(known.change) },
      'the host could not be asked about a dependency; the known record counts',
    );
    return undefined;
  }
}

function queryOf(key: ChangeKey, startedAt: Nanoseconds, endedAt: Nanoseconds): Step {
  return {
    kind: 'HostQuery',
    subject: 'change',
    startedAt,
    endedAt,
    facts: { query: 'change', change: changeKeyText(key), connection: connectionOfKey(key) },
  };
}

function topicQuery(key: ChangeKey, { startedAt, endedAt }: NonNullable<TopicMembers['asked']>): Step {
  const facts = { query: 'topic', change: changeKeyText(key), connection: connectionOfKey(key) };
  return { kind: 'HostQuery', subject: 'topic', startedAt, endedAt, facts };
}

/** A change that enters with only a part of its topic would be wrong. */
function withTopicSize(record: ChangeRecord, { isTooLarge }: TopicMembers): ChangeRecord {
  const { topic } = record;
  if (topic === undefined || (topic.isTooLarge ?? false) === isTooLarge) return record;
  const { isTooLarge: _, ...rest } = topic;
  return { ...record, topic: isTooLarge ? { ...rest, isTooLarge } : rest };
}

function ask(
  key: ChangeKey,
  { connections }: Pick<MissingRecordsDeps, 'connections'>,
  signal: AbortSignal,
): Promise<ChangeRecord | undefined> {
  return connections.get(connectionOfKey(key))?.source.fetchChange(key, signal) ?? Promise.resolve(undefined);
}

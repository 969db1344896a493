/**
 * Asks hosts for the changes a change depends on, transitively; notes what was asked.
 *
 * The event that led here told of its own project. What is known of another project may be out of date, its webhook lost: so
 * open changes there are asked for again, and the change does not wait for the next look at them because of an approval we
 * have not heard of. What we know counts where the host does not answer. Lines that name no change are looked at again.
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
import type { DependencyResolver } from '../changes/resolve-dependencies.ts';
import { isRemoteFault } from '../remote-fault.ts';

/** Far beyond any `max-dependencies`; stops a hostile chain. */
const MAX_ASKED = 200;

/** Known changes of other projects asked for again: anybody can write as many `Depends-On` lines as they like. */
const MOST_REFRESHED = 40;

/** Queries shown in a trace. */
const MOST_QUERIES = 50;

export interface MissingRecordsDeps {
  readonly changes: Pick<ChangeCache, 'record' | 'fresh' | 'mark' | 'changedSince'>;
  readonly connections: ReadonlyMap<ConnectionName, Connection>;
  readonly dependencies: DependencyResolver;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Pick<Log, 'warn'>;
}

/** @param since when the event was received: what was learnt later is not asked for again. */
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

  async function learn(key: ChangeKey): Promise<ChangeRecord | undefined> {
    const record = await look(key);
    if (record === undefined) return undefined;
    const resolved = await deps.dependencies.resolve(record, signal);
    if (resolved !== record || found.has(key)) found.set(key, resolved);
    return resolved;
  }

  async function look(key: ChangeKey): Promise<ChangeRecord | undefined> {
    const known = cache.record(key);
    if (known !== undefined && !isDue(known, change, since)) return known;
    if (known !== undefined && ++refreshed > MOST_REFRESHED) return known;
    const startedAt = clock.now();
    const record = known === undefined ? await ask(key, deps, signal) : await askAgain(known, deps, signal);
    queries.push(queryOf(key, startedAt, clock.now()));
    if (record !== undefined) found.set(key, record);
    // The host does not have it any more: the next look at its project finds out what became of it.
    return record ?? known;
  }

  // All of one depth at a time: questions to the same host share its answer.
  for (let depth: ChangeKey[] = [change.key]; depth.length > 0 && found.size < MAX_ASKED; ) {
    const records = await Promise.all(depth.slice(0, MAX_ASKED).map(learn));
    depth = records.flatMap(record => record?.dependsOn ?? []).filter(key => !seen.has(key));
    for (const key of depth) seen.add(key);
    depth = [...new Set(depth)];
  }
  await cache.fresh();
  // Written meanwhile, by a landing perhaps: then that is newer than what the host said.
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
      'cannot ask the host about a dependency; what is known of it counts',
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

function ask(
  key: ChangeKey,
  { connections }: Pick<MissingRecordsDeps, 'connections'>,
  signal: AbortSignal,
): Promise<ChangeRecord | undefined> {
  return connections.get(connectionOfKey(key))?.source.fetchChange(key, signal) ?? Promise.resolve(undefined);
}

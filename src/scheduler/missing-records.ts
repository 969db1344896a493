/** Asks hosts for the changes a change depends on, transitively, as far as the cache does not know them; notes what was asked. */
import type { Connection } from '../driver/connection.ts';
import type { Clock, Nanoseconds } from '../lib/clock.ts';
import { type Change, type ChangeKey, type ChangeRecord, connectionOfKey } from '../model/change.ts';
import type { ConnectionName } from '../model/project.ts';
import type { Step } from '../model/step.ts';
import type { ChangeCache } from './change-cache.ts';

/** Far beyond any `max-dependencies`; stops a hostile chain. */
const MAX_ASKED = 200;

/** Queries shown in a trace. */
const MOST_QUERIES = 50;

export interface MissingRecordsDeps {
  readonly changes: ChangeCache;
  readonly connections: ReadonlyMap<ConnectionName, Connection>;
  readonly clock: Pick<Clock, 'now'>;
}

export async function missingRecords(
  change: Change,
  { changes: cache, connections, clock }: MissingRecordsDeps,
  signal: AbortSignal,
): Promise<{ readonly records: readonly ChangeRecord[]; readonly queries: readonly Step[] }> {
  const queries: Step[] = [];
  const found = new Map<ChangeKey, ChangeRecord>();
  const seen = new Set<ChangeKey>([change.key]);
  const pending: ChangeKey[] = [change.key];
  for (let key = pending.pop(); key !== undefined && found.size < MAX_ASKED; key = pending.pop()) {
    let record = cache.record(key);
    if (record === undefined) {
      const startedAt = clock.now();
      record = await ask(key, connections, signal);
      queries.push(queryOf(key, startedAt, clock.now()));
    }
    if (record === undefined) continue;
    if (cache.record(key) === undefined) found.set(key, record);
    for (const next of record.dependsOn) {
      if (seen.has(next)) continue;
      seen.add(next);
      pending.push(next);
    }
  }
  return { records: [...found.values()], queries: queries.slice(0, MOST_QUERIES) };
}

function queryOf(key: ChangeKey, startedAt: Nanoseconds, endedAt: Nanoseconds): Step {
  return {
    kind: 'HostQuery',
    subject: 'change',
    startedAt,
    endedAt,
    facts: { query: 'change', change: key },
  };
}

function ask(
  key: ChangeKey,
  connections: ReadonlyMap<ConnectionName, Connection>,
  signal: AbortSignal,
): Promise<ChangeRecord | undefined> {
  return connections.get(connectionOfKey(key))?.source.fetchChange(key, signal) ?? Promise.resolve(undefined);
}

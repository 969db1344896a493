/** Asks hosts for the changes a change depends on, transitively, as far as the cache does not know them. */
import type { Connection } from '../driver/connection.ts';
import { type Change, type ChangeKey, type ChangeRecord, connectionOfKey } from '../model/change.ts';
import type { ConnectionName } from '../model/project.ts';
import type { ChangeCache } from './change-cache.ts';

/** Far beyond any `max-dependencies`; stops a hostile chain. */
const MAX_ASKED = 200;

export async function missingRecords(
  change: Change,
  cache: ChangeCache,
  connections: ReadonlyMap<ConnectionName, Connection>,
  signal: AbortSignal,
): Promise<readonly ChangeRecord[]> {
  const found = new Map<ChangeKey, ChangeRecord>();
  const seen = new Set<ChangeKey>([change.key]);
  const pending: ChangeKey[] = [change.key];
  for (let key = pending.pop(); key !== undefined && found.size < MAX_ASKED; key = pending.pop()) {
    const record = cache.record(key) ?? (await ask(key, connections, signal));
    if (record === undefined) continue;
    if (cache.record(key) === undefined) found.set(key, record);
    for (const next of record.dependsOn) {
      if (seen.has(next)) continue;
      seen.add(next);
      pending.push(next);
    }
  }
  return [...found.values()];
}

function ask(
  key: ChangeKey,
  connections: ReadonlyMap<ConnectionName, Connection>,
  signal: AbortSignal,
): Promise<ChangeRecord | undefined> {
  return connections.get(connectionOfKey(key))?.source.fetchChange(key, signal) ?? Promise.resolve(undefined);
}

/** How hosts fare, in the store: changes by executors, the scheduler that grants hosts, and people. */
import { isBrokenRecord } from '../model/codec/record.ts';
import { hostStateCodec } from '../model/codec/records.ts';
import type { HostState } from '../model/static-host.ts';
import { settle } from '../store/connection.ts';
import type { StorePaths } from '../store/paths.ts';
import { create, type Operation, remove, type Store, StoreError, set } from '../store/port.ts';

/** Where the states are. */
export interface HostStatePlace {
  readonly store: Store;
  readonly paths: Pick<StorePaths, 'hostState'>;
}

type Change = (state: HostState | undefined) => HostState | undefined;

/** Times that one change is tried again because another writer was first. */
const MOST_TRIES = 20;

/**
 * The operation for a caller's own multi, which fails with `BadVersion`, `NodeExists` or `NoNode` when another writer was first: call again.
 *
 * @param change undefined: nothing is left to say of it. @returns none where nothing changes.
 */
export async function hostStateOperation(
  { store, paths }: HostStatePlace,
  host: string,
  change: Change,
): Promise<readonly Operation[]> {
  const path = paths.hostState(host);
  const node = await settle(store, () => store.get(path));
  const before = node === undefined ? undefined : readState(node.data);
  const after = change(before);
  if (after === before) return [];
  if (after === undefined) return node === undefined ? [] : [remove(path, node.stat.version)];
  const data = hostStateCodec.encode(after);
  return node === undefined ? [create(path, data)] : [set(path, data, node.stat.version)];
}

/** Whether one of the operations above lost against another writer. */
export function isStateConflict(error: unknown): boolean {
  return error instanceof StoreError && ['BadVersion', 'NodeExists', 'NoNode'].includes(error.code);
}

/** Durable when it resolves. A change must be one that may be applied twice: a lost reply repeats it. */
export async function changeHostState(place: HostStatePlace, host: string, change: Change): Promise<void> {
  for (let tries = 1; ; tries++) {
    const operations = await hostStateOperation(place, host, change);
    if (operations.length === 0) return;
    try {
      await place.store.multi(operations);
      return;
    } catch (error) {
      const isLost = error instanceof StoreError && error.code === 'ConnectionLoss';
      if (tries >= MOST_TRIES || !(isLost || isStateConflict(error))) throw error;
    }
  }
}

/** @throws RecordError for one of a newer version: an upgraded process decides about it. */
function readState(data: Uint8Array): HostState | undefined {
  try {
    return hostStateCodec.decode(data);
  } catch (error) {
    if (isBrokenRecord(error)) return undefined;
    throw error;
  }
}

/** Removes old delivery ids: a sender repeats a delivery for a few days at most, after that its id is not needed. */
import type { Nanoseconds } from '../lib/clock.ts';
import { addMilliseconds } from '../lib/clock.ts';
import { isConnectionLoss } from './connection.ts';
import { type Operation, remove, type Store, StoreError } from './port.ts';
import { splitOperations } from './split-operations.ts';

const DAY = 86_400_000;

/** Code hosts repeat deliveries for three days; one more for clocks and queues. */
const SEEN_KEPT_MS = 4 * DAY;

const READ_AT_ONCE = 500;

/**
 * Removes the ids below `seenPath` that were accepted more than `keptMs` ago. Safe to run in several processes.
 *
 * @returns how many it removed. Removals that a lost connection prevented are left to the next sweep.
 * @throws RangeError when `keptMs` is three days or less.
 */
export async function sweepSeen(
  store: Store,
  seenPath: string,
  now: Nanoseconds,
  keptMs: number = SEEN_KEPT_MS,
): Promise<number> {
  if (keptMs <= 3 * DAY)
    throw new RangeError(`delivery ids must be kept for more than three days, not ${keptMs} ms`);
  const oldest = BigInt(addMilliseconds(now, -keptMs));
  const names = (await store.children(seenPath)) ?? [];
  let forgotten = 0;
  for (let at = 0; at < names.length; at += READ_AT_ONCE) {
    const paths = names.slice(at, at + READ_AT_ONCE).map(name => `${seenPath}/${name}`);
    const nodes = await store.getMany(paths);
    const old = paths.filter((_, index) => isOlder(nodes[index]?.data, oldest));
    for (const chunk of splitOperations(old.map(path => remove(path))))
      forgotten += await removeAll(store, chunk);
  }
  return forgotten;
}

/**
 * The node holds a bare time (`1795000000000000000`), because there is one per delivery. Should that ever change, an upgraded
 * process writes a record in its envelope, `{…}`: such a node is left to upgraded sweepers.
 */
function isOlder(data: Uint8Array | undefined, oldest: bigint): boolean {
  if (data === undefined) return false;
  const text = new TextDecoder().decode(data);
  if (text.startsWith('{')) return false;
  // Not a time: its age cannot be known.
  return !/^\d+$/.test(text) || BigInt(text) < oldest;
}

async function removeAll(store: Store, operations: readonly Operation[]): Promise<number> {
  try {
    await store.multi(operations);
    return operations.length;
  } catch (error) {
    // Another sweep is running, or the connection is lost: the next sweep finds what is left.
    if (isConnectionLoss(error) || (error instanceof StoreError && error.code === 'NoNode')) return 0;
    throw error;
  }
}

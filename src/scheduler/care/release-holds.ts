/**
 * Ends holds of failed builds when they expire, and requests that have held as many as they may. An executor then cleans the hosts, or
 * removes the workspace. Done by the holder of the sweeper's fence; a web does the same when a person deletes a request.
 */
import { type Clock, toMilliseconds } from '../../lib/clock.ts';
import type { IdMaker } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import { createDirty } from '../../lib/signal.ts';
import { firstExpiry, isOver } from '../../model/hold-request.ts';
import { readHolds, releaseOperations, type StoredHold } from '../../nodes/hold-requests.ts';
import { isStateConflict } from '../../nodes/host-state.ts';
import { ensureNode } from '../../store/ensure-node.ts';
import type { StorePaths } from '../../store/paths.ts';
import type { Operation, Store } from '../../store/port.ts';
import { wakeUps } from '../../store/wake-ups.ts';

/** Of the sweeper. */
interface ReleaseHoldsDeps {
  readonly store: Store;
  readonly paths: Pick<StorePaths, 'holds' | 'hold' | 'hostState'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly ids: IdMaker;
  readonly log: Pick<Log, 'info' | 'error'>;
}

/** The sweeper's fence. */
interface Committer {
  commit(operations: readonly Operation[], operationId: string): Promise<unknown>;
}

/** Milliseconds: the clock may be set. */
const LONGEST_SLEEP = 60_000;
const SHORTEST_SLEEP = 100;

/** Until aborted. */
export async function releaseHolds(
  deps: ReleaseHoldsDeps,
  fence: Committer,
  signal: AbortSignal,
): Promise<void> {
  const { store, paths, log } = deps;
  const dirty = createDirty(true);
  let timer: NodeJS.Timeout | undefined;
  using _timer = { [Symbol.dispose]: () => clearTimeout(timer) };
  await ensureNode(store, paths.holds, signal);
  const onBroken = (id: string, error: unknown) =>
    log.error({ err: error, id }, 'a request to hold hosts cannot be read');
  for await (const _ of wakeUps(store, paths.holds, signal, undefined, dirty)) {
    clearTimeout(timer);
    const holds = await readHolds(deps, undefined, onBroken);
    for (const hold of holds) await release(deps, hold, fence);
    const next = nextExpiry(holds, deps);
    if (next !== undefined) timer = setTimeout(dirty.set, next);
  }
}

function nextExpiry(holds: readonly StoredHold[], { clock }: ReleaseHoldsDeps): number | undefined {
  const times = holds.flatMap(({ hold }) => firstExpiry(hold) ?? []);
  if (times.length === 0) return undefined;
  const first = Math.min(...times.map(toMilliseconds)) - toMilliseconds(clock.now());
  return Math.max(SHORTEST_SLEEP, Math.min(LONGEST_SLEEP, first));
}

async function release(deps: ReleaseHoldsDeps, stored: StoredHold, fence: Committer): Promise<void> {
  const now = deps.clock.now();
  const { hold } = stored;
  const due = hold.held.filter(build => {
    const end = firstExpiry({ ...hold, held: [build] });
    return end !== undefined && toMilliseconds(end) <= toMilliseconds(now);
  });
  const after = { ...hold, held: hold.held.filter(build => !due.includes(build)) };
  if (due.length === 0 && !isOver(hold)) return;
  try {
    const operations = await releaseOperations(deps, stored, due, now, isOver(after) ? 'deleted' : after);
    await fence.commit(operations, deps.ids.uuid());
    deps.log.info({ id: stored.id, builds: due.map(({ build }) => build) }, 'a hold of hosts has expired');
  } catch (error) {
    // Another writer was first: its change leads to the next look.
    if (!isStateConflict(error)) throw error;
  }
}

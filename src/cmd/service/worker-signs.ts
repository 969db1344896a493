/** Signs of life of a merger or an executor that is at work. */
import type { Log } from '../../lib/log.ts';
import type { WorkCount } from '../../lib/work-count.ts';
import { ensureNode } from '../../store/ensure-node.ts';
import type { Store } from '../../store/port.ts';
import { giveSigns } from '../../store/signs-of-life.ts';
import type { WorkerCore } from './worker-core.ts';

/**
 * @param what has no known end after a crash without signs, e.g. `builds`.
 * @returns a function that stops it.
 */
export async function startGivingSigns(
  { paths, clock }: WorkerCore,
  store: Store,
  log: Log,
  what: string,
  work: Pick<WorkCount, 'isAtWork' | 'begun'>,
): Promise<() => Promise<void>> {
  await ensureNode(store, paths.signs);
  const stop = new AbortController();
  const giving = giveSigns({ store, path: paths.sign(store.sessionId), clock, work }, stop.signal).catch(
    error =>
      log.error(
        { err: error },
        `cannot write heartbeats: after a crash the end times of ${what} will be unknown`,
      ),
  );
  return async () => {
    stop.abort();
    await giving;
  };
}

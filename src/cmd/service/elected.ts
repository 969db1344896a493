/**
 * Leader election: the process that holds the lock works, the others wait for the lock.
 *
 *     const part = elected({ store, path: paths.election('history'), guid: ids.uuid() }, signal => drain.run(signal));
 *
 * Only for work that two processes may briefly do at the same time (the lock is not a fence): a leader out of contact continues until
 * it notices, while the next leader has begun.
 */
import { acquireLock } from '../../store/lock.ts';
import type { Store } from '../../store/port.ts';
import type { Part } from './supervise.ts';

/** One candidacy; candidates of the same `path` compete. */
export interface Election {
  readonly store: Store;
  /** The lock. */
  readonly path: string;
  /** New for each candidacy: it marks the own entry in the queue of the lock. */
  readonly guid: string;
}

/** @param work runs until its signal aborts; its end ends the part. */
export function elected({ store, path, guid }: Election, work: (signal: AbortSignal) => Promise<void>): Part {
  const stop = new AbortController();

  async function run(): Promise<void> {
    const lock = await acquireLock(store, { path, guid, signal: stop.signal });
    try {
      await work(stop.signal);
    } finally {
      await lock.release();
    }
  }

  const ended = run().catch(error => {
    if (!stop.signal.aborted) throw error;
  });
  ended.catch(() => {}); // handled by the supervisor
  return {
    ended,
    async close() {
      stop.abort();
      await ended.catch(() => {}); // reported by `ended`
    },
  };
}

/**
 * What one of many processes does: whoever has the lock works, the others wait for their turn.
 *
 *     const part = elected({ store, path: paths.election('history'), guid: ids.uuid() }, signal => drain.run(signal));
 *
 * For work that may be done twice for a moment (the lock is no fence): a process that is out of contact goes on until it
 * notices, while the next one has begun.
 */
import { acquireLock } from '../../store/lock.ts';
import type { Store } from '../../store/port.ts';
import type { Part } from './supervise.ts';

export interface Election {
  readonly store: Store;
  /** The lock. */
  readonly path: string;
  readonly guid: string;
}

/** @param work until its signal aborts; when it ends, the part has ended. */
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
  ended.catch(() => {}); // the supervisor looks
  return {
    ended,
    async close() {
      stop.abort();
      await ended.catch(() => {}); // told by `ended`
    },
  };
}

/** Turns watches into something a loop can wait for. */
import { createDirty, type Dirty } from '../lib/signal.ts';
import { connected } from './connection.ts';
import type { Store, WatchEvent } from './port.ts';

/**
 * Yields once at the start, then whenever something at or below `path` changed since the last time, once for any number of
 * changes; also after the connection was lost and regained. Each yield means "read again", never what changed.
 *
 *     for await (const _ of wakeUps(store, path, signal)) await readEverythingBelow(path);
 *
 * Ends when the signal aborts.
 *
 * @param concerns which events count; `resync` always does.
 * @param dirty set from elsewhere to request another yield; set now for the one at the start.
 * @throws StoreError `SessionExpired` when the session is over.
 */
export async function* wakeUps(
  store: Store,
  path: string,
  signal: AbortSignal,
  concerns: (event: WatchEvent) => boolean = () => true,
  dirty: Dirty = createDirty(true),
): AsyncGenerator<void, void, undefined> {
  const aborted = (): void => dirty.set();
  await connected(store);
  using _watch = store.watch(path, event => {
    if (event.kind === 'resync' || concerns(event)) dirty.set();
  });
  using _state = store.onSessionState(() => dirty.set());
  signal.addEventListener('abort', aborted, { once: true });
  const never = new AbortController().signal;
  try {
    for (;;) {
      await dirty.wait(never);
      if (signal.aborted) return;
      await connected(store, signal);
      yield;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    signal.removeEventListener('abort', aborted);
  }
}

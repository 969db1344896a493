/**
 * Which claims have gone. A claim goes with every request that ends, so the sweeper reads the requests of these claims alone: reading
 * all that wait, for each that ends, grows with the square of the queue.
 */
import { baseName } from './node-path.ts';
import type { Store } from './port.ts';
import { wakeUps } from './wake-ups.ts';

/**
 * Yields the uuids of the claims that vanished since the last time; undefined: any may have, at the start and after contact with the
 * store was lost. Ends when the signal aborts.
 *
 * @param path parent of the claims. @throws StoreError `SessionExpired` when the session is over.
 */
export async function* vanishedClaims(
  store: Store,
  path: string,
  signal: AbortSignal,
): AsyncGenerator<ReadonlySet<string> | undefined, void, undefined> {
  let vanished: Set<string> | undefined;
  const lose = () => {
    vanished = undefined;
  };
  using _state = store.onSessionState(lose);
  using _watch = store.watch(path, ({ kind }) => {
    if (kind === 'resync') lose();
  });
  const concerns = (event: { readonly kind: string; readonly path: string }): boolean => {
    if (event.kind !== 'deleted') return false;
    vanished?.add(baseName(event.path));
    return true;
  };
  for await (const _ of wakeUps(store, path, signal, concerns)) {
    const since = vanished;
    vanished = new Set();
    yield since;
  }
}

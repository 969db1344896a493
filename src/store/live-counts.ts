/**
 * Child counts of some nodes, kept up to date by watches: queue lengths for pages, the API and metrics.
 *
 *     using counts = await openLiveCounts(store, [paths.connection('local').queue], onError);
 *     counts.count(paths.connection('local').queue)      // 3
 *
 * A count trails the store by the time of one read, and a burst of changes is one read. Nothing here is authoritative.
 */
import { createListeners } from '../lib/listeners.ts';
import type { Store } from './port.ts';
import { createPathRefresher } from './refresher.ts';

/** For views only: a count may be old by the time it is shown. */
export interface LiveCounts extends Disposable {
  /** Follows one more node. Resolves when it was counted. */
  follow(path: string): Promise<void>;
  /** 0 for a node that does not exist or is not followed. */
  count(path: string): number;
  /** Called with a path after each change of its count. */
  onChange(listener: (path: string) => void): Disposable;
}

/** @param onError called for a failed read; the count stays as it is until the next change. */
export async function openLiveCounts(
  store: Store,
  paths: Iterable<string>,
  onError: (error: unknown) => void,
): Promise<LiveCounts> {
  const counts = new Map<string, number>();
  const listeners = createListeners<[path: string]>();
  const stack = new DisposableStack();

  async function follow(path: string): Promise<void> {
    if (counts.has(path)) return;
    counts.set(path, 0);
    const read = async () => {
      // Not the names: a queue may be very long.
      const count = (await store.get(path))?.stat.childCount ?? 0;
      if (count === counts.get(path)) return;
      counts.set(path, count);
      listeners.call(path);
    };
    // Entries are written once, so that only creations and deletions change the count.
    const copy = createPathRefresher(store, path, read, {
      onError,
      matters: ({ kind }) => kind !== 'changed',
    });
    stack.use(copy);
    await copy.touch();
  }

  await Promise.all([...new Set(paths)].map(follow));
  return {
    follow,
    count: path => counts.get(path) ?? 0,
    onChange: listeners.add,
    [Symbol.dispose]: () => stack.dispose(),
  };
}

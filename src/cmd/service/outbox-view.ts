/**
 * Number and age of the rows waiting in an outbox, kept current by a watch.
 *
 *     const spans = await openOutboxView(store, paths.spanOutbox, clock, onError);
 *     spans.waiting()      // 12
 */
import { type Clock, fromMilliseconds, type Nanoseconds } from '../../lib/clock.ts';
import { createListeners } from '../../lib/listeners.ts';
import { listOutbox } from '../../store/outbox.ts';
import type { Store } from '../../store/port.ts';
import { createPathRefresher } from '../../store/refresher.ts';

/** Follows the number of rows at once, the age of the oldest within some seconds. */
export interface OutboxView extends Disposable {
  waiting(): number;
  /** When the oldest row was written; null: none waits, or its age is unknown. */
  oldest(): Nanoseconds | null;
  /** After the number that waits changed. */
  onChange(listener: () => void): Disposable;
}

/** Milliseconds between two listings, which are costly: each names every row. */
const LIST_EVERY = 5_000;

/** @param onError called when a read fails; the view stays unchanged until the next change. */
export async function openOutboxView(
  store: Store,
  path: string,
  clock: Pick<Clock, 'monotonic'>,
  onError: (error: unknown) => void,
): Promise<OutboxView> {
  let waiting = 0;
  let oldest: Nanoseconds | null = null;
  let listedAt = Number.NEGATIVE_INFINITY;
  const listeners = createListeners();

  const copy = createPathRefresher(
    store,
    path,
    async () => {
      const before = waiting;
      waiting = (await store.get(path))?.stat.childCount ?? 0;
      if (waiting === 0) {
        oldest = null;
        listedAt = Number.NEGATIVE_INFINITY;
      } else if (clock.monotonic() - listedAt >= LIST_EVERY) {
        listedAt = clock.monotonic();
        const [first] = await listOutbox(store, path);
        oldest = first?.at === undefined ? null : fromMilliseconds(first.at);
      }
      if (waiting !== before) listeners.call();
    },
    { onError, matters: event => event.kind !== 'changed' },
  );
  await copy.touch();

  return {
    waiting: () => waiting,
    oldest: () => oldest,
    onChange: listeners.add,
    [Symbol.dispose]: copy[Symbol.dispose],
  };
}

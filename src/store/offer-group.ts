/**
 * Writes deliveries that arrive at the same time together: many hosts, one transaction per turn of the event loop.
 *
 *     const group = createOfferGroup(store, queue);
 *     await group.offer(event, event.deliveryId);      // as queue.offer, together with all offers of the same turn
 *
 * A transaction that fails for one delivery (a duplicate, too large, a lost reply) may have stored none of them; then each is
 * offered by itself, which gives each its own result. One delivery never causes another's refusal.
 */
import type { EventQueue } from './event-queue.ts';
import type { Operation, Store } from './port.ts';
import { StoreError } from './port.ts';
import { operationBytes } from './size.ts';

/** One for each queue of a web that takes webhooks. */
export interface OfferGroup<T> {
  /** See `EventQueue.offer`. */
  offer(value: T, id: string): Promise<'stored' | 'duplicate'>;
}

interface Offer<T> {
  readonly value: T;
  readonly id: string;
  readonly operations: readonly Operation[];
  readonly bytes: number;
  readonly settle: PromiseWithResolvers<'stored' | 'duplicate'>;
}

/** Limits of one transaction, small so that no offer waits long behind many; a larger offer goes alone. */
const MOST_BYTES = 256 * 1024;
const MOST_OFFERS = 64;

/** @param defer runs a flush later in this turn; default `setImmediate`. */
export function createOfferGroup<T>(
  store: Pick<Store, 'multi'>,
  queue: Pick<EventQueue<T>, 'put' | 'offer'>,
  defer: (flush: () => void) => void = flush => setImmediate(flush),
): OfferGroup<T> {
  let waiting: Offer<T>[] = [];

  async function write(offers: readonly Offer<T>[]): Promise<void> {
    try {
      await store.multi(offers.flatMap(offer => offer.operations));
      for (const { settle } of offers) settle.resolve('stored');
    } catch (error) {
      if (!(error instanceof StoreError)) for (const { settle } of offers) settle.reject(error);
      else
        for (const { value, id, settle } of offers)
          queue.offer(value, id).then(settle.resolve, settle.reject);
    }
  }

  function flush(): void {
    const offers = waiting;
    waiting = [];
    for (const together of inPieces(offers)) void write(together);
  }

  return {
    async offer(value, id) {
      const operations = queue.put(value, id);
      const bytes = operations.reduce((sum, operation) => sum + operationBytes(operation), 0);
      const settle = Promise.withResolvers<'stored' | 'duplicate'>();
      waiting.push({ value, id, operations, bytes, settle });
      if (waiting.length === 1) defer(flush);
      return settle.promise;
    },
  };
}

function* inPieces<T>(offers: readonly Offer<T>[]): Generator<readonly Offer<T>[]> {
  let piece: Offer<T>[] = [];
  let bytes = 0;
  for (const offer of offers) {
    if (piece.length > 0 && (piece.length === MOST_OFFERS || bytes + offer.bytes > MOST_BYTES)) {
      yield piece;
      piece = [];
      bytes = 0;
    }
    piece.push(offer);
    bytes += offer.bytes;
  }
  if (piece.length > 0) yield piece;
}

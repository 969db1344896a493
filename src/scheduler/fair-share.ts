/**
 * Pipelines spread over schedulers: whoever holds more than its share of them gives one back now and then, as long as others
 * stand by for it. Whoever starts first would otherwise keep all of them, and a scheduler that comes back none.
 *
 *     5 pipelines, 2 schedulers: a share is 3. The first one holds 5, gives back 2 within a minute, and keeps 3.
 *
 * The number of schedulers is that of the contenders for the pipeline's lock: those are ready to go on with it at once.
 */
export interface FairShare {
  /** A pipeline this process knows; disposed with it. */
  know(): Disposable;
  /** A pipeline this process holds. */
  hold(): Held;
  /** Some pipeline this process holds has items. */
  readonly isAtWork: boolean;
  /** @param contenders for the lock of one that is held, its holder among them. */
  isExceeded(contenders: number): boolean;
}

export interface Held extends Disposable {
  /** How many items it has; whoever holds it says so. */
  items: number;
}

export function createFairShare(): FairShare {
  let known = 0;
  const held = new Set<Held>();
  return {
    know() {
      known += 1;
      return once(() => {
        known -= 1;
      });
    },
    hold() {
      const one: Held = {
        items: 0,
        [Symbol.dispose]: () => void held.delete(one),
      };
      held.add(one);
      return one;
    },
    get isAtWork() {
      return [...held].some(({ items }) => items > 0);
    },
    isExceeded: contenders => contenders > 1 && held.size > Math.ceil(known / contenders),
  };
}

function once(end: () => void): Disposable {
  let isOver = false;
  return {
    [Symbol.dispose]() {
      if (!isOver) end();
      isOver = true;
    },
  };
}

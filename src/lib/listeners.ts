/**
 * Those who asked to be called when something changes. One function may be added twice: each entry ends by itself.
 *
 *     const listeners = createListeners<[tenant: string]>();
 *     const entry = listeners.add(tenant => redraw(tenant));
 *     listeners.call('acme');
 *     entry[Symbol.dispose]();
 */
export interface Listeners<Facts extends readonly unknown[]> {
  /** Called until the entry is disposed of. */
  add(listener: (...facts: Facts) => void): Disposable;
  /** Calls each in the order in which they were added; what one throws ends the call. */
  call(...facts: Facts): void;
  isEmpty(): boolean;
}

/** Empty. */
export function createListeners<Facts extends readonly unknown[] = []>(): Listeners<Facts> {
  const entries = new Set<(...facts: Facts) => void>();
  return {
    add(listener) {
      const entry = (...facts: Facts) => listener(...facts);
      entries.add(entry);
      return { [Symbol.dispose]: () => void entries.delete(entry) };
    },
    call(...facts) {
      for (const entry of entries) entry(...facts);
    },
    isEmpty: () => entries.size === 0,
  };
}

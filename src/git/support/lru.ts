/** A map that drops the least recently used entries, for values that can be read or computed again. */
export interface Lru<K, V> {
  /** Counts as a use. */
  get(key: K): V | undefined;
  set(key: K, value: V): void;
  delete(key: K): void;
  clear(): void;
  readonly size: number;
}

/**
 * @param capacity sum of the weights of all entries; a heavier value is not kept.
 * @param weigh must give the same for a value each time; default: each weighs 1, so that `capacity` is a number of entries.
 */
export function createLru<K, V>(capacity: number, weigh: (value: V) => number = () => 1): Lru<K, V> {
  // A Map iterates in order of insertion: the first key is the one used longest ago.
  const entries = new Map<K, V>();
  let weight = 0;

  function drop(key: K): void {
    const value = entries.get(key);
    if (value === undefined) return;
    weight -= weigh(value);
    entries.delete(key);
  }

  return {
    get size() {
      return entries.size;
    },
    get(key) {
      const value = entries.get(key);
      if (value === undefined) return undefined;
      entries.delete(key);
      entries.set(key, value);
      return value;
    },
    set(key, value) {
      drop(key);
      if (weigh(value) > capacity) return;
      entries.set(key, value);
      weight += weigh(value);
      for (const oldest of entries.keys()) {
        if (weight <= capacity) break;
        drop(oldest);
      }
    },
    delete: drop,
    clear() {
      entries.clear();
      weight = 0;
    },
  };
}

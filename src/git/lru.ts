/** A map that forgets what was used longest ago, for things that can be read or computed again. */
export interface Lru<K, V> {
  get(key: K): V | undefined;
  set(key: K, value: V): void;
  delete(key: K): void;
  clear(): void;
  readonly size: number;
}

export function createLru<K, V>(capacity: number): Lru<K, V> {
  // A Map iterates in order of insertion: the first key is the one used longest ago.
  const entries = new Map<K, V>();
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
      entries.delete(key);
      entries.set(key, value);
      const oldest = entries.keys().next();
      if (entries.size > capacity && !oldest.done) entries.delete(oldest.value);
    },
    delete: key => void entries.delete(key),
    clear: () => entries.clear(),
  };
}

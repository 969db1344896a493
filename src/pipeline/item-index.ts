/**
 * The items about a change: those that have it, and those that depend on it. It is kept from turn to turn, so it may name items that have
 * left; who asks looks at the items themselves.
 */
import type { Uuid } from '../lib/ids.ts';
import type { ChangeKey } from '../model/change.ts';
import type { QueueItem } from '../model/queue-item.ts';

/** Changes of items that came later; with more it is made anew. */
const MOST_LATER = 500;

type Items = ReadonlyMap<ChangeKey, readonly Uuid[]>;

/** A value: it does not change. */
export class ItemIndex {
  readonly #known: Items;
  /** Of items that entered since, or depend on more: few, so that a copy costs little. */
  readonly #later: Items;

  private constructor(known: Items, later: Items) {
    this.#known = known;
    this.#later = later;
  }

  static of(items: Iterable<QueueItem>): ItemIndex {
    const known = new Map<ChangeKey, Uuid[]>();
    for (const item of items)
      for (const key of keysOf(item)) {
        const uuids = known.get(key);
        if (uuids === undefined) known.set(key, [item.uuid]);
        else uuids.push(item.uuid);
      }
    return new ItemIndex(known, new Map());
  }

  /** At least the items about it, each once, in the order in which they entered. */
  about(key: ChangeKey): readonly Uuid[] {
    const [known = [], later = []] = [this.#known.get(key), this.#later.get(key)];
    return later.length === 0 ? known : [...new Set([...known, ...later])];
  }

  /** @param entered items that are new, or depend on more than before. Null: too many by now. */
  with(entered: readonly QueueItem[]): ItemIndex | null {
    if (entered.length === 0) return this;
    const later = new Map(this.#later);
    for (const item of entered)
      for (const key of keysOf(item)) later.set(key, [...(later.get(key) ?? []), item.uuid]);
    return later.size > MOST_LATER ? null : new ItemIndex(this.#known, later);
  }
}

function keysOf({ changes, dependsOn }: QueueItem): ReadonlySet<ChangeKey> {
  return new Set([...changes.map(({ key }) => key), ...dependsOn]);
}

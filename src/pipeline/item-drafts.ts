import type { Uuid } from '../lib/ids.ts';
import type { ChangeKey } from '../model/change.ts';
import type { QueueItem } from '../model/queue-item.ts';
import { ItemIndex } from './item-index.ts';

/** The items of a pipeline while a turn works on them. The map is copied when the first one changes. */
export class ItemDrafts {
  readonly #before: ReadonlyMap<Uuid, QueueItem>;
  #items: ReadonlyMap<Uuid, QueueItem>;
  #own: Map<Uuid, QueueItem> | null = null;
  /** Of the items the turn began with; made at the first question. */
  #index: ItemIndex | null;
  /** Items that entered in this turn, or depend on more now. */
  readonly #entered = new Set<Uuid>();
  /** Those that entered, by change. */
  readonly #enteredAbout = new Map<ChangeKey, Uuid[]>();

  /** @param index of these items; null: none was made. */
  constructor(before: ReadonlyMap<Uuid, QueueItem>, index: ItemIndex | null) {
    this.#before = before;
    this.#items = before;
    this.#index = index;
  }

  /** As they are now; the same object as before while none has changed. */
  get all(): ReadonlyMap<Uuid, QueueItem> {
    return this.#items;
  }

  /** @returns false: it is the same object. */
  put(item: QueueItem): boolean {
    const before = this.#items.get(item.uuid);
    if (before === item) return false;
    if (before?.dependsOn !== item.dependsOn) this.#entered.add(item.uuid);
    this.#editable().set(item.uuid, item);
    return true;
  }

  /** It enters. */
  add(item: QueueItem): void {
    this.put(item);
    for (const { key } of item.changes)
      this.#enteredAbout.set(key, [...(this.#enteredAbout.get(key) ?? []), item.uuid]);
  }

  remove(uuid: Uuid): void {
    this.#editable().delete(uuid);
  }

  /** Live items of a change, at any revision; oldest first. */
  live(key: ChangeKey): readonly QueueItem[] {
    const uuids = [...this.index().about(key), ...(this.#enteredAbout.get(key) ?? [])];
    return this.#present(uuids).filter(
      ({ role, changes }) => role === 'live' && changes.some(change => change.key === key),
    );
  }

  /** Of the items the turn began with. */
  index(): ItemIndex {
    this.#index ??= ItemIndex.of(this.#before.values());
    return this.#index;
  }

  /** Of the items as they are now; null: nothing was asked of it, or it is to be made anew. */
  indexAfter(): ItemIndex | null {
    return this.#index?.with(this.#present([...this.#entered])) ?? null;
  }

  #present(uuids: readonly Uuid[]): readonly QueueItem[] {
    return uuids.flatMap(uuid => this.#items.get(uuid) ?? []);
  }

  #editable(): Map<Uuid, QueueItem> {
    this.#own ??= new Map(this.#items);
    this.#items = this.#own;
    return this.#own;
  }
}

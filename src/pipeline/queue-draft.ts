import type { Uuid } from '../lib/ids.ts';
import { sameList } from '../lib/same-list.ts';
import type { ChangeQueue } from '../model/pipeline-state.ts';

/** A change queue while the turn works on it. Thousands of queues have one item each: a list is copied when it is changed first. */
export class QueueDraft {
  readonly key: string;
  readonly name: string;
  /** Items tested at the same time; 0: unlimited. */
  window: number;
  /** As the turn found it; null: it is new. */
  readonly #before: ChangeQueue | null;
  #items: readonly Uuid[];
  #own: Uuid[] | null = null;
  #hasLeavers = false;

  constructor(queue: ChangeQueue, origin: 'known' | 'new') {
    this.key = queue.key;
    this.name = queue.name;
    this.window = queue.window;
    this.#before = origin === 'known' ? queue : null;
    this.#items = queue.items;
  }

  /** First is the head. Items that left in this turn are still here until it ends. */
  get items(): readonly Uuid[] {
    return this.#items;
  }

  add(uuid: Uuid): void {
    this.#editable().push(uuid);
  }

  takeOut(uuid: Uuid): void {
    const items = this.#editable();
    items.splice(items.indexOf(uuid), 1);
  }

  /** @param uuids all that are here, in another order. */
  arrange(uuids: readonly Uuid[]): void {
    const items = this.#editable();
    items.splice(0, items.length, ...uuids);
  }

  /** One of its items has left: `final` drops it. */
  noteLeaver(): void {
    this.#hasLeavers = true;
  }

  /** At the end of the turn; the same object as before when nothing changed. */
  final(isPresent: (uuid: Uuid) => boolean): ChangeQueue {
    const { key, name, window } = this;
    const known = this.#before;
    const isUntouched = this.#own === null && !this.#hasLeavers;
    if (known !== null && isUntouched && known.window === window) return known;
    const items = isUntouched ? this.#items : this.#items.filter(isPresent);
    const isSame = known?.window === window && sameList(known.items, items);
    return isSame ? known : { key, name, window, items };
  }

  #editable(): Uuid[] {
    this.#own ??= [...this.#items];
    this.#items = this.#own;
    return this.#own;
  }
}

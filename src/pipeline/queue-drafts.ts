import type { Uuid } from '../lib/ids.ts';
import type { ChangeQueue } from '../model/pipeline-state.ts';
import type { DueQueues } from './due-queues.ts';
import { QueueDraft } from './queue-draft.ts';

/** The queues of a pipeline while a turn works on them, in their order. Those that it does not look at cost nothing. */
export class QueueDrafts {
  readonly #known: readonly ChangeQueue[];
  readonly #due: DueQueues;
  readonly #drafts = new Map<string, QueueDraft>();
  readonly #added: QueueDraft[] = [];
  /** Of the known ones, by key; made at the first question. */
  #places: ReadonlyMap<string, number> | null = null;
  /** Those of the due ones, ascending, as long as there are so many. */
  #duePlaces: { readonly size: number; readonly places: readonly number[] } = { size: 0, places: [] };

  constructor(known: readonly ChangeQueue[], due: DueQueues) {
    this.#known = known;
    this.#due = due;
  }

  /** Those that are due when their turn comes: one that becomes due behind the present one is among them. */
  *due(): Iterable<QueueDraft> {
    for (let place = this.#nextDue(-1); place < this.#known.length; place = this.#nextDue(place)) {
      const draft = this.#draftAt(place);
      if (draft !== undefined) yield draft;
    }
    // Grows while it is iterated.
    for (const draft of this.#added) if (this.#due.has(draft)) yield draft;
  }

  *all(): Iterable<QueueDraft> {
    for (const { key } of this.#known) {
      const draft = this.get(key);
      if (draft !== undefined) yield draft;
    }
    yield* this.#added;
  }

  get(key: string): QueueDraft | undefined {
    return this.#drafts.get(key) ?? this.#draftAt(this.#placeOf(key));
  }

  /** An empty one. @param key that no other queue has. */
  add(key: string, name: string, window: number): QueueDraft {
    const queue = new QueueDraft({ key, name, window, items: [] }, 'new');
    this.#added.push(queue);
    this.#drafts.set(key, queue);
    return queue;
  }

  /** At the end of the turn; the same list when nothing changed. @param isForgettable what is not kept. */
  final(
    isPresent: (uuid: Uuid) => boolean,
    isForgettable: (queue: ChangeQueue) => boolean,
  ): readonly ChangeQueue[] {
    let isSame = true;
    const final: ChangeQueue[] = [];
    for (const queue of this.#known) {
      const after = this.#drafts.get(queue.key)?.final(isPresent) ?? queue;
      const isKept = !isForgettable(after);
      if (isKept) final.push(after);
      isSame &&= isKept && after === queue;
    }
    for (const draft of this.#added) {
      const queue = draft.final(isPresent);
      if (isForgettable(queue)) continue;
      final.push(queue);
      isSame = false;
    }
    return isSame ? this.#known : final;
  }

  #draftAt(place: number | undefined): QueueDraft | undefined {
    const queue = place === undefined ? undefined : this.#known[place];
    if (queue === undefined) return undefined;
    const known = this.#drafts.get(queue.key);
    if (known !== undefined) return known;
    const draft = new QueueDraft(queue, 'known');
    this.#drafts.set(queue.key, draft);
    return draft;
  }

  /** The place of the next one behind `place`; the number of all when there is none. */
  #nextDue(place: number): number {
    if (this.#due.isAll) return place + 1;
    if (this.#duePlaces.size !== this.#due.keys.size) {
      const places = [...this.#due.keys].flatMap(key => this.#placeOf(key) ?? []);
      this.#duePlaces = { size: this.#due.keys.size, places: places.toSorted((a, b) => a - b) };
    }
    const { places } = this.#duePlaces;
    let [from, to] = [0, places.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if ((places[middle] ?? 0) > place) to = middle;
      else from = middle + 1;
    }
    return places[from] ?? this.#known.length;
  }

  #placeOf(key: string): number | undefined {
    this.#places ??= new Map(this.#known.map((queue, place) => [queue.key, place]));
    return this.#places.get(key);
  }
}

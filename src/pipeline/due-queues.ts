/**
 * Which queues a turn has to look at. The others are as they were when a turn looked at them and found nothing to do.
 *
 *     something happened there in this turn or in the last one
 *     facts of its changes are others than in the last turn
 *     its jobs wait for semaphores, or for what jobs of items elsewhere provide
 *
 * All of them: without a memory, under other rules, while an item of the pipeline waits for a code host (one asks for all), when a change
 * lands, when operators halt or resume something, when items move to another queue, and, in a pipeline that keeps dependencies in order,
 * when items enter or leave.
 */
import type { Uuid } from '../lib/ids.ts';
import type { PipelineState } from '../model/pipeline-state.ts';
import type { QueueItem } from '../model/queue-item.ts';
import type { ItemIndex } from './item-index.ts';
import type { TurnInput, TurnMemory } from './turn.ts';
import { queuesOfNewFacts, rulesOf, usableMemory, waitsElsewhere } from './turn-memory.ts';

/** Of one call of the turn; it grows. */
export class DueQueues {
  readonly #input: TurnInput;
  readonly #memory: TurnMemory | null;
  readonly #due: Set<string>;
  readonly #happened = new Set<string>();
  readonly #touched = new Set<Uuid>();
  #isAll: boolean;
  #mayWaitForHosts: boolean;

  /** @param index of the items that the turn begins with. */
  constructor(input: TurnInput, index: () => ItemIndex) {
    this.#input = input;
    this.#memory = usableMemory(input);
    this.#isAll = this.#memory === null || this.#memory.parked.size > 0;
    this.#mayWaitForHosts = this.#isAll;
    const { unsettled = [], waiting = [], changes } = this.#memory ?? {};
    this.#due = new Set([...unsettled, ...waiting]);
    if (!this.#isAll && changes !== undefined)
      for (const key of queuesOfNewFacts(input, changes, index)) this.#due.add(key);
  }

  /** All of them; then `keys` does not matter. */
  get isAll(): boolean {
    return this.#isAll;
  }

  get keys(): ReadonlySet<string> {
    return this.#due;
  }

  has({ key }: { readonly key: string }): boolean {
    return this.#isAll || this.#due.has(key);
  }

  get hasMemory(): boolean {
    return this.#memory !== null;
  }

  /** It is the same item as when the last turn began, with the same facts of its changes. */
  isAsBefore({ uuid, changes }: QueueItem): boolean {
    if (this.#memory === null || this.#memory.touched.has(uuid) || this.#touched.has(uuid)) return false;
    const [then, now] = [this.#memory.changes, this.#input.changes];
    return then === now || changes.every(({ key }) => then.get(key) === now.get(key));
  }

  /** False: no item of the pipeline waits for a code host. */
  get mayWaitForHosts(): boolean {
    return this.#mayWaitForHosts;
  }

  /** The item enters, is another one now, or leaves. */
  note({ uuid, queue, hostWait }: QueueItem): void {
    this.#touched.add(uuid);
    this.noteQueue({ key: queue });
    if (hostWait === undefined) return;
    this.#mayWaitForHosts = true;
    this.all();
  }

  /** Something happens in it. */
  noteQueue({ key }: { readonly key: string }): void {
    this.#due.add(key);
    this.#happened.add(key);
  }

  /** For the rest of the turn. */
  all(): void {
    this.#isAll = true;
  }

  /** @param items of the queues that the turn looked at. @param index of those in the state; null: not known. */
  memoryAfter(state: PipelineState, items: Iterable<QueueItem>, index: ItemIndex | null): TurnMemory {
    const waiting = this.#unseen(this.#memory?.waiting);
    const parked = this.#unseen(this.#memory?.parked);
    for (const item of items) {
      if (waitsElsewhere(item)) waiting.add(item.queue);
      if (item.hostWait !== undefined) parked.add(item.queue);
    }
    const { changes } = this.#input;
    const rules = rulesOf(this.#input);
    const [unsettled, touched] = [this.#happened, this.#touched];
    return { state, rules, changes, index, unsettled, touched, waiting, parked };
  }

  #unseen(keys: ReadonlySet<string> = new Set()): Set<string> {
    return new Set(this.#isAll ? [] : [...keys].filter(key => !this.#due.has(key)));
  }
}

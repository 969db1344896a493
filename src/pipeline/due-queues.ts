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
import type { PipelineState } from '../model/pipeline-state.ts';
import type { QueueItem } from '../model/queue-item.ts';
import type { TurnInput } from './turn.ts';
import { queuesOfNewFacts, rulesOf, type TurnMemory, usableMemory, waitsElsewhere } from './turn-memory.ts';

/** Of one call of the turn; it grows. */
export class DueQueues {
  readonly #input: TurnInput;
  readonly #memory: TurnMemory | null;
  readonly #due: Set<string>;
  readonly #happened = new Set<string>();
  #isAll: boolean;
  #mayWaitForHosts: boolean;

  constructor(input: TurnInput) {
    this.#input = input;
    this.#memory = usableMemory(input);
    this.#isAll = this.#memory === null || this.#memory.parked.size > 0;
    this.#mayWaitForHosts = this.#isAll;
    const { unsettled = [], waiting = [], changes } = this.#memory ?? {};
    this.#due = new Set([...unsettled, ...waiting]);
    if (!this.#isAll && changes !== undefined)
      for (const key of queuesOfNewFacts(input, changes)) this.#due.add(key);
  }

  has({ key }: { readonly key: string }): boolean {
    return this.#isAll || this.#due.has(key);
  }

  /** False: no item of the pipeline waits for a code host. */
  get mayWaitForHosts(): boolean {
    return this.#mayWaitForHosts;
  }

  /** The item enters, is another one now, or leaves. */
  note({ queue, hostWait }: QueueItem): void {
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

  /** @param items of the queues that the turn looked at. */
  memoryAfter(state: PipelineState, items: Iterable<QueueItem>): TurnMemory {
    const waiting = this.#unseen(this.#memory?.waiting);
    const parked = this.#unseen(this.#memory?.parked);
    for (const item of items) {
      if (waitsElsewhere(item)) waiting.add(item.queue);
      if (item.hostWait !== undefined) parked.add(item.queue);
    }
    const { changes } = this.#input;
    return { state, rules: rulesOf(this.#input), changes, unsettled: this.#happened, waiting, parked };
  }

  #unseen(keys: ReadonlySet<string> = new Set()): Set<string> {
    return new Set(this.#isAll ? [] : [...keys].filter(key => !this.#due.has(key)));
  }
}

/** Invariant 6, and that the records agree with one another: queues with items, also when they are read again, timelines with lives. */
import type { Uuid } from '../../src/lib/ids.ts';
import { storedQueues } from '../../src/model/own-queues.ts';
import type { PipelineState } from '../../src/model/pipeline-state.ts';
import type { QueueItem } from '../../src/model/queue-item.ts';
import { repairQueues } from '../../src/model/repair-queues.ts';
import type { TurnInput, TurnOutput } from '../../src/pipeline/turn.ts';
import type { Complain } from './complain.ts';

export class ItemChecks {
  readonly #complain: Complain;
  readonly #present = new Set<Uuid>();
  readonly #left = new Set<Uuid>();

  constructor(complain: Complain) {
    this.#complain = complain;
  }

  turn(input: TurnInput, output: TurnOutput): void {
    this.#checkQueues(output);
    for (const item of output.state.items.values()) {
      const before = input.state.items.get(item.uuid);
      if (before === item) continue;
      if (this.#left.has(item.uuid)) this.#complain('6', `item ${item.uuid} came back after it had left`);
      if (item.phase.phase === 'left') this.#complain('6', `item ${item.uuid} has left and is still there`);
      this.#present.add(item.uuid);
      this.#checkTimeline(item, before);
    }
    for (const item of output.left) this.#checkLeft(item, input, output);
    for (const uuid of input.state.items.keys()) {
      if (!output.state.items.has(uuid) && !this.#left.has(uuid))
        this.#complain('6', `item ${uuid} vanished without leaving`);
    }
  }

  drained(): void {
    for (const uuid of this.#present) this.#complain('6', `item ${uuid} never left`);
  }

  #checkLeft(item: QueueItem, input: TurnInput, output: TurnOutput): void {
    if (this.#left.has(item.uuid)) this.#complain('6', `item ${item.uuid} left twice`);
    this.#left.add(item.uuid);
    this.#present.delete(item.uuid);
    if (output.state.items.has(item.uuid)) this.#complain('6', `item ${item.uuid} left and is still there`);
    if (item.phase.phase !== 'left') {
      this.#complain('6', `item ${item.uuid} left in phase ${item.phase.phase}`);
      return;
    }
    const { state } = item.buildset.stage;
    if (state !== 'complete' && state !== 'superseded')
      this.#complain('6', `item ${item.uuid} left with a buildset that is ${state}`);
    const last = item.timeline.at(-1);
    if (last !== undefined && BigInt(item.phase.at) < BigInt(last.since))
      this.#complain('timeline', `item ${item.uuid} left before its last state began`);
    this.#checkTimeline(item, input.state.items.get(item.uuid));
  }

  #checkQueues({ state }: TurnOutput): void {
    const queued = new Set<Uuid>();
    for (const queue of state.queues) {
      for (const uuid of queue.items) {
        if (queued.has(uuid)) this.#complain('queue', `item ${uuid} is queued twice`);
        queued.add(uuid);
        if (state.items.get(uuid)?.queue !== queue.key)
          this.#complain('queue', `item ${uuid} is in queue ${queue.key} and does not know`);
      }
    }
    if (queued.size !== state.items.size)
      this.#complain('queue', `${state.items.size} items, ${queued.size} of them queued`);
    this.#checkStored(state);
  }

  /** What is read back are the same queues; those of items that entered at the same moment may have changed places. */
  #checkStored(state: PipelineState): void {
    const back = repairQueues({ ...state, queues: storedQueues(state) }, -1).queues;
    const found = new Map(back.map(queue => [queue.key, JSON.stringify(queue)]));
    const changed = state.queues.filter(queue => found.get(queue.key) !== JSON.stringify(queue));
    if (back.length !== state.queues.length || changed.length > 0)
      this.#complain('queue', `${changed.length} queues are not as before when they are read again`);
  }

  /**
   * Entries end where the next begins; what was once written stays, but for a state that lasted no time: of the last one that may
   * turn out later (an executor had taken the build before, see since-taken.ts).
   */
  #checkTimeline(item: QueueItem, before: QueueItem | undefined): void {
    const { timeline } = item;
    if (timeline[0].since !== item.enqueuedAt)
      this.#complain('timeline', `item ${item.uuid}: its first state does not begin with it`);
    for (const [index, entry] of timeline.entries()) {
      const previous = timeline[index - 1];
      if (previous === undefined) continue;
      if (BigInt(entry.since) <= BigInt(previous.since))
        this.#complain(
          'timeline',
          `item ${item.uuid}: ${entry.state} begins before ${previous.state} has lasted`,
        );
      // A build that is tried again may wait for nodes from the moment on in which the wait of the one before it ended.
      if (entry.state === previous.state && entry.subject === previous.subject && entry.state !== 'nodes')
        this.#complain('timeline', `item ${item.uuid}: ${entry.state} twice in a row`);
    }
    for (const [index, entry] of (before?.timeline ?? []).entries()) {
      const now = timeline[index];
      const replaced = now !== undefined && now.since === entry.since;
      const wasOpen = entry === before?.timeline.at(-1);
      const lastedNoTime = wasOpen && !timeline.some(each => each.since === entry.since);
      if (now !== entry && !replaced && !lastedNoTime)
        this.#complain('timeline', `item ${item.uuid}: the past was rewritten at ${entry.state}`);
    }
    const last = timeline.at(-1)?.state;
    const reporting = last === 'reporting' || (last === 'host' && item.hostWait?.doing === 'report');
    if (item.phase.phase === 'reporting' && !reporting)
      this.#complain(
        'timeline',
        `item ${item.uuid} is being reported and its state is ${timeline.at(-1)?.state ?? 'none'}`,
      );
  }
}

/**
 * What a pipeline's manager promises, worked out again from the records and the contract:
 *
 *     dependent      a change is in at most one item
 *     serial         of a queue only the first item is merged and tested, and on nothing but itself
 *     supercedent    the same; of a project and ref one item runs and at most one waits, and only for that one others are dropped
 *
 * It knows managers by their names only, and none of the answers that the decisions read.
 */
import { isOpen } from '../../src/model/build.ts';
import type { Change } from '../../src/model/change.ts';
import type { ManagerName } from '../../src/model/pipeline.ts';
import type { PipelineState } from '../../src/model/pipeline-state.ts';
import type { QueueItem } from '../../src/model/queue-item.ts';
import type { Command, TurnInput, TurnOutput } from '../../src/pipeline/turn.ts';
import type { Complain } from './complain.ts';

interface Promised {
  /** A success is what the branch becomes. */
  readonly landsWhatItTested: boolean;
  readonly oneItemOfAChange: boolean;
  readonly oneOfAQueue: boolean;
  readonly newestOfARef: boolean;
}

export const PROMISED: Readonly<Record<ManagerName, Promised>> = {
  independent: { landsWhatItTested: false, oneItemOfAChange: false, oneOfAQueue: false, newestOfARef: false },
  dependent: { landsWhatItTested: true, oneItemOfAChange: true, oneOfAQueue: false, newestOfARef: false },
  serial: { landsWhatItTested: false, oneItemOfAChange: false, oneOfAQueue: true, newestOfARef: false },
  supercedent: { landsWhatItTested: false, oneItemOfAChange: false, oneOfAQueue: true, newestOfARef: true },
};

export class ManagerChecks {
  readonly #complain: Complain;

  constructor(complain: Complain) {
    this.#complain = complain;
  }

  turn({ pipeline }: TurnInput, output: TurnOutput): void {
    const { state, commands, left } = output;
    const promised = PROMISED[pipeline.manager];
    if (promised.oneOfAQueue) for (const command of commands) this.#checkWork(command, state);
    if (promised.newestOfARef) this.#checkRefs(state);
    if (promised.oneItemOfAChange) this.#checkChanges(state);
    for (const item of left) this.#checkOvertaken(item, output);
  }

  #checkWork(command: Command, { queues, items }: PipelineState): void {
    if (command.kind !== 'request-merge' && command.kind !== 'request-build') return;
    const item = items.get(command.item);
    if (item === undefined) return;
    const queue = queues.find(({ key }) => key === item.queue);
    const head = queue?.items.find(uuid => items.get(uuid)?.role === 'live');
    if (head !== item.uuid)
      this.#complain('manager', `${command.kind} for ${item.uuid}, which is not the first of its queue`);
    if (item.behind !== null)
      this.#complain('manager', `${command.kind} for ${item.uuid} on top of ${item.behind}`);
  }

  #checkChanges({ items }: PipelineState): void {
    const live = [...items.values()].filter(({ role }) => role === 'live');
    const keys = live.flatMap(({ changes }) => changes.map(({ key }) => key));
    for (const [key, { length }] of Map.groupBy(keys, each => each))
      if (length > 1) this.#complain('manager', `${length} items have change ${key}`);
  }

  #checkRefs(state: PipelineState): void {
    const live = state.queues.flatMap(queue =>
      queue.items.flatMap(uuid => state.items.get(uuid) ?? []).filter(item => item.role === 'live'),
    );
    for (const [ref, items] of Map.groupBy(live, item => item.changes.map(refOf).join(' '))) {
      const busy = items.filter(({ buildset }) => buildset.builds.some(isOpen));
      if (busy.length > 1) this.#complain('manager', `${busy.length} items of ${ref} run at once`);
      const waiting = items.slice(1).filter(isQueued);
      if (waiting.length > 1) this.#complain('manager', `${waiting.length} items of ${ref} wait`);
    }
  }

  /** A newer one of its ref is there, or left in the same turn. */
  #checkOvertaken(item: QueueItem, { state, left }: TurnOutput): void {
    if (item.phase.phase !== 'left' || item.phase.reason !== 'overtaken') return;
    const ref = item.changes.map(refOf).join(' ');
    const others = [...state.items.values(), ...left].filter(
      other => other !== item && other.changes.map(refOf).join(' ') === ref,
    );
    if (!others.some(other => BigInt(other.enqueuedAt) >= BigInt(item.enqueuedAt)))
      this.#complain('manager', `${item.uuid} was overtaken, and nothing newer of ${ref} is there`);
    if (item.buildset.builds.length > 0)
      this.#complain('manager', `${item.uuid} was overtaken, and had begun`);
  }
}

function isQueued({ phase }: QueueItem): boolean {
  return phase.phase === 'queued';
}

function refOf(change: Change): string {
  return `${change.project} ${change.branch === undefined ? change.ref : `refs/heads/${change.branch}`}`;
}

/**
 * The one mutable object of this room: what a turn has decided so far. It begins as the input's state and ends as the
 * {@link TurnOutput}; it never leaves `decideTurn`.
 *
 * Items are immutable records: a changed item is a new object put under the same uuid, an untouched one keeps its
 * identity, so that changes are found by comparing references. An item that leaves is removed from `items` immediately; its place
 * in the queue's list is removed when the turn ends, so that leaving costs the same at any position.
 */
import type { Nanoseconds } from '../lib/clock.ts';
import type { Uuid } from '../lib/ids.ts';
import type { Culprit, Remover, ResetCause, ResetCode } from '../model/cause.ts';
import { type Change, type ChangeKey, changeText } from '../model/change.ts';
import type { Decision, DecisionCode } from '../model/decision.ts';
import { NO_TIME, type PipelineHalt } from '../model/halt.ts';
import type { HostWork } from '../model/host-trouble.ts';
import type { BranchAfter } from '../model/landed.ts';
import type { TestedState } from '../model/pipeline-state.ts';
import type { QueueItem } from '../model/queue-item.ts';
import type { ProvidedByChange } from '../model/requirement.ts';
import type { ChainAnswer } from './chain-answer.ts';
import { DueQueues } from './due-queues.ts';
import { ItemDrafts } from './item-drafts.ts';
import type { Manager } from './manager/manager.ts';
import { managerOf } from './manager/managers.ts';
import { type ParkedProjects, parkedProjects } from './parked-projects.ts';
import { withProvided } from './provided.ts';
import type { QueueDraft } from './queue-draft.ts';
import { QueueDrafts } from './queue-drafts.ts';
import { SemaphoreLedger } from './semaphore-ledger.ts';
import { NO_HALTS, NO_STATES, NOTHING_PROVIDED, stateAfter } from './state-after.ts';
import type { ChangeFacts, Command, IgnoredEvent, Need, TurnInput, TurnOutput } from './turn.ts';
import { usableMemory } from './turn-memory.ts';

/** Why items that were tested with a departed or failing one must be tested again. */
export interface Blame {
  readonly code: ResetCode;
  readonly culprit: Culprit | null;
  readonly promoter?: Remover;
}

/** An item that has landed, for those that were tested with it. */
export interface LandedItem {
  readonly culprit: Culprit;
  readonly branches: readonly BranchAfter[];
}

/** Every function of the room gets it; see above for what may be changed when. */
export class TurnDraft {
  readonly input: TurnInput;
  readonly manager: Manager;
  readonly queues: QueueDrafts;
  /** Which of them the turn has to look at. */
  readonly due: DueQueues;
  /** Items that left in this turn without merging; why items tested with them are reset. */
  readonly departed = new Map<Uuid, Blame>();
  /** Items that left in this turn because they landed; what the branches hold now. */
  readonly landed = new Map<Uuid, LandedItem>();
  /** Changes of `landed`. */
  readonly landedChanges = new Set<ChangeKey>();
  /** Changes of `departed`, with the first cause: their dependents cannot stay. */
  readonly lostChanges = new Map<ChangeKey, Blame>();
  /** Items that moved to another queue in this turn; why items tested with them are reset. */
  readonly requeued = new Map<Uuid, Blame>();
  /** Items that were promoted in this turn; who asked. */
  readonly promoted = new Map<Uuid, Remover>();
  /** Items whose failed jobs were asked for again in this turn; who asked. */
  readonly rerun = new Map<Uuid, Remover>();
  /** Items at or behind the first place of a queue that has another item since a promotion in this turn. */
  readonly reordered = new Set<Uuid>();
  /** Items that an event gave a new buildset, before the pass. */
  readonly retested = new Map<Uuid, ResetCause>();
  /** The mergers' answers of this turn, by item. */
  readonly answers = new Map<Uuid, ChainAnswer>();
  /** The same by left-out item, in the order of the events. */
  readonly answersAbout = new Map<Uuid, ChainAnswer[]>();
  /** Items that would ask their host, and may not because of another item; what for. */
  readonly turnedAway = new Map<Uuid, HostWork>();
  /** The sweep of `departures.ts` has not seen what happened last. */
  departuresDue = true;
  /** Under the present layout; another layout starts the count again. */
  consecutiveFailures: number;
  /** Too many failures in a row: only the `disabled` reporters are used. */
  disabled: boolean;
  /** Oldest first; kept only where the pipeline reuses results. */
  testedStates: readonly TestedState[];
  /** What operators keep from going on. */
  halts: readonly PipelineHalt[];
  /** By changes whose items have left, oldest first. */
  provided: readonly ProvidedByChange[];
  readonly #items: ItemDrafts;
  #reportedEnds: ReadonlyMap<Uuid, Nanoseconds> | null = null;
  readonly #commands: Command[] = [];
  readonly #decisions: Decision[] = [];
  readonly #needs: Need[] = [];
  readonly #ignored: IgnoredEvent[] = [];
  readonly #left: QueueItem[] = [];
  readonly #postponed = new Map<Uuid, Nanoseconds>();
  #parked: ParkedProjects | null = null;
  #semaphores: SemaphoreLedger | null = null;
  readonly #unknownSemaphores = new Set<string>();

  constructor(input: TurnInput) {
    this.input = input;
    this.manager = managerOf(input.pipeline);
    this.#items = new ItemDrafts(input.state.items, usableMemory(input)?.index ?? null);
    this.due = new DueQueues(input, () => this.#items.index());
    this.queues = new QueueDrafts(input.state.queues, this.due);
    const { countedUnder, consecutiveFailures, disabled } = input.state;
    const counts = countedUnder === (input.layoutVersion ?? null);
    this.consecutiveFailures = counts ? consecutiveFailures : 0;
    this.disabled = counts && disabled;
    const { testedStates = NO_STATES } = input.state;
    this.testedStates = input.pipeline.reuseResults === true ? testedStates : NO_STATES;
    this.provided = input.state.provided ?? NOTHING_PROVIDED;
    this.halts = input.state.halts ?? NO_HALTS;
  }

  /** Undefined: it is not here, also when it left in this very turn. */
  item(uuid: Uuid): QueueItem | undefined {
    return this.#items.all.get(uuid);
  }

  items(): Iterable<QueueItem> {
    return this.#items.all.values();
  }

  /** Those of the queues that the turn has to look at, as far as is known now. */
  *dueItems(): Iterable<QueueItem> {
    for (const queue of this.queues.due()) yield* this.itemsOf(queue);
  }

  /** In their order, without those that left in this turn. */
  itemsOf(queue: QueueDraft): readonly QueueItem[] {
    return queue.items.flatMap(uuid => this.item(uuid) ?? []);
  }

  /** Grows with everything that a pass over a queue asks for or says. */
  get said(): number {
    return this.#commands.length + this.#decisions.length + this.#needs.length + this.#unknownSemaphores.size;
  }

  /** Hosts in trouble, by the items' records when the passes began. */
  get parked(): ParkedProjects {
    this.#parked ??= parkedProjects(this.due.mayWaitForHosts ? this.#items.all.values() : []);
    return this.#parked;
  }

  /** Slots of semaphores, as far as they are known. */
  get semaphores(): SemaphoreLedger {
    this.#semaphores ??= new SemaphoreLedger(
      this.input.semaphores ?? new Map(),
      this.#items.all.values(),
      uuid => this.item(uuid),
    );
    return this.#semaphores;
  }

  /** A job was refused semaphores that are free by now. */
  get semaphoresFreed(): boolean {
    return this.#semaphores?.hasFreed() === true;
  }

  /** A job cannot start in this call: facts about these are missing. */
  lackSemaphores(names: readonly string[]): void {
    for (const name of names) this.#unknownSemaphores.add(name);
  }

  /** The item existed before this turn. */
  isKnown(uuid: Uuid): boolean {
    return this.input.state.items.has(uuid);
  }

  get itemCount(): number {
    return this.#items.all.size;
  }

  facts(key: ChangeKey): ChangeFacts | undefined {
    return this.input.changes.get(key);
  }

  /** Live items of a change, at any revision; oldest first. */
  liveItems(key: ChangeKey): readonly QueueItem[] {
    return this.#items.live(key);
  }

  /** When the executor finished a build or was last heard of, from a result among this turn's events, also before it is applied. */
  reportedEnd(build: Uuid): Nanoseconds | undefined {
    this.#reportedEnds ??= new Map(
      this.input.events.flatMap(event => {
        if (event.kind !== 'build-result') return [];
        const end = event.execution?.endedAt ?? event.lastSign;
        return end === undefined ? [] : [[event.build, end] as const];
      }),
    );
    return this.#reportedEnds.get(build);
  }

  append(queue: QueueDraft, item: QueueItem): void {
    queue.add(item.uuid);
    this.#items.add(item);
    this.due.note(item);
    if (this.manager.needsOrder) this.due.all();
    if (item.role === 'live') for (const change of item.changes) this.lostChanges.delete(change.key);
  }

  /** @param item with its new queue. */
  moveToEnd(item: QueueItem, from: QueueDraft, to: QueueDraft): void {
    from.takeOut(item.uuid);
    to.add(item.uuid);
    this.put(item);
    this.due.noteQueue(from);
    this.due.all();
  }

  noteAnswer(item: Uuid, answer: ChainAnswer): void {
    this.answers.set(item, answer);
    for (const uuid of answer.leftOut.keys())
      this.answersAbout.set(uuid, [...(this.answersAbout.get(uuid) ?? []), answer]);
  }

  /** Replaces the item's record; nothing happens when it is the same object. */
  put(item: QueueItem): void {
    if (this.#items.put(item)) this.due.note(item);
  }

  /** @param item in its final form, phase `left`. */
  remove(item: QueueItem): void {
    this.provided = withProvided(this.provided, item);
    this.#items.remove(item.uuid);
    this.#left.push(item);
    this.queues.get(item.queue)?.noteLeaver();
    this.due.note(item);
    if (this.manager.needsOrder) this.due.all();
  }

  command(command: Command): void {
    this.#commands.push(command);
  }

  /** @returns false: too many wait already. */
  postpone(event: Uuid, until: Nanoseconds): boolean {
    if (this.#postponed.size >= (this.input.mostPostponed ?? 0)) return false;
    this.#postponed.set(event, until);
    return true;
  }

  /** Until its queue takes changes again. @returns false: too many wait already. */
  hold(event: Uuid): boolean {
    if (this.#postponed.size >= (this.input.mostHeld ?? 0)) return false;
    this.#postponed.set(event, NO_TIME);
    return true;
  }

  /** A fact that the turn lacks; the item waits until the next call. */
  need(need: Need): void {
    this.#needs.push(need);
  }

  ignore(event: IgnoredEvent): void {
    this.#ignored.push(event);
  }

  /** Records a decision about each of the changes, a line of their history. @param text one sentence for people. */
  decide(
    code: DecisionCode,
    about: {
      readonly change: Change;
      readonly others?: readonly Change[];
      readonly item: Uuid | null;
      readonly event: Uuid | null;
    },
    text: string,
  ): void {
    const { tenant, pipeline, now: at } = this.input;
    const { item, event } = about;
    for (const change of [about.change, ...(about.others ?? [])])
      this.#decisions.push({
        at,
        code,
        tenant,
        pipeline: pipeline.name,
        project: change.project,
        change: change.key,
        changeText: changeText(change),
        item,
        event,
        text,
      });
  }

  /** The turn's output. Call it once, last. */
  finish(): TurnOutput {
    const state = stateAfter(this.input, this, this.#items.all);
    return {
      state,
      memory: this.due.memoryAfter(state, this.dueItems(), this.#items.indexAfter()),
      commands: this.#commands,
      decisions: this.#decisions,
      needs: this.#needs,
      ignored: this.#ignored,
      left: this.#left,
      postponed: this.#postponed,
      unknownSemaphores: [...this.#unknownSemaphores],
    };
  }
}

/**
 * Invariant 1. A change is merged by us at most once, only from the head, in queue order, and only if every voting job of
 * its current buildset is good and what was tested is what lands.
 *
 * "What was tested" is remembered when the merge is asked for: the buildsets of the items it was stacked on, less those the
 * merger's answer left out. At the landing, exactly these must have landed before it, in that order, with nothing of the queue in
 * between; and its commit must sit on what the host says they brought to its branch. Until then they are what it stands behind.
 *
 * Items that are reported together, from the head without a gap, count as landed for those behind them when the reports are
 * requested; what really lands is checked as for any other.
 */
import type { Uuid } from '../../src/lib/ids.ts';
import { resultOf } from '../../src/model/build.ts';
import { currentBuild, type TestedMerge, testedMergeOf } from '../../src/model/build-set.ts';
import type { ChangeKey } from '../../src/model/change.ts';
import { type BranchAfter, branchesAfter, hasLanded, type Landed } from '../../src/model/landed.ts';
import type { PipelineState } from '../../src/model/pipeline-state.ts';
import type { QueueItem } from '../../src/model/queue-item.ts';
import { isGood } from '../../src/model/results.ts';
import type { Command, TurnInput, TurnOutput } from '../../src/pipeline/turn.ts';
import type { Complain } from './complain.ts';
import { PROMISED } from './managers.ts';

interface Landing {
  readonly buildset: Uuid;
  /** What it was tested as, and what the host says its branches hold since. */
  readonly branches: readonly BranchAfter[];
}

export class MergeChecks {
  readonly #complain: Complain;
  /** Per buildset: those of the live items its merge was stacked on, oldest first. */
  readonly #stackedOn = new Map<Uuid, readonly Uuid[]>();
  /** The same per request, with those its answer may leave out. */
  readonly #asked = new Map<Uuid, readonly Uuid[]>();
  readonly #landed = new Map<string, Landing[]>();
  readonly #merged = new Set<ChangeKey>();

  constructor(complain: Complain) {
    this.#complain = complain;
  }

  turn(input: TurnInput, output: TurnOutput): void {
    this.#noteLandings(input);
    this.#noteAnswers(input);
    this.#noteReruns(output);
    this.#decided(input, output);
    this.#checkStanding(output.state);
  }

  #decided(input: TurnInput, output: TurnOutput): void {
    const together = new Map<Uuid, QueueItem[]>();
    for (const command of output.commands) {
      if (command.kind === 'request-merge') this.#noteRequest(output, command);
      if (
        command.kind !== 'report' ||
        !command.awaited ||
        command.result !== 'SUCCESS' ||
        command.item === null
      )
        continue;
      const item = output.state.items.get(command.item);
      if (item === undefined) continue;
      const ahead = together.get(command.together ?? command.report) ?? [];
      this.#checkVerdict(item, output.state, new Set(ahead.map(({ uuid }) => uuid)));
      if (PROMISED[input.pipeline.manager].landsWhatItTested) this.#checkStackLanded(item, ahead);
      together.set(command.together ?? command.report, [...ahead, item]);
    }
  }

  /** @param output may have taken the item out of the queue again; then nothing follows from the request. */
  #noteRequest(
    output: TurnOutput,
    { request, item: uuid, buildset }: Extract<Command, { readonly kind: 'request-merge' }>,
  ): void {
    const stack: Uuid[] = [];
    const own = output.state.items.get(uuid);
    for (let at = own?.behind ?? null; at !== null; ) {
      const item = output.state.items.get(at);
      if (item === undefined) {
        this.#complain('1', `the merge of ${buildset} is stacked on an item that is gone`);
        return;
      }
      if (item.role === 'live') stack.unshift(item.buildset.uuid);
      at = item.behind;
    }
    this.#stackedOn.set(buildset, stack);
    this.#asked.set(request, stack);
  }

  /** An answer that is taken is the one the buildset waits for; if it is put aside, another request follows in the same turn. */
  #noteAnswers(input: TurnInput): void {
    for (const event of input.events) {
      if (event.kind !== 'merger-result' || event.outcome.kind !== 'merged') continue;
      const stage = input.state.items.get(event.item)?.buildset.stage;
      if (stage?.state !== 'merging' || stage.request !== event.request) continue;
      const leftOut = new Set((event.outcome.leftOut ?? []).map(({ item }) => item));
      const stack = this.#asked.get(event.request) ?? [];
      this.#stackedOn.set(
        event.buildset,
        stack.filter((_, place) => !leftOut.has(place)),
      );
    }
  }

  /** A buildset whose failed jobs run again has the merge of the one before. */
  #noteReruns({ state }: TurnOutput): void {
    for (const { buildset, earlier } of state.items.values()) {
      const before = earlier.at(-1);
      if (buildset.cause?.code !== 'rerun' || before === undefined || this.#stackedOn.has(buildset.uuid))
        continue;
      const stack = this.#stackedOn.get(before.uuid);
      if (buildset.stage.state === 'running' && stack !== undefined)
        this.#stackedOn.set(buildset.uuid, stack);
    }
  }

  #checkStanding(state: PipelineState): void {
    for (const item of state.items.values()) {
      if (item.phase.phase !== 'queued') continue;
      const below = itemsBelow(state, item);
      if (this.#awaitsLanding(state, below)) continue;
      if (!this.#isAsTested(item, below))
        this.#complain('1', `${item.changes[0].key} was tested with other items than those it stands behind`);
      // Also a dependency, which is merged below it.
      this.#checkConflict(item, below);
    }
  }

  /**
   * Of items that land together the host refused one, and a later one, which was tested with it, has no answer yet: what stands behind
   * that one is judged when it has.
   */
  #awaitsLanding(state: PipelineState, below: readonly QueueItem[]): boolean {
    return below.some(
      each => each.phase.phase === 'reporting' && !this.#isAsTested(each, itemsBelow(state, each)),
    );
  }

  /** What an item was merged with is what it stands behind, and what has landed since. */
  #isAsTested(item: QueueItem, below: readonly QueueItem[]): boolean {
    if (testedMergeOf(item.buildset) === null) return true;
    const landed = new Set((this.#landed.get(item.queue) ?? []).map(({ buildset }) => buildset));
    const stack = this.#stackedOn.get(item.buildset.uuid) ?? [];
    const live = below.filter(({ role }) => role === 'live');
    return (
      stack.filter(buildset => !landed.has(buildset)).join() === live.map(each => each.buildset.uuid).join()
    );
  }

  /** What an item conflicts with is what it stands behind, or has landed. */
  #checkConflict(item: QueueItem, below: readonly QueueItem[]): void {
    const other = item.buildset.conflict?.with;
    if (other === undefined || this.#merged.has(other)) return;
    if (![...below, item].some(({ changes }) => changes.some(({ key }) => key === other)))
      this.#complain(
        '1',
        `${item.changes[0].key} is to conflict with ${other}, which it does not stand behind`,
      );
  }

  #noteLandings(input: TurnInput): void {
    for (const event of input.events) {
      if (event.kind !== 'report-result' || event.outcome.kind !== 'done') continue;
      const { landed } = event.outcome;
      if (!hasLanded(landed)) continue;
      const item = input.state.items.get(event.item);
      if (item?.phase.phase !== 'reporting' || item.phase.report !== event.report) continue;
      for (const change of item.changes) {
        if (this.#merged.has(change.key)) this.#complain('1', `${change.key} was merged twice`);
        this.#merged.add(change.key);
      }
      const landedNow = (this.#landed.get(item.queue) ?? []).map(({ buildset }) => buildset);
      const gone = [...input.state.items.values()].filter(each => landedNow.includes(each.buildset.uuid));
      this.#checkVerdict(item, input.state, new Set(gone.map(({ uuid }) => uuid)));
      this.#checkStack(item, landed);
    }
  }

  /** @param ahead items that have landed or land with it: without them it is the head. */
  #checkVerdict(item: QueueItem, state: PipelineState, ahead: ReadonlySet<Uuid>): void {
    const who = item.changes[0].key;
    const { stage } = item.buildset;
    const queue = state.queues.find(entry => entry.key === item.queue);
    const head = queue?.items.find(uuid => state.items.get(uuid)?.role === 'live' && !ahead.has(uuid));
    if (head !== item.uuid) this.#complain('1', `${who} is reported as good although it is not the head`);
    if (
      stage.state !== 'complete' ||
      stage.result !== 'SUCCESS' ||
      stage.graph === null ||
      stage.tested === null
    ) {
      this.#complain('1', `${who} is reported as good although its buildset is ${stage.state}`);
      return;
    }
    if (stage.graph.jobs.length === 0) this.#complain('1', `${who} is reported as good without any job`);
    for (const job of stage.graph.jobs) {
      const build = currentBuild(item.buildset, job.name);
      const result = build === undefined ? undefined : resultOf(build);
      if (job.voting && (result === undefined || !isGood(result))) {
        this.#complain('1', `${who} is reported as good although ${job.name} is ${result ?? 'open'}`);
      }
    }
  }

  /** What it was tested on top of has landed before it is reported, or lands with it, and nothing else since. */
  #checkStackLanded(item: QueueItem, ahead: readonly QueueItem[]): void {
    const stack = this.#stackedOn.get(item.buildset.uuid) ?? [];
    const withIt = ahead.map(({ buildset }) => buildset.uuid);
    const landed = stack.slice(0, Math.max(0, stack.length - withIt.length));
    const isStackedOn = withIt.length <= stack.length && stack.slice(landed.length).join() === withIt.join();
    if (!isStackedOn || !this.#isTail(item.queue, landed))
      this.#complain('1', `${item.changes[0].key} is reported as good on top of what has not landed`);
  }

  #isTail(queue: string, stack: readonly Uuid[]): boolean {
    const landed = this.#landed.get(queue) ?? [];
    const tail = stack.length === 0 ? [] : landed.slice(-stack.length);
    return tail.length === stack.length && tail.every((landing, index) => landing.buildset === stack[index]);
  }

  #checkStack(item: QueueItem, hosted: Landed): void {
    const who = item.changes[0].key;
    const landed = this.#landed.get(item.queue) ?? [];
    const stack = this.#stackedOn.get(item.buildset.uuid);
    const { stage } = item.buildset;
    const tested = stage.state === 'complete' ? stage.tested : null;
    if (stack === undefined) this.#complain('1', `${who} landed and its merge was never asked for`);
    else {
      if (!this.#isTail(item.queue, stack)) {
        this.#complain('1', `${who} landed, tested on top of other items than those that landed before it`);
      }
      this.#checkBase(item, tested, stack.length === 0 ? undefined : landed.at(-1));
    }
    const branches = branchesAfter(tested, hosted);
    this.#landed.set(item.queue, [...landed, { buildset: item.buildset.uuid, branches }]);
  }

  /** Every branch the item directly below brought along is, in what was tested, exactly as the host holds it since that landed. */
  #checkBase(item: QueueItem, tested: TestedMerge | null, below: Landing | undefined): void {
    const who = item.changes[0].key;
    const isOf = (project: string, name: string | undefined) => (branch: TestedMerge['branches'][number]) =>
      branch.project === project && branch.branch === name;
    for (const { project, branch } of item.changes) {
      const own = tested?.branches.some(isOf(project, branch));
      if (own !== true) this.#complain('1', `${who} landed and nothing was tested of its branch`);
    }
    for (const { project, branch, tested: asTested, now } of below?.branches ?? []) {
      const above = tested?.branches.find(isOf(project, branch));
      if (above === undefined || above.before === now.commit) continue;
      if ((above.before === asTested.commit ? asTested.tree : above.beforeTree) !== now.tree) {
        this.#complain(
          '1',
          `${who} landed, tested with another ${project} than the one that landed below it`,
        );
      }
    }
  }
}

/** Those that the item stands behind, oldest first. */
function itemsBelow(state: PipelineState, item: QueueItem): readonly QueueItem[] {
  const below: QueueItem[] = [];
  for (let at = item.behind; at !== null; at = state.items.get(at)?.behind ?? null) {
    const each = state.items.get(at);
    if (each !== undefined) below.unshift(each);
  }
  return below;
}

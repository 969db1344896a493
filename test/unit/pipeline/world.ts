/**
 * A small world around `decideTurn`: changes, a host that merges, a merger, executors. It keeps what the turns ask for and
 * answers only on request, in any order, so that a test decides who is slow and who fails.
 *
 *     const world = new World();
 *     const gate = world.pipeline('gate', { manager: 'dependent' });
 *     world.jobs('app', [job('unit')]);
 *     world.change('A', { project: 'app' });
 *     gate.enqueue('A');            // a turn; gate.merges now holds the merge request
 *     gate.answerMerge(gate.merges[0]);
 *
 * The world is the oracle for what may land: a merge request's inputs are fixed when it is asked for, a branch moves only
 * when a report merges, and a merge is accepted only if the branch is exactly where the tested state began.
 */

import { createHash } from 'node:crypto';
import { addMilliseconds, type Nanoseconds, parseNanoseconds } from '../../../src/lib/clock.ts';
import { derivedUuid, type IdMaker, spanIdOf, traceIdOf, type Uuid } from '../../../src/lib/ids.ts';
import { isOpen } from '../../../src/model/build.ts';
import {
  type Change,
  type ChangeKey,
  type ChangeStatus,
  changeKey,
  type ProposedChange,
} from '../../../src/model/change.ts';
import type { PipelineEvent, ReportOutcome } from '../../../src/model/event.ts';
import type { JobNode } from '../../../src/model/job.ts';
import { hasLanded, type LandedBranch } from '../../../src/model/landed.ts';
import type {
  BranchHead,
  LeftOut,
  MergeConflict,
  MergedBranch,
  MergerOutcome,
} from '../../../src/model/merge.ts';
import type { DriverConfig, Pipeline, ReportAction, WindowPolicy } from '../../../src/model/pipeline.ts';
import { EMPTY_PIPELINE, type PipelineState } from '../../../src/model/pipeline-state.ts';
import { type CommitId, parseCommitId, projectKey } from '../../../src/model/project.ts';
import type { QueueItem } from '../../../src/model/queue-item.ts';
import type { BuildResult } from '../../../src/model/results.ts';
import type { Returned } from '../../../src/model/returned.ts';
import type { SemaphoreRule } from '../../../src/model/semaphore.ts';
import type { Takeover } from '../../../src/model/takeover.ts';
import { decideTurn } from '../../../src/pipeline/decide-turn.ts';
import type { KnownSemaphores } from '../../../src/pipeline/semaphore-ledger.ts';
import { type Arrival, withArrival } from '../../../src/pipeline/takeovers.ts';
import type {
  ChangeFacts,
  Command,
  FreezeFact,
  TurnInput,
  TurnMemory,
  TurnOutput,
} from '../../../src/pipeline/turn.ts';
import { gatePipeline } from '../../fake/pipeline.ts';
import { emptyJobNode } from '../../fake/records.ts';
import { compareMemory } from './compare-memory.ts';

export interface ChangeSetup {
  readonly project: string;
  readonly dependsOn?: readonly string[];
}

export interface WorldChange {
  readonly name: string;
  readonly project: string;
  dependsOn: readonly string[];
  unresolved: readonly string[];
  /** Of `dependsOn`, its git parents. */
  builtOn: readonly string[];
  topic: string | null;
  patchset: number;
  branch: string;
  status: ChangeStatus;
  approved: boolean;
}

export interface PendingMerge {
  readonly request: Uuid;
  readonly kind: 'merge' | 'repo-state';
  readonly item: QueueItem;
  readonly buildset: Uuid;
  readonly link: ChainLink;
}

/** An item as it was when its merge was asked for, and what that was stacked on. */
export interface ChainLink {
  readonly item: QueueItem;
  readonly below: ChainLink | null;
}

/** Items ahead, then the item itself. */
export function chainOf(merge: PendingMerge): readonly QueueItem[] {
  const chain: QueueItem[] = [];
  for (let link: ChainLink | null = merge.link; link !== null; link = link.below) chain.push(link.item);
  return chain.reverse();
}

export interface PendingBuild {
  readonly build: Uuid;
  readonly item: QueueItem;
  readonly buildset: Uuid;
  readonly job: string;
  readonly attempt: number;
}

export interface PendingReport {
  readonly report: Uuid;
  readonly item: QueueItem;
  readonly action: ReportAction;
  /** The first of the reports whose items land together. */
  readonly together: Uuid;
}

export interface RecordedTurn {
  readonly input: TurnInput;
  readonly output: TurnOutput;
}

export const job = emptyJobNode;

const SPEAKER: DriverConfig = { connection: 'local', config: {}, definedAt: 'config@master:zuul.yaml:1' };
const USUAL_ACTIONS: readonly ReportAction[] = ['success', 'failure', 'merge-conflict', 'config-error'];

export const USUAL_WINDOW: WindowPolicy = {
  initial: 20,
  floor: 3,
  increase: { type: 'linear', factor: 1 },
  decrease: { type: 'exponential', factor: 2 },
};

/** As `src/layout/stanzas/parse-window.ts` has it. */
const INITIAL = { independent: 0, dependent: 20, serial: 1, supercedent: 1 } as const;

export interface PipelineSetup extends Partial<Omit<Pipeline, 'name' | 'reporters' | 'window'>> {
  readonly speaks?: readonly ReportAction[];
  readonly window?: Partial<WindowPolicy>;
  readonly maxChanges?: number;
  readonly maxDependencies?: number;
  /** It requires approvals. Default: a dependent one does. */
  readonly gated?: boolean;
  /** The host lands several at once. */
  readonly together?: boolean;
}

function pipelineOf(name: string, setup: PipelineSetup): Pipeline {
  const { speaks, window, maxChanges: _c, maxDependencies: _d, gated: _g, together: _t, ...rest } = setup;
  const reported = new Set(speaks ?? USUAL_ACTIONS);
  const speakers = (action: ReportAction) => (reported.has(action) ? [SPEAKER] : []);
  const manager = setup.manager ?? 'independent';
  return gatePipeline({
    name,
    manager,
    postReview: manager === 'dependent',
    triggers: [],
    reporters: {
      enqueue: speakers('enqueue'),
      start: speakers('start'),
      success: speakers('success'),
      failure: speakers('failure'),
      'merge-conflict': speakers('merge-conflict'),
      'config-error': speakers('config-error'),
      'no-jobs': speakers('no-jobs'),
      dequeue: speakers('dequeue'),
      disabled: speakers('disabled'),
    },
    ...rest,
    window: { ...USUAL_WINDOW, initial: INITIAL[manager], ...window },
  });
}

export class World {
  readonly changes = new Map<string, WorldChange>();
  /** Head of `master` per project. */
  readonly tips = new Map<string, CommitId>();
  /** Names of merged changes, in order. */
  readonly landed: string[] = [];
  readonly pipelines = new Map<string, PipelineWorld>();
  /** Pairs that cannot be merged one after the other, `A B` with the names in order. */
  readonly #conflicts = new Set<string>();
  /** Projects that were taken out of the tenant. */
  readonly removed = new Set<string>();
  /** Changes that depend on each other are one item. */
  allowsCycles = false;
  readonly #jobs = new Map<string, readonly JobNode[]>();
  readonly #queues = new Map<string, string>();
  /** All that jobs name. */
  readonly semaphores = new Map<string, SemaphoreRule>();
  readonly #freeze = new Map<string, FreezeFact>();
  /** A history asks for each change a hundred times. */
  readonly #proposed = new Map<string, { readonly facts: string; readonly change: ProposedChange }>();
  #now = parseNanoseconds('1700000000000000000');
  #ids = 0;

  readonly ids: IdMaker = { uuid: () => this.uuid() };

  uuid(): Uuid {
    this.#ids += 1;
    return derivedUuid('world', String(this.#ids));
  }

  /** Ids made so far. */
  get idsMade(): number {
    return this.#ids;
  }

  /** The ids that followed then, once more. */
  idsAfter(made: number): IdMaker {
    let next = made;
    return {
      uuid() {
        next += 1;
        return derivedUuid('world', String(next));
      },
    };
  }

  get now(): Nanoseconds {
    return this.#now;
  }

  tick(): Nanoseconds {
    this.#now = addMilliseconds(this.#now, 1000);
    return this.#now;
  }

  layoutVersion = 1;

  /** Without a turn. */
  pass(milliseconds: number): void {
    this.#now = addMilliseconds(this.#now, milliseconds);
  }

  pipeline(name: string, setup: PipelineSetup = {}): PipelineWorld {
    const pipeline = new PipelineWorld(this, pipelineOf(name, setup), setup);
    this.pipelines.set(name, pipeline);
    return pipeline;
  }

  jobs(project: string, jobs: readonly JobNode[]): void {
    this.#jobs.set(project, jobs);
  }

  /** They change the same line. */
  conflict(one: string, other: string): void {
    this.#conflicts.add([one, other].sort().join(' '));
  }

  conflicting(one: string, other: string): boolean {
    return this.#conflicts.has([one, other].sort().join(' '));
  }

  queue(project: string, name: string): void {
    this.#queues.set(project, name);
  }

  change(name: string, setup: ChangeSetup): WorldChange {
    const change: WorldChange = {
      name,
      project: setup.project,
      dependsOn: setup.dependsOn ?? [],
      unresolved: [],
      builtOn: [],
      topic: null,
      patchset: 1,
      branch: 'master',
      status: 'open',
      approved: true,
    };
    this.changes.set(name, change);
    if (!this.tips.has(setup.project)) this.tips.set(setup.project, commitId('tip', setup.project));
    return change;
  }

  get(name: string): WorldChange {
    const change = this.changes.get(name);
    if (change === undefined) throw new Error(`no change ${name}`);
    return change;
  }

  /** What freezing says of this change instead of the project's jobs. */
  freezeAs(name: string, fact: FreezeFact): void {
    this.#freeze.set(name, fact);
  }

  freeze(item: QueueItem): FreezeFact {
    const change = this.get(nameOf(item));
    const jobs = this.#jobs.get(change.project);
    const special = this.#freeze.get(change.name);
    if (special !== undefined) return special;
    return jobs === undefined
      ? { kind: 'not-in-pipeline', work: [] }
      : { kind: 'frozen', blob: 'b10b', jobs, missingStates: [], work: [] };
  }

  proposed(name: string): ProposedChange {
    const { project, patchset, branch } = this.get(name);
    const facts = `${project} ${branch} ${patchset}`;
    const known = this.#proposed.get(name);
    if (known?.facts === facts) return known.change;
    const key = projectKey({ connection: 'local', name: project });
    const change: ProposedChange = {
      kind: 'change',
      key: changeKey(key, name),
      project: key,
      branch,
      id: name,
      patchset: String(patchset),
      commit: commitId(name, String(patchset)),
      ref: `refs/changes/${name}/${patchset}`,
      subject: `Change ${name}`,
    };
    this.#proposed.set(name, { facts, change });
    return change;
  }

  facts(gated: boolean): ReadonlyMap<ChangeKey, ChangeFacts> {
    const dependents = new Map<string, ChangeKey[]>();
    for (const { name, status, dependsOn, builtOn } of this.changes.values()) {
      if (status !== 'open') continue;
      for (const needed of new Set([...builtOn, ...dependsOn]))
        dependents.set(needed, [...(dependents.get(needed) ?? []), this.proposed(name).key]);
    }
    const facts = new Map<ChangeKey, ChangeFacts>();
    for (const change of this.changes.values()) {
      const known = this.#remembered(this.#factsOf(change, dependents.get(change.name) ?? [], gated), gated);
      facts.set(known.record.change.key, known);
    }
    return facts;
  }

  /** As in the service: facts that are the same are the same object, whenever the host was asked for them. */
  #remembered(facts: ChangeFacts, gated: boolean): ChangeFacts {
    const name = `${gated} ${facts.record.change.key}`;
    const text = JSON.stringify({ ...facts, record: { ...facts.record, fetchedAt: null } });
    const known = this.#facts.get(name);
    if (known?.text === text) return known.facts;
    this.#facts.set(name, { text, facts });
    return facts;
  }

  #factsOf(change: WorldChange, dependents: readonly ChangeKey[], gated: boolean): ChangeFacts {
    const queue = this.#queues.get(change.project) ?? change.project;
    const ready = !gated || change.approved;
    return {
      record: {
        change: this.proposed(change.name),
        status: change.status,
        dependsOn: [...new Set([...change.builtOn, ...change.dependsOn])].map(
          name => this.proposed(name).key,
        ),
        unresolvedDependencies: change.unresolved,
        builtOn: change.builtOn.map(name => this.proposed(name).key),
        facts: {},
        fetchedAt: this.#now,
      },
      requirements: { met: ready, text: ready ? 'approved' : 'it is not approved' },
      dependents,
      ...this.#topicOf(change),
      queue: this.removed.has(change.project)
        ? null
        : { key: queue, name: queue, allowsCycles: this.allowsCycles },
      connectionAllowed: true,
    };
  }

  /** With more than five open changes a topic is too large. */
  #topicOf({ topic: name }: WorldChange): Pick<ChangeFacts, 'topic'> {
    if (name === null) return {};
    const open = [...this.changes.values()].filter(each => each.topic === name && each.status === 'open');
    return {
      topic: { name, changes: open.length > 5 ? null : open.map(each => this.proposed(each.name).key) },
    };
  }

  /** A push to the branch by another user. */
  moveTip(project: string): void {
    this.tips.set(project, commitId('foreign', this.tips.get(project) ?? '', this.#now));
  }

  /** Whose commit with the tested tree lands: ours, or one that the host makes of it. */
  landsAs: 'push' | 'api' = 'push';
  readonly #trees = new Map<CommitId, string>();
  readonly #facts = new Map<string, { readonly text: string; readonly facts: ChangeFacts }>();

  treeOf(commit: CommitId): string {
    return this.#trees.get(commit) ?? commit;
  }

  /** Lands what was tested, or says where the branch has gone. @param tree other than the tested one: what the host made of it. */
  land(item: QueueItem, tree?: string): ReportOutcome {
    const landed: LandedBranch[] = [];
    for (const change of item.changes) {
      const outcome = this.#landOne(item, change, landed, tree);
      if (outcome.kind !== 'landed')
        return landed.length === 0
          ? outcome
          : { kind: 'not-merged', text: `landed in part: ${outcome.text}` };
      landed.push(outcome.branch);
    }
    return { kind: 'done', landed };
  }

  #landOne(
    item: QueueItem,
    of: Change,
    before: readonly LandedBranch[],
    tree: string | undefined,
  ):
    | { readonly kind: 'landed'; readonly branch: LandedBranch }
    | Extract<ReportOutcome, { readonly kind: 'not-merged' | 'base-moved' }> {
    const { stage } = item.buildset;
    const change = this.get(nameOf({ changes: [of] }));
    const branches = stage.state === 'complete' ? (stage.tested?.branches ?? []) : [];
    const own = branches.find(branch => branch.project === of.project);
    if (own === undefined) throw new Error(`nothing was tested of ${change.name}`);
    if (change.status !== 'open') return { kind: 'not-merged', text: `it is ${change.status}` };
    const tip = this.tips.get(change.project);
    const isThere =
      before.some(({ project, commit }) => project === of.project && commit === tip) ||
      (this.landsAs === 'push'
        ? tip === own.before
        : tip !== undefined && this.treeOf(tip) === own.beforeTree);
    if (!isThere) return { kind: 'base-moved', text: 'the branch has moved' };
    const { project, branch } = own;
    const commit = this.landsAs === 'push' ? own.commit : commitId('made by the host', own.commit);
    const landed = { project, branch, commit, tree: tree ?? own.tree };
    this.#trees.set(landed.commit, landed.tree);
    this.tips.set(change.project, landed.commit);
    change.status = 'merged';
    this.landed.push(change.name);
    return { kind: 'landed', branch: landed };
  }
}

export class PipelineWorld {
  readonly world: World;
  pipeline: Pipeline;
  /** It is not configured any more. */
  retired = false;
  state: PipelineState = EMPTY_PIPELINE;
  readonly history: RecordedTurn[] = [];
  readonly left: QueueItem[] = [];
  merges: PendingMerge[] = [];
  /** Withdrawn; a merger may still answer. */
  readonly lateMerges: PendingMerge[] = [];
  builds: PendingBuild[] = [];
  /** Cancelled; their executors may still answer. */
  readonly zombies: PendingBuild[] = [];
  reports: PendingReport[] = [];
  /** All that happened to it. */
  readonly takeovers: Takeover[] = [];
  /** Each call is compared with one that looks at everything. */
  comparesMemory = false;
  #memory: TurnMemory | undefined;
  #arrival: Arrival | null = null;
  readonly #setup: PipelineSetup;
  /** Joint landings of which one did not land: those behind it were not sent. */
  readonly #stopped = new Set<Uuid>();

  constructor(world: World, pipeline: Pipeline, setup: PipelineSetup) {
    this.world = world;
    this.pipeline = pipeline;
    this.#setup = setup;
  }

  /** The pipeline is configured anew. */
  configure(setup: PipelineSetup): void {
    this.pipeline = pipelineOf(this.pipeline.name, setup);
  }

  items(): readonly QueueItem[] {
    return this.state.queues.flatMap(queue => queue.items.flatMap(uuid => this.state.items.get(uuid) ?? []));
  }

  /** The newest live item of a change. */
  item(name: string): QueueItem {
    const item = this.items().findLast(entry => entry.role === 'live' && nameOf(entry) === name);
    if (item === undefined) throw new Error(`${name} is not in ${this.pipeline.name}`);
    return item;
  }

  /** Its scheduler is killed, and after a while another one has it. */
  takenOver(milliseconds: number): void {
    // One that was killed before its first turn has never been there.
    const isUnwritten = this.#arrival !== null && this.#arrival.holder !== this.state.holder;
    const since = (isUnwritten ? this.takeovers.pop()?.since : undefined) ?? this.world.now;
    this.world.pass(milliseconds);
    const at = this.world.now;
    const number = this.takeovers.length + 1;
    const [from, to] = [`ci${number - 1}/1`, `ci${number}/1`];
    const takeover = { from, to, how: 'lost', since, at } as const;
    this.takeovers.push(takeover);
    this.#arrival = { holder: { name: to, session: String(number), since: at }, takeover };
  }

  /** One turn, with as many calls as it takes to supply what it needs. */
  turn(events: readonly PipelineEvent[]): TurnOutput {
    const now = this.world.tick();
    const before = this.state;
    const total = {
      commands: [] as Command[],
      decisions: [] as TurnOutput['decisions'][number][],
      ignored: [] as TurnOutput['ignored'][number][],
      left: [] as QueueItem[],
    };
    let frozen = new Map<Uuid, FreezeFact>();
    let last: TurnOutput;
    for (let due: readonly PipelineEvent[] = events; ; due = []) {
      const output = this.#call(now, due, frozen);
      last = output;
      total.commands.push(...output.commands);
      total.decisions.push(...output.decisions);
      total.ignored.push(...output.ignored);
      total.left.push(...output.left);
      if (output.needs.length === 0) break;
      if (output.needs.every(need => frozen.has(need.buildset)))
        throw new Error('asked again for what was supplied');
      // As in the service: the job graph is computed from the merger's answer, which only the turn that takes it has.
      const answered = events.flatMap(event => (event.kind === 'merger-result' ? [event.buildset] : []));
      const orphan = output.needs.find(need => !answered.includes(need.buildset));
      if (orphan !== undefined)
        throw new Error(`buildset ${orphan.buildset} is to be frozen without its merge result`);
      frozen = new Map(output.needs.map(need => [need.buildset, this.world.freeze(this.#itemOf(need.item))]));
    }
    if (this.#arrival !== null) {
      const output = withArrival(before, { state: this.state, left: total.left }, this.#arrival);
      this.state = output.state;
      total.left = [...output.left];
      this.#rewriteHistory(now, output);
    }
    this.left.push(...total.left);
    return { ...last, state: this.state, postponed: new Map(), unknownSemaphores: [], ...total };
  }

  /** What is written of a turn is more than what was decided. */
  #rewriteHistory(now: Nanoseconds, { state, left }: Pick<TurnOutput, 'state' | 'left'>): void {
    const written = new Map(left.map(item => [item.uuid, item]));
    for (const [index, turn] of this.history.entries()) {
      if (turn.input.now !== now) continue;
      const isLast = index === this.history.length - 1;
      const gone = turn.output.left.map(item => written.get(item.uuid) ?? item);
      const output = { ...turn.output, left: gone, ...(isLast ? { state } : {}) };
      this.history[index] = { ...turn, output };
    }
  }

  #call(
    now: Nanoseconds,
    events: readonly PipelineEvent[],
    frozen: ReadonlyMap<Uuid, FreezeFact>,
  ): TurnOutput {
    const { maxChanges, maxDependencies, gated, together } = this.#setup;
    const input: TurnInput = {
      now,
      tenant: 'main',
      pipeline: this.pipeline,
      retired: this.retired,
      layoutVersion: this.world.layoutVersion,
      state: this.state,
      events,
      changes: this.world.facts(gated ?? this.pipeline.manager === 'dependent'),
      frozen,
      ids: this.world.ids,
      semaphores: this.#semaphores(),
      ...(together === true ? { landsSeveral: new Set(['local']) } : {}),
      ...(maxChanges === undefined ? {} : { maxChanges }),
      ...(maxDependencies === undefined ? {} : { maxDependencies }),
      ...(this.#memory === undefined ? {} : { memory: this.#memory }),
    };
    const { idsMade } = this.world;
    const output = decideTurn(input);
    this.#memory = output.memory;
    if (this.comparesMemory) compareMemory(input, output, () => this.world.idsAfter(idsMade));
    this.history.push({ input, output });
    this.state = output.state;
    for (const command of output.commands) this.#note(command, output);
    return output;
  }

  #semaphores(): KnownSemaphores {
    const others = [...this.world.pipelines.values()].filter(other => other !== this);
    const held = others.flatMap(({ state }) =>
      [...state.items.values()].flatMap(({ buildset }) =>
        buildset.builds.flatMap(build => (isOpen(build) ? (build.semaphores ?? []) : [])),
      ),
    );
    return new Map(
      [...this.world.semaphores].map(([name, rule]) => {
        const slots = held.filter(hold => hold.name === name).map(({ slot }) => slot);
        return [name, { ...rule, takenByOthers: new Set(slots), holders: [] }];
      }),
    );
  }

  #note(command: Command, output: TurnOutput): void {
    const item = 'item' in command && command.item !== null ? this.#itemOf(command.item, output) : undefined;
    switch (command.kind) {
      case 'request-merge':
      case 'request-repo-state':
        if (item !== undefined)
          this.merges.push({
            ...command,
            kind: command.kind === 'request-merge' ? 'merge' : 'repo-state',
            item,
            link: this.#linkOf(item),
          });
        return;
      case 'withdraw-merger-request':
        this.lateMerges.push(...this.merges.filter(merge => merge.request === command.request));
        this.merges = this.merges.filter(merge => merge.request !== command.request);
        return;
      case 'request-build':
        if (item !== undefined) this.builds.push({ ...command, item });
        return;
      case 'cancel-build':
        this.zombies.push(...this.builds.filter(build => build.build === command.build));
        this.builds = this.builds.filter(build => build.build !== command.build);
        return;
      case 'report':
        if (command.awaited && item !== undefined) {
          const { report, action, together = report } = command;
          this.reports.push({ report, item, action, together });
        }
        return;
      case 'supersede':
        return;
    }
  }

  #itemOf(uuid: Uuid, output?: TurnOutput): QueueItem {
    const item = this.state.items.get(uuid) ?? output?.left.find(entry => entry.uuid === uuid);
    if (item === undefined) throw new Error(`no item ${uuid}`);
    return item;
  }

  /** What the item's merge is stacked on as things are now. */
  #linkOf(item: QueueItem): ChainLink {
    const behind = item.behind === null ? undefined : this.state.items.get(item.behind);
    return { item, below: behind === undefined ? null : this.#linkOf(behind) };
  }

  enqueueEvent(name: string, type = 'approved'): PipelineEvent {
    const change = this.world.proposed(name);
    const uuid = this.world.uuid();
    const span = { traceId: traceIdOf(uuid), spanId: spanIdOf(uuid) };
    const trigger = {
      uuid,
      connection: 'local',
      driver: 'git',
      type,
      project: change.project,
      branch: 'master',
      ref: null,
      change,
      facts: {},
      configMayHaveChanged: [],
      branchesChanged: false,
      receivedAt: this.world.now,
      sampled: true,
      span,
    };
    return { kind: 'enqueue', uuid: this.world.uuid(), trigger, tenantSpan: span, matched: `event ${type}` };
  }

  enqueue(...names: readonly string[]): TurnOutput {
    return this.turn(names.map(name => this.enqueueEvent(name)));
  }

  updated(name: string): TurnOutput {
    return this.turn([
      { kind: 'change-updated', uuid: this.world.uuid(), change: this.world.proposed(name).key },
    ]);
  }

  mergeEvent(merge: PendingMerge, outcome: MergerOutcome = this.mergeOutcome(merge)): PipelineEvent {
    this.merges = this.merges.filter(entry => entry !== merge);
    return {
      kind: 'merger-result',
      uuid: this.world.uuid(),
      item: merge.item.uuid,
      buildset: merge.buildset,
      request: merge.request,
      at: this.world.now,
      outcome,
    };
  }

  /**
   * The chain on top of the tips as they are now, past the items that conflict if that is asked for.
   *
   * @param how.old as a merger of 0.3: the chain ends at the first conflict.
   * @param how.conflicting at the tip this merger sees.
   */
  mergeOutcome(
    merge: PendingMerge,
    how: { old?: boolean; conflicting?: (one: string, other: string) => boolean } = {},
  ): MergerOutcome {
    const common = { steps: [], worker: 'merger-1' };
    if (merge.kind === 'repo-state') return { kind: 'repo-state', heads: this.#heads(), ...common };
    const branches = new Map<string, MergedBranch>();
    const { stage } = merge.item.buildset;
    const goesPast = how.old !== true && stage.state === 'merging' && stage.ahead !== undefined;
    const chain = chainOf(merge);
    const there = [...this.world.landed];
    const leftOut: LeftOut[] = [];
    let start: ReadonlyMap<string, MergedBranch> = new Map();
    for (const [place, { changes }] of chain.entries()) {
      start = new Map(branches);
      const open = changes.filter(change => !this.world.landed.includes(nameOf({ changes: [change] })));
      const conflict = open.map(change => this.#conflictOf(change, there, how.conflicting)).find(isDefined);
      if (conflict !== undefined) {
        const isOwn = place === chain.length - 1;
        if (isOwn || !goesPast)
          return { kind: 'conflict', ...conflict, ...(leftOut.length === 0 ? {} : { leftOut }), ...common };
        leftOut.push({ item: place, ...conflict });
        continue;
      }
      for (const change of open) {
        there.push(nameOf({ changes: [change] }));
        this.#merge(change, branches);
      }
    }
    const own = new Set(merge.item.changes.map(({ project }) => project));
    return {
      kind: 'merged',
      branches: [...branches.values()].map(branch => {
        const ahead = own.has(branch.project) ? this.#headBefore(branch, start) : branch;
        return { ...branch, before: ahead.commit, beforeTree: ahead.tree };
      }),
      filesChanged: [],
      config: [],
      heads: [],
      ...(leftOut.length === 0 ? {} : { leftOut }),
      ...common,
    };
  }

  /** Where the branch was before the item's own changes. */
  #headBefore(
    { project, base }: MergedBranch,
    start: ReadonlyMap<string, MergedBranch>,
  ): { readonly commit: CommitId; readonly tree: string } {
    return start.get(project) ?? { commit: base, tree: this.world.treeOf(base) };
  }

  #merge({ project, key, ...change }: Change, branches: Map<string, MergedBranch>): void {
    const name = project.slice('local/'.length);
    const base = branches.get(project)?.base ?? this.world.tips.get(name) ?? commitId('tip', name);
    const before = branches.get(project)?.commit ?? base;
    const beforeTree = branches.get(project)?.tree ?? this.world.treeOf(base);
    const patchset = change.kind === 'change' ? change.patchset : '';
    const commit = commitId(before, key, patchset);
    const tree = commitId(beforeTree, key, patchset);
    branches.set(project, { project, branch: 'master', base, before, beforeTree, commit, tree });
  }

  #conflictOf(
    change: Change,
    there: readonly string[],
    conflicting = (one: string, other: string) => this.world.conflicting(one, other),
  ): MergeConflict | undefined {
    const other = there.findLast(name => conflicting(name, nameOf({ changes: [change] })));
    if (other === undefined) return undefined;
    const touched = this.world.landed.includes(other) ? {} : { with: this.world.proposed(other).key };
    return { change: change.key, project: change.project, files: ['conflict.txt'], ...touched };
  }

  #heads(): readonly BranchHead[] {
    return [...this.world.tips].map(([name, commit]) => ({
      project: projectKey({ connection: 'local', name }),
      branch: 'master',
      commit,
    }));
  }

  /** @param at when the executor took it; its word for it may be read late. */
  startEvent(build: PendingBuild, at: Nanoseconds = this.world.now): PipelineEvent {
    return {
      kind: 'build-started',
      uuid: this.world.uuid(),
      item: build.item.uuid,
      buildset: build.buildset,
      build: build.build,
      at,
      worker: 'executor-1',
    };
  }

  failingEvent(build: PendingBuild): PipelineEvent {
    return {
      kind: 'build-failing',
      uuid: this.world.uuid(),
      item: build.item.uuid,
      buildset: build.buildset,
      build: build.build,
      at: this.world.now,
    };
  }

  pausedEvent(build: PendingBuild, returned?: Returned): PipelineEvent {
    return {
      kind: 'build-paused',
      uuid: this.world.uuid(),
      item: build.item.uuid,
      buildset: build.buildset,
      build: build.build,
      at: this.world.now,
      ...(returned === undefined ? {} : { returned }),
    };
  }

  resultEvent(build: PendingBuild, result: BuildResult): PipelineEvent {
    this.builds = this.builds.filter(entry => entry !== build);
    const execution = { startedAt: this.world.now, endedAt: this.world.now, steps: [] };
    return {
      kind: 'build-result',
      uuid: this.world.uuid(),
      item: build.item.uuid,
      buildset: build.buildset,
      build: build.build,
      at: this.world.now,
      result,
      worker: 'executor-1',
      execution,
    };
  }

  /** Its executor has vanished, and was last heard of then. */
  lostEvent(build: PendingBuild, lastSign: Nanoseconds): PipelineEvent {
    const event = this.resultEvent(build, 'RETRY');
    if (event.kind !== 'build-result') throw new Error('no result');
    return { ...event, worker: null, execution: null, workerEnd: 'lost', lastSign };
  }

  /** Those whose answer may come next: items that land together are answered in order. */
  dueReports(): readonly PendingReport[] {
    return this.reports.filter(
      (report, index) => this.reports.findIndex(({ together }) => together === report.together) === index,
    );
  }

  /** The host's honest answer, unless `outcome` is given. */
  reportEvent(report: PendingReport, given?: ReportOutcome): PipelineEvent {
    this.reports = this.reports.filter(entry => entry !== report);
    const outcome: ReportOutcome | undefined =
      given === undefined && this.#stopped.has(report.together)
        ? { kind: 'withdrawn', text: 'a change that had to land before it did not' }
        : given;
    const item = this.state.items.get(report.item.uuid) ?? report.item;
    const merges = this.pipeline.manager === 'dependent' && report.action === 'success';
    const answer = outcome ?? (merges ? this.world.land(item) : { kind: 'done', landed: [] });
    if (answer.kind !== 'done' || !hasLanded(answer.landed)) this.#stopped.add(report.together);
    return {
      kind: 'report-result',
      uuid: this.world.uuid(),
      item: report.item.uuid,
      report: report.report,
      at: this.world.now,
      outcome: answer,
      parts: [],
    };
  }
}

export function nameOf(item: Pick<QueueItem, 'changes'>): string {
  const [change] = item.changes;
  return change.kind === 'change' ? change.id : change.ref;
}

export function commitId(...parts: readonly string[]): CommitId {
  return parseCommitId(createHash('sha1').update(parts.join('\0')).digest('hex'));
}

function isDefined<T>(value: T | undefined): value is T {
  return value !== undefined;
}

/**
 * One turn of a pipeline:
 *
 *     read     the pipeline's waiting events, in order                  (events are facts; they stay until the commit)
 *     sort     those whose job graph is not ready stay in the queue     (pending-freezes.ts)
 *     gather   the records of all changes in reach, judged against the requirements (turn-reads.ts)
 *     decide   the pure pass, repeated with job graphs until it needs none
 *     compose  operations: changed items, requests, cancels, report intents, spans that ended, history, acknowledgements
 *     commit   all of it or nothing, under the fence and under the layout it was decided with; see turn-commit.ts
 *     act      nothing here: workers watch the requests, senders the outboxes
 *
 * After a commit conflict (a worker finished a withdrawn request, a new layout, an update of a change) nothing has changed, and the
 * turn is retried.
 *
 * A map of the folder, in the order of reading:
 *
 *     holding      pipeline-runner (fence, wake-ups, one turn after the other) → turn-or-retry, stored-state, arrival, pipeline-context
 *     time         pipeline-clock, turn-timer, rechecks (verdicts that change by time alone)
 *     reading      turn-reads, pending-freezes
 *     deciding     freeze-buildset, job-graphs, needed-states, pipeline-semaphores → `src/pipeline/decide-turn.ts`
 *     operations   changed-items, turn-operations, decision-rows, stored-item, note-landed, semaphore-operations, commands → turn-commit
 *     commands     merge-requests, build-requests (build-projects, build-playbooks, build-vars-files, parent-data, zuul-variables, node-labels); reports in `report/`
 *     afterwards   revise-priorities, seen-successes → expected-durations; pipeline-forecasts, for hosts and notices
 *
 * What a turn decides is written by its commit alone, and nowhere before. Job graphs are stored earlier, under the names of their
 * content, where nothing refers to them yet. No turn waits for a code host or a worker.
 */

import type { Nanoseconds } from '../../lib/clock.ts';
import type { Uuid } from '../../lib/ids.ts';
import { turnMeasurements } from '../../metrics/turn-measurements.ts';
import type { ChangeKey, ChangeRecord } from '../../model/change.ts';
import type { PipelineState } from '../../model/pipeline-state.ts';
import type { ConnectionName } from '../../model/project.ts';
import { decideWithNeeds } from '../../pipeline/decide-turn.ts';
import { type Arrival, withArrival } from '../../pipeline/takeovers.ts';
import type { TurnInput, WholeTurn } from '../../pipeline/turn.ts';
import type { Fence } from '../../store/fence.ts';
import { StoreError } from '../../store/port.ts';
import { hasRules } from '../../tracing/keep.ts';
import { decisionLogFacts, itemLogFacts } from '../../tracing/log-facts.ts';
import { lateExecutionRows } from '../care/late-executions.ts';
import { effectRows } from '../events/event-effects.ts';
import { internalEventOperations } from '../internal/note-internal.ts';
import { noticeOperations } from '../notices/notice-intents.ts';
import { turnNotices } from '../notices/turn-notices.ts';
import { type ChangedTurn, withChanged } from './changed-items.ts';
import { commandOperations, withdrawOperations } from './commands.ts';
import { freezeBuildset } from './freeze-buildset.ts';
import { landedChanges, landedConfiguration } from './note-landed.ts';
import type { PreparedFreeze } from './pending-freezes.ts';
import type { PipelineContext } from './pipeline-context.ts';
import { awaitedSemaphores } from './pipeline-semaphores.ts';
import { seenSuccesses } from './seen-successes.ts';
import { semaphoreOperations } from './semaphore-operations.ts';
import { commitTurn, type TurnCommit } from './turn-commit.ts';
import { judgedDepartures, outboxOperations, stateOperations } from './turn-operations.ts';
import {
  type KnownState,
  knownChanges,
  recheckTimesOf,
  type TakenEvents,
  type TurnLimits,
  takeEvents,
} from './turn-reads.ts';

/** What the runner has to do next. `more`: take another turn immediately. */
export type TurnEnd =
  | { readonly kind: 'committed'; readonly known: KnownState; readonly more: boolean }
  | { readonly kind: 'nothing-to-do'; readonly known: KnownState }
  /** Commit conflict: retry the turn. `layout`: with the new layout. */
  | { readonly kind: 'again'; readonly because: 'layout' | 'facts' | 'workers' };

/** @throws Fenced when the fence is lost. */
export async function pipelineTurn(
  context: PipelineContext,
  before: KnownState,
  arrival: Arrival,
  fence: Fence,
  limits: TurnLimits,
): Promise<TurnEnd> {
  const begun = context.clock.monotonic();
  const { state, memory, isMeasured } = before;
  const taken = await takeEvents(context, state, limits);
  const takenAt = context.clock.now();
  const landed = landedChanges(state, taken.events, context.record);
  const { facts: known, gathered } = knownChanges(context, before, taken.events, landed, takenAt);
  const remembered = memory === null ? {} : { memory };
  const facts = { state, events: taken.events, now: takenAt, changes: known, ...remembered };
  const decided = await decideWithSemaphores(
    context,
    { ...facts, mostPostponed: taken.mostPostponed, mostHeld: taken.mostHeld },
    taken.freezes,
  );
  const draft = withArrival(state, decided, arrival);
  if (taken.entries.length === 0 && draft.state === state && draft.commands.length === 0) {
    context.rechecks.note([], new Map(), recheckTimesOf(state, known));
    return { kind: 'nothing-to-do', known: { state, memory: draft.memory, gathered, isMeasured } };
  }
  const turn = withChanged(state, draft);
  const commit = await turnOperations(context, taken, { state, draft: turn, landed, takenAt });
  try {
    await commitTurn(commit, { ...context, staged: context.nodes.staged, fence });
  } catch (error) {
    return await afterConflict(error, context);
  }
  context.changes.remember([...landed.values()]);
  context.semaphores.follow(awaitedSemaphores(draft.state));
  context.rechecks.note(taken.entries, draft.postponed, recheckTimesOf(draft.state, known));
  const isHaltedOtherwise = draft.state.halts !== state.halts;
  if (isHaltedOtherwise) context.rechecks.release();
  for (const success of seenSuccesses(state, turn)) context.expected.learn(success, success.ms);
  context.forecasts.learn(turn.left);
  logDecisions(context, draft);
  context.metrics?.record(
    turnMeasurements({
      tenant: context.tenant.name,
      pipeline: context.pipeline.name,
      before: state,
      after: draft.state,
      changed: turn.changed,
      isFirst: !isMeasured,
      left: judgedDepartures(draft.left, context),
      traced: context.tracePolicy() !== undefined,
      seconds: (context.clock.monotonic() - begun) / 1000,
      operations: commit.guards.length + commit.own.length,
    }),
  );
  return {
    kind: 'committed',
    known: { state: draft.state, memory: draft.memory, gathered, isMeasured: true },
    more: taken.more || isHaltedOtherwise || draft.state.takeovers !== undefined,
  };
}

interface DecidedTurn {
  readonly state: PipelineState;
  readonly draft: ChangedTurn;
  readonly landed: ReadonlyMap<ChangeKey, ChangeRecord>;
  readonly takenAt: Nanoseconds;
}

async function turnOperations(
  context: PipelineContext,
  { entries, events }: TakenEvents,
  { state, draft, landed, takenAt }: DecidedTurn,
): Promise<TurnCommit> {
  const graphs = await context.graphs.flush();
  const late = await lateExecutionRows(events, draft, context);
  const effects = effectRows(events, draft, takenAt, context);
  const now = context.clock.now();
  const slots = await semaphoreOperations(state, draft, context);
  const configuration = await landedConfiguration(state, events, { ...context, now });
  return {
    guards: [
      context.layoutCheck,
      ...slots.guards,
      ...graphs,
      ...context.changes.operations([...landed.values()]),
    ],
    withdrawals: () => withdrawOperations(draft, context),
    own: [
      ...commandOperations(draft, context),
      ...noticeOperations(turnNotices(state, draft, landsChanges(context)), now, context),
      ...stateOperations(state, draft, context),
      ...slots.own,
      ...outboxOperations(state, draft, context, now),
      ...effects,
      ...late,
      ...configuration,
      ...internalEventOperations(state, draft, events, context, now),
      ...entries
        .filter(({ value }) => !draft.postponed.has(value.uuid))
        .map(entry => context.events.ack(entry)),
    ],
  };
}

function landsChanges({ pipeline, landingMode }: PipelineContext): boolean {
  return pipeline.reporters.success.some(reporter => landingMode(reporter) !== null);
}

/** @throws any other error. */
async function afterConflict(
  error: unknown,
  { log, layoutCheck, changes }: PipelineContext,
): Promise<TurnEnd> {
  if (!(error instanceof StoreError) || !['NoNode', 'BadVersion', 'NodeExists'].includes(error.code))
    throw error;
  log.debug({ err: error }, 'commit conflict, retrying turn');
  if (error.path === layoutCheck.path) return { kind: 'again', because: 'layout' };
  const isFact = await changes.conflict(error);
  return { kind: 'again', because: isFact ? 'facts' : 'workers' };
}

type TurnFacts = Pick<TurnInput, 'state' | 'memory' | 'events' | 'now' | 'changes' | 'semaphores'> & {
  readonly mostPostponed: number;
  readonly mostHeld: number;
};

/** Decides again with the semaphores that jobs turn out to want. Each round knows more names. */
async function decideWithSemaphores(
  context: PipelineContext,
  facts: TurnFacts,
  freezes: ReadonlyMap<Uuid, PreparedFreeze>,
): Promise<WholeTurn> {
  const names = new Set(awaitedSemaphores(facts.state));
  for (;;) {
    const semaphores = await context.semaphores.read(names, facts.state, context.semaphoreOf);
    const whole = decide(context, { ...facts, semaphores }, freezes);
    if (whole.unknownSemaphores.length === 0) return whole;
    for (const name of whole.unknownSemaphores) names.add(name);
  }
}

function decide(
  context: PipelineContext,
  facts: TurnFacts,
  freezes: ReadonlyMap<Uuid, PreparedFreeze>,
): WholeTurn {
  const { maxChangesPerPipeline, maxDependencies, shadowMode } = context.tenant;
  return decideWithNeeds(
    {
      ...facts,
      tenant: context.tenant.name,
      pipeline: context.pipeline,
      layoutVersion: context.layoutVersion,
      retired: context.retired,
      ids: context.ids,
      landsSeveral: landingSeveral(context),
      ...tracingFacts(context),
      ...(maxChangesPerPipeline === undefined ? {} : { maxChanges: maxChangesPerPipeline }),
      ...(shadowMode === undefined ? {} : { shadowMode }),
      ...(maxDependencies === undefined ? {} : { maxDependencies }),
    },
    (need, now) => freezeBuildset(need, now, freezes.get(need.buildset), context),
  );
}

function landingSeveral({ pipeline, landsSeveral }: PipelineContext): ReadonlySet<ConnectionName> {
  return new Set(
    pipeline.reporters.success.filter(reporter => landsSeveral(reporter)).map(({ connection }) => connection),
  );
}

function tracingFacts(context: PipelineContext): Pick<TurnInput, 'tracing'> {
  const policy = context.tracePolicy();
  if (policy === undefined) return {};
  const tenant = context.tenant.name;
  const { keep, splitAfterMs } = policy;
  return {
    tracing: {
      holdsBack: hasRules(keep),
      runsLong: (project, job) =>
        splitAfterMs > 0 && (context.expected.of({ tenant, project, job }) ?? 0) > splitAfterMs,
    },
  };
}

function logDecisions(context: PipelineContext, draft: WholeTurn): void {
  for (const decision of draft.decisions) {
    const { code, changeText, text } = decision;
    const level = code === 'landed-tree-differs' ? 'error' : 'info';
    context.log[level]({ code, change: changeText, ...decisionLogFacts(decision) }, text);
  }
  for (const { item, event, text } of draft.ignored)
    context.log.debug({ ...itemLogFacts(item), event }, `ignored event: ${text}`);
}

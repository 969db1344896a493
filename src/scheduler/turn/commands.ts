/** The commands of a turn as operations of its commit: requests for workers, reports, events for other pipelines. */
import { extraPathsOf, isAlwaysDynamic } from '../../layout/tenant/config-files.ts';
import type { Clock, Nanoseconds } from '../../lib/clock.ts';
import type { Uuid } from '../../lib/ids.ts';
import { leadChange } from '../../model/about-item.ts';
import { endOfBuild } from '../../model/build.ts';
import type { BuildRequest } from '../../model/build-request.ts';
import { graphOf } from '../../model/build-set.ts';
import { cancelMessageOf } from '../../model/cancel-message.ts';
import { reportIntentCodec } from '../../model/codec/records.ts';
import type { FrozenJob, JobGraph } from '../../model/job.ts';
import type { Tenant } from '../../model/layout.ts';
import type { MergerRequest } from '../../model/merge.ts';
import { nodesWanted } from '../../model/node-events.ts';
import type { PipelineState } from '../../model/pipeline-state.ts';
import type { BranchName, ProjectKey } from '../../model/project.ts';
import { buildsetsOf, type QueueItem } from '../../model/queue-item.ts';
import type { ReportIntent } from '../../model/report-intent.ts';
import { ranksOf } from '../../pipeline/relative-priority.ts';
import type { Command, WholeTurn } from '../../pipeline/turn.ts';
import { outboxOperation } from '../../store/outbox.ts';
import type { Operation } from '../../store/port.ts';
import { rootSpanOf } from '../../tracing/span-ids.ts';
import { landingOperations } from '../changes/own-merges.ts';
import { messageIntents } from '../report/message-intents.ts';
import { itemReportIntent, refusalReportIntent } from '../report/report-intents.ts';
import { reportedTrace } from '../report/reported-trace.ts';
import { buildRequestFor } from './build-requests.ts';
import type { ChangedTurn } from './changed-items.ts';
import type { JobGraphs } from './job-graphs.ts';
import { mergeRequestFor, priorityOf, repoStateRequestFor } from './merge-requests.ts';
import { labelProblem, wantedOfHosts, withOfferedNodeset } from './node-labels.ts';
import type { PipelineContext, PipelineNodes } from './pipeline-context.ts';

/** The part of the pipeline's context that commands need; settle-lost-work.ts uses it, too. */
export interface CommandContext
  extends Pick<
    PipelineContext,
    | 'ids'
    | 'pipeline'
    | 'webRoot'
    | 'spans'
    | 'tracePolicy'
    | 'projects'
    | 'semaphoreOf'
    | 'mergeRequests'
    | 'buildRequests'
    | 'relativeGroup'
    | 'executors'
    | 'events'
    | 'eventsOf'
    | 'record'
    | 'mergeMessage'
    | 'mergeMode'
    | 'likelyStates'
    | 'landingMode'
    | 'messengers'
  > {
  readonly clock: Pick<Clock, 'now'>;
  readonly tenant: Pick<Tenant, 'name' | 'projects' | 'shadowMode'>;
  readonly nodes: Pick<PipelineNodes, 'reportOutbox' | 'messageOutbox' | 'landings'>;
  readonly graphs: Pick<JobGraphs, 'get'>;
}

/**
 * Operations that withdraw requests, and let paused ones go on. They fail when a worker took or finished one meanwhile: then the turn is retried.
 */
export async function withdrawOperations(
  draft: Pick<ChangedTurn, 'commands' | 'changed' | 'left'>,
  { mergeRequests, buildRequests }: Pick<CommandContext, 'mergeRequests' | 'buildRequests'>,
): Promise<readonly Operation[]> {
  const merges = draft.commands.flatMap(command =>
    command.kind === 'withdraw-merger-request' ? [command.request] : [],
  );
  const named = (kind: 'cancel-build' | 'resume-build') =>
    draft.commands.flatMap(command => (command.kind === kind ? [command.build] : []));
  const builds = named('cancel-build');
  const paused = named('resume-build');
  return [
    ...(merges.length === 0 ? [] : await mergeRequests.withdrawAll(merges)),
    ...(builds.length === 0 ? [] : await buildRequests.withdrawAll(builds, cancelMessages(draft))),
    ...(paused.length === 0 ? [] : await buildRequests.resumeAll(paused)),
  ];
}

/** The end of each cancelled build, from the item's record: spans that its executor reports later end by then. */
function cancelMessages({
  changed,
  left,
}: Pick<ChangedTurn, 'changed' | 'left'>): (build: string) => Uint8Array {
  const times = new Map<string, Uint8Array>();
  for (const item of [...changed, ...left]) {
    for (const build of buildsetsOf(item).flatMap(({ builds }) => builds))
      if (build.state.state === 'cancelled')
        times.set(build.uuid, cancelMessageOf(endOfBuild(build) ?? build.state.at));
  }
  return build => times.get(build) ?? new Uint8Array(0);
}

type Decided = Pick<WholeTurn, 'state' | 'commands' | 'left'>;

/** Operations of all other commands; they touch only nodes that the holder of the pipeline alone writes. */
export function commandOperations(draft: Decided, context: CommandContext): readonly Operation[] {
  return draft.commands.flatMap(command => operationsOf(command, draft, context));
}

function operationsOf(command: Command, draft: Decided, context: CommandContext): readonly Operation[] {
  switch (command.kind) {
    case 'request-merge': {
      const item = itemOf(command.item, draft);
      return mergerOperations(
        mergeRequestFor(
          command.request,
          item,
          context.likelyStates(item),
          mergerContext(draft.state, context),
        ),
        context,
      );
    }
    case 'request-repo-state':
      return mergerOperations(
        repoStateRequestFor(
          command.request,
          itemOf(command.item, draft),
          command.states,
          mergerContext(draft.state, context),
        ),
        context,
      );
    case 'request-build':
      return buildOperations(command, draft, context);
    case 'withdraw-merger-request':
    case 'cancel-build':
    case 'resume-build':
      return []; // all of a turn in one pass: withdrawOperations
    case 'report':
      return reportOperations(command, draft, context);
    case 'supersede':
      return supersedeOperations(command, itemOf(command.item, draft), context);
  }
}

function mergerContext(state: PipelineState, context: CommandContext) {
  return {
    items: state.items,
    now: context.clock.now(),
    priority: priorityOf(context.pipeline.precedence),
    mergeMessage: context.mergeMessage,
    mergeMode: context.mergeMode,
    extraPaths: (project: ProjectKey) => extraPathsOf(context.tenant, project),
    isTrusted: (project: ProjectKey) =>
      context.tenant.projects.some(each => each.project === project && each.trusted),
    isAlwaysDynamic: (project: ProjectKey, branch: BranchName) =>
      context.tenant.projects.some(each => each.project === project && isAlwaysDynamic(each, branch)),
  };
}

function mergerOperations(request: MergerRequest, context: CommandContext): readonly Operation[] {
  return context.mergeRequests.submit(request);
}

function buildOperations(
  command: Extract<Command, { kind: 'request-build' }>,
  draft: Decided,
  context: CommandContext,
): readonly Operation[] {
  const item = itemOf(command.item, draft);
  const now = context.clock.now();
  const { priority: precedence = context.pipeline.precedence } =
    item.buildset.builds.find(({ uuid }) => uuid === command.build) ?? {};
  const outcome = buildRequestFor(command, item, {
    items: draft.state.items,
    pipeline: context.pipeline,
    graph: graphOfItem(item, context),
    now,
    priority: priorityOf(precedence) + rank(item, draft.state, context),
    places: context.projects,
    semaphoreOf: context.semaphoreOf,
    tracing: context.tracePolicy() ?? null,
  });
  const ended = {
    kind: 'build-result',
    uuid: context.ids.uuid(),
    item: item.uuid,
    buildset: item.buildset.uuid,
    build: command.build,
    at: now,
    worker: null,
    execution: null,
  } as const;
  if (outcome.kind === 'impossible')
    return context.events.put({ ...ended, result: 'ERROR', detail: outcome.text });
  if (isNoop(outcome.request)) return context.events.put({ ...ended, result: 'SUCCESS' });
  const problem = labelProblem(outcome.request.job, context.executors);
  if (problem !== undefined) return context.events.put({ ...ended, result: 'NODE_FAILURE', detail: problem });
  const job = withOfferedNodeset(outcome.request.job, context.executors);
  const request = { ...outcome.request, job };
  const wanted = wantedOfHosts(request, context.executors);
  return [
    ...context.buildRequests.submit(request, wanted),
    ...(wanted === undefined ? [] : context.events.put(nodesWanted(request.uuid, wanted, now))),
  ];
}

function rank({ uuid }: QueueItem, state: PipelineState, { relativeGroup }: CommandContext): number {
  return relativeGroup === undefined ? 0 : (ranksOf(state, relativeGroup).get(uuid) ?? 0);
}

/** Zuul's `noop`: a job without any playbook succeeds without an executor. */
function isNoop(request: BuildRequest): boolean {
  return Object.values(request.playbooks).every(phase => phase.length === 0);
}

type ReportCommand = Extract<Command, { kind: 'report' }>;

function reportOperations(
  command: ReportCommand,
  draft: Decided,
  context: CommandContext,
): readonly Operation[] {
  const item = command.item === null ? undefined : itemOf(command.item, draft);
  const report = {
    now: context.clock.now(),
    root: context.webRoot,
    tenant: context.tenant.name,
    pipeline: context.pipeline,
    jobs: item === undefined ? [] : jobsOfItem(item, context),
    traceUrl:
      item === undefined ? null : reportedTrace(context.spans()?.viewer ?? null, context.webRoot, item),
    landingMode: context.landingMode,
  };
  const messages = (about: Parameters<typeof messageIntents>[1], intent: ReportIntent) => {
    const all = messageIntents(command, about, intent, { ...report, messengers: context.messengers });
    return intentOperations(all, context.nodes.messageOutbox, report.now);
  };
  if (item !== undefined) {
    const intent = itemReportIntent(withTogether(command, draft), item, report);
    const isTraced = item.sampled && context.spans() !== undefined;
    return [
      ...intentOperations([intent], context.nodes.reportOutbox, report.now),
      ...(isTraced && context.tenant.shadowMode !== true
        ? landingOperations(intent, context.nodes.landings)
        : []),
      ...messages({ change: leadChange(item), item }, intent),
    ];
  }
  const record = context.record(command.change);
  if (record === undefined) return [];
  const intent = refusalReportIntent(command, record.change, report);
  return [
    ...intentOperations([intent], context.nodes.reportOutbox, report.now),
    ...messages({ change: record.change, item: null }, intent),
  ];
}

function intentOperations(
  intents: readonly ReportIntent[],
  outbox: string,
  now: Nanoseconds,
): readonly Operation[] {
  return intents.map(intent => outboxOperation(outbox, reportIntentCodec.encode(intent), now));
}

/** The first of those that land together is marked as well: the others may become visible after it. */
function withTogether(command: ReportCommand, { commands }: Decided): ReportCommand {
  const isFirst = commands.some(each => each.kind === 'report' && each.together === command.report);
  return isFirst ? { ...command, together: command.report } : command;
}

function supersedeOperations(
  command: Extract<Command, { kind: 'supersede' }>,
  { uuid, sampled }: QueueItem,
  context: CommandContext,
): readonly Operation[] {
  const internal = { queuedAt: context.clock.now(), causedBy: rootSpanOf(uuid), sampled };
  return command.pipelines.flatMap(pipeline => {
    const events = context.eventsOf(pipeline);
    return events === undefined
      ? []
      : events.put({
          kind: 'superseded',
          uuid: context.ids.uuid(),
          change: command.change,
          by: context.pipeline.name,
          internal,
        });
  });
}

/** Items that left in this turn may still have a last report. */
function itemOf(uuid: Uuid, draft: Decided): QueueItem {
  const item = draft.state.items.get(uuid) ?? draft.left.find(each => each.uuid === uuid);
  if (item === undefined) throw new Error(`a command names the unknown item ${uuid}`);
  return item;
}

function graphOfItem(item: QueueItem, context: CommandContext): JobGraph {
  const graph = graphOf(item.buildset);
  if (graph === null) throw new Error(`buildset ${item.buildset.uuid} of item ${item.uuid} has no job graph`);
  return context.graphs.get(graph.blob);
}

function jobsOfItem(item: QueueItem, context: CommandContext): readonly FrozenJob[] {
  const graph = graphOf(item.buildset);
  return graph === null ? [] : context.graphs.get(graph.blob).jobs;
}

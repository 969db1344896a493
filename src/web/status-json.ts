/**
 * `/api/tenant/<t>/status` as Zuul's clients know it, with a `gatehouse` block per item. Unlike {@link liveItem} it holds
 * elapsed and remaining times, so it is different at every call.
 */
import { millisecondsBetween, type Nanoseconds, toMilliseconds } from '../lib/clock.ts';
import { leadChange } from '../model/about-item.ts';
import { type Build, isOpen, resultOf } from '../model/build.ts';
import { currentBuild, graphOf } from '../model/build-set.ts';
import { type Change, commitOf } from '../model/change.ts';
import type { JobNode } from '../model/job.ts';
import { type JobStanding, jobStandings, waitText } from '../model/job-standing.ts';
import type { ChangeQueue } from '../model/pipeline-state.ts';
import { projectIdOf, shortCommit } from '../model/project.ts';
import type { QueueItem } from '../model/queue-item.ts';
import { traceAddress } from '../tracing/trace-links.ts';
import type { TraceUi } from '../tracing/ui-url.ts';
import type { LivePipeline, TenantSnapshot } from './deps.ts';
import { failingReasons } from './failing-reasons.ts';
import { buildPage, itemPage } from './links.ts';
import { isActive, resetsOf } from './live-item.ts';

export interface StatusContext {
  readonly now: Nanoseconds;
  readonly version: string;
  readonly root: string;
  readonly traceUi: TraceUi | null;
  readonly canonicalNames: ReadonlyMap<string, string>;
  /** Milliseconds, by `<project key> <job>`. */
  readonly expected: ReadonlyMap<string, number>;
}

export function statusJson(snapshot: TenantSnapshot, context: StatusContext) {
  return {
    zuul_version: context.version,
    last_reconfigured: Math.round(toMilliseconds(snapshot.reconfiguredAt)),
    trigger_event_queue: { length: snapshot.triggerEvents },
    management_event_queue: { length: snapshot.managementEvents },
    connection_event_queues: Object.fromEntries(
      Object.entries(snapshot.connectionEvents).map(([connection, length]) => [connection, { length }]),
    ),
    pipelines: snapshot.pipelines.map(live => pipelineJson(live, context)),
    gatehouse: { tracing: snapshot.tracing },
  };
}

function pipelineJson({ pipeline, state, ...events }: LivePipeline, context: StatusContext) {
  return {
    name: pipeline.name,
    description: pipeline.description ?? null,
    state: state.disabled ? 'disabled' : 'normal',
    manager: pipeline.manager,
    triggers: pipeline.triggers.map(trigger => ({ name: trigger.connection })),
    trigger_events: events.triggerEvents,
    result_events: events.resultEvents,
    management_events: events.managementEvents,
    change_queues: state.queues
      .filter(queue => queue.items.length > 0)
      .map(queue => queueJson(queue, state.items, context)),
  };
}

function queueJson(queue: ChangeQueue, items: ReadonlyMap<string, QueueItem>, context: StatusContext) {
  const heads: object[][] = [];
  for (const uuid of queue.items) {
    const item = items.get(uuid);
    if (item === undefined) continue;
    if (item.behind === null || heads.length === 0) heads.push([]);
    heads.at(-1)?.push(itemJson(item, queue, items, context));
  }
  return { name: queue.name, branch: null, window: queue.window, heads };
}

export function itemJson(
  item: QueueItem,
  queue: ChangeQueue,
  items: ReadonlyMap<string, QueueItem>,
  context: StatusContext,
) {
  const standings = jobStandings(item.buildset);
  const jobs = (graphOf(item.buildset)?.jobs ?? []).map(job =>
    jobJson(item, job, standings.get(job.name), context),
  );
  const state = item.timeline.at(-1);
  const remaining = jobs.map(job => job.remaining_time).filter(time => time !== null);
  return {
    id: item.uuid,
    live: item.role === 'live',
    active: isActive(item),
    zuul_ref: `Z${item.buildset.uuid}`,
    refs: item.changes.map(change => refJson(change, context)),
    item_ahead: item.behind,
    items_behind: queue.items.filter(uuid => items.get(uuid)?.behind === item.uuid),
    failing_reasons: failingReasons(item),
    enqueue_time: Math.round(toMilliseconds(item.enqueuedAt)),
    remaining_time: remaining.length === 0 ? null : Math.max(...remaining),
    jobs,
    gatehouse: {
      state: state?.state ?? null,
      since: state?.since ?? null,
      subject: state?.subject ?? null,
      buildset: item.buildset.uuid,
      resets: resetsOf(item),
      page: itemPage(context.root, item.tenant, item.uuid),
      trace_id: item.uuid,
      trace_url: traceAddress(context.traceUi, item),
    },
  };
}

/** Zuul's id of a change: `<number>,<patchset>`; of a ref update: the new commit. */
export function refId(change: Change): string {
  if (change.kind === 'ref') return change.newCommit ?? '';
  return `${change.id},${change.patchset === change.commit ? shortCommit(change.commit) : change.patchset}`;
}

function refJson(change: Change, context: StatusContext) {
  const { name } = projectIdOf(change.project);
  return {
    id: refId(change),
    url: change.url ?? null,
    ref: change.ref,
    project: name,
    project_canonical: context.canonicalNames.get(change.project) ?? name,
    owner: change.kind === 'change' ? (change.owner ?? null) : null,
    commit: commitOf(change),
  };
}

function jobJson(item: QueueItem, job: JobNode, standing: JobStanding | undefined, context: StatusContext) {
  const build = currentBuild(item.buildset, job.name);
  const expected = context.expected.get(`${leadChange(item).project} ${job.name}`);
  const times = build === undefined ? NO_TIMES : timesOf(build, context.now, expected);
  const page =
    build === undefined || times.start_time === null
      ? null
      : buildPage(context.root, item.tenant, build.uuid);
  return {
    name: job.name,
    uuid: build?.uuid ?? null,
    result: build === undefined ? null : (resultOf(build) ?? null),
    voting: job.voting,
    dependencies: job.dependencies.map(dependency => dependency.name),
    pipeline: item.pipeline,
    tries: build?.attempt ?? 1,
    queued: build?.state.state === 'requested',
    canceled: build?.state.state === 'cancelled',
    paused: false,
    pre_fail: build?.state.state === 'started' && build.state.failingSince !== undefined,
    retry: (build?.attempt ?? 1) > 1,
    waiting_status: standing === undefined ? null : waitText(standing),
    ...times,
    url: build !== undefined && isOpen(build) ? page && `stream/${build.uuid}?logfile=console.log` : page,
    finger_url: null,
    report_url: page,
  };
}

const NO_TIMES = {
  execute_time: null,
  start_time: null,
  end_time: null,
  estimated_time: null,
  elapsed_time: null,
  remaining_time: null,
};

/** Zuul's units: points in time and the estimate in seconds, elapsed and remaining in milliseconds. */
function timesOf(build: Build, now: Nanoseconds, expected: number | undefined) {
  const { state } = build;
  const start = state.state === 'started' ? state.at : 'startedAt' in state ? state.startedAt : null;
  const end = state.state === 'completed' || state.state === 'cancelled' ? state.at : null;
  const elapsed = start === null ? null : Math.max(0, Math.round(millisecondsBetween(start, end ?? now)));
  return {
    execute_time: seconds(build.requestedAt),
    start_time: start === null ? null : seconds(start),
    end_time: end === null ? null : seconds(end),
    estimated_time: expected === undefined ? null : Math.round(expected / 1000),
    elapsed_time: elapsed,
    remaining_time:
      expected === undefined || elapsed === null || end !== null
        ? null
        : Math.max(0, Math.round(expected - elapsed)),
  };
}

function seconds(time: Nanoseconds): number {
  return toMilliseconds(time) / 1000;
}

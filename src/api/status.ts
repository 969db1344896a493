/**
 * Encoder of `/api/tenant/<t>/status` as Zuul's clients know it, with a `gatehouse` block per item. Jobs and states are those of
 * {@link liveItem} under Zuul's names; unlike it, this document has elapsed and remaining times, so it differs at every call.
 */
import { type Nanoseconds, toMilliseconds } from '../lib/clock.ts';
import type { Uuid } from '../lib/ids.ts';
import { nextTurn, turnIsUsed } from '../lib/turns.ts';
import { leadChange } from '../model/about-item.ts';
import { type Change, commitOf } from '../model/change.ts';
import { buildPage, itemPage } from '../model/page-addresses.ts';
import type { ChangeQueue, PipelineState } from '../model/pipeline-state.ts';
import { projectIdOf, shortCommit } from '../model/project.ts';
import type { QueueItem } from '../model/queue-item.ts';
import { traceAddress } from '../tracing/trace-links.ts';
import type { TraceUi } from '../tracing/ui-url.ts';
import { haltsDocument } from './halts.ts';
import { type LiveItem, liveItem } from './live-item.ts';
import type { LiveJob } from './live-job.ts';
import { type StatusDocument, type StatusItem, type StatusJob, senderDocument } from './status-schema.ts';
import type { PipelineSnapshot, TenantSnapshot } from './tenant-snapshot.ts';

/** Facts of the status document that the snapshot does not have. */
export interface StatusContext {
  readonly now: Nanoseconds;
  readonly version: string;
  /** Public URL without trailing slash. */
  readonly root: string;
  /** Null: tracing is off, and no item has a link to its trace. */
  readonly traceUi: TraceUi | null;
  /** By key of the project; one that is missing has its short name. */
  readonly canonicalNames: ReadonlyMap<string, string>;
  /** Usual durations in milliseconds, by key of the project, then by name of the job. */
  readonly expected: ReadonlyMap<string, ReadonlyMap<string, number>>;
}

/** A part of the status. */
export interface StatusPage {
  /** Undefined: all. */
  readonly pipeline?: string | undefined;
  /** Items of each pipeline, in the order of its queues. */
  readonly skip: number;
  readonly limit: number;
}

const ALL: StatusPage = { skip: 0, limit: Number.POSITIVE_INFINITY };

/** Items of the page, in the order of the document. */
export function* itemsOfPage(snapshot: TenantSnapshot, page: StatusPage = ALL): Generator<QueueItem> {
  for (const { pipeline, state } of snapshot.pipelines) {
    if (page.pipeline !== undefined && page.pipeline !== pipeline.name) continue;
    for (const [, uuids] of shownItems(state, page))
      for (const uuid of uuids) {
        const item = state.items.get(uuid);
        if (item !== undefined) yield item;
      }
  }
}

/** The queues that have items on the page, with those. */
function* shownItems(
  { queues }: Pick<PipelineState, 'queues'>,
  { skip, limit }: StatusPage,
): Generator<readonly [ChangeQueue, readonly Uuid[]]> {
  let before = 0;
  for (const queue of queues) {
    const shown = queue.items.slice(Math.max(0, skip - before), Math.max(0, skip + limit - before));
    before += queue.items.length;
    if (shown.length > 0) yield [queue, shown];
  }
}

/** Encodes the status of a tenant, or a page of it. With thousands of items that takes a while, in which others have their turns. */
export async function statusJson(
  snapshot: TenantSnapshot,
  context: StatusContext,
  page: StatusPage = ALL,
): Promise<StatusDocument> {
  const pipelines: StatusDocument['pipelines'][number][] = [];
  for (const live of snapshot.pipelines)
    if (page.pipeline === undefined || page.pipeline === live.pipeline.name)
      pipelines.push(await pipelineJson(live, context, page));
  return {
    zuul_version: context.version,
    last_reconfigured: Math.round(toMilliseconds(snapshot.reconfiguredAt)),
    trigger_event_queue: { length: snapshot.triggerEvents },
    management_event_queue: { length: snapshot.managementEvents },
    connection_event_queues: Object.fromEntries(
      Object.entries(snapshot.connectionEvents).map(([connection, length]) => [connection, { length }]),
    ),
    pipelines,
    gatehouse: { tracing: snapshot.tracing === null ? null : senderDocument(snapshot.tracing) },
  };
}

async function pipelineJson(
  { pipeline, state, ...events }: PipelineSnapshot,
  context: StatusContext,
  page: StatusPage,
): Promise<StatusDocument['pipelines'][number]> {
  const queues: Awaited<ReturnType<typeof queueJson>>[] = [];
  for (const [queue, shown] of shownItems(state, page))
    queues.push(await queueJson(queue, shown, state.items, context));
  return {
    name: pipeline.name,
    description: pipeline.description ?? null,
    state: state.disabled ? 'disabled' : 'normal',
    manager: pipeline.manager,
    triggers: pipeline.triggers.map(trigger => ({ name: trigger.connection })),
    trigger_events: events.triggerEvents,
    result_events: events.resultEvents,
    management_events: events.managementEvents,
    change_queues: queues,
    gatehouse: { halts: haltsDocument(state), items: state.items.size },
  };
}

async function queueJson(
  queue: ChangeQueue,
  shown: readonly Uuid[],
  items: ReadonlyMap<string, QueueItem>,
  context: StatusContext,
) {
  const heads: StatusItem[][] = [];
  const behind = itemsBehind(queue, items);
  for (const uuid of shown) {
    if (turnIsUsed()) await nextTurn();
    const item = items.get(uuid);
    if (item === undefined) continue;
    if (item.behind === null || heads.length === 0) heads.push([]);
    heads.at(-1)?.push(statusItem(item, behind.get(uuid) ?? [], context));
  }
  return { name: queue.name, branch: null, window: queue.window, heads };
}

/** By item of the queue: the items that are tested on it, in the queue's order. @param items all of its pipeline. */
export function itemsBehind(
  queue: ChangeQueue,
  items: ReadonlyMap<string, QueueItem>,
): ReadonlyMap<string, readonly string[]> {
  const behind = new Map<string, string[]>();
  for (const uuid of queue.items) {
    const ahead = items.get(uuid)?.behind ?? null;
    if (ahead === null) continue;
    const known = behind.get(ahead);
    if (known === undefined) behind.set(ahead, [uuid]);
    else known.push(uuid);
  }
  return behind;
}

/** Encodes one item. @param behind see {@link itemsBehind}. */
export function statusItem(item: QueueItem, behind: readonly string[], context: StatusContext): StatusItem {
  const live = liveItem(item, {
    traceUrl: traceAddress(context.traceUi, item),
    tracesUrl: null,
    expected: context.expected.get(leadChange(item).project) ?? new Map(),
  });
  const jobs = live.jobs.map(job => jobJson(live, job, context));
  const remaining = jobs.flatMap(({ remaining_time }) => (remaining_time === null ? [] : [remaining_time]));
  return {
    id: live.uuid,
    live: live.role === 'live',
    active: live.active,
    zuul_ref: `Z${live.buildset.uuid}`,
    refs: item.changes.map(change => refJson(change, context)),
    item_ahead: live.behind,
    items_behind: [...behind],
    failing_reasons: live.failing,
    enqueue_time: Math.round(live.enqueuedAt),
    remaining_time: remaining.length === 0 ? null : Math.max(...remaining),
    jobs,
    gatehouse: {
      state: live.state.name,
      since: (item.timeline.at(-1) ?? item.timeline[0]).since,
      subject: live.state.subject,
      buildset: live.buildset.uuid,
      resets: live.resets,
      page: itemPage(context.root, live.tenant, live.uuid),
      trace_id: live.uuid,
      trace_url: live.traceUrl,
    },
  };
}

/** Zuul's id of a change: `<number>,<patchset>`; of a ref update: the new commit. */
export function refId(change: Change): string {
  if (change.kind === 'ref') return change.newCommit ?? '';
  return `${change.id},${change.patchset === change.commit ? shortCommit(change.commit) : change.patchset}`;
}

function refJson(change: Change, context: StatusContext): StatusItem['refs'][number] {
  const { name } = projectIdOf(change.project);
  return {
    id: refId(change),
    url: change.url ?? null,
    ref: change.ref,
    project: name,
    project_canonical: context.canonicalNames.get(change.project) ?? name,
    owner: change.kind === 'change' ? (change.owner ?? null) : null,
    commit: commitOf(change) ?? null,
  };
}

function jobJson({ tenant, pipeline }: LiveItem, job: LiveJob, context: StatusContext): StatusJob {
  const page =
    job.build === null || job.startedAt === null ? null : buildPage(context.root, tenant, job.build);
  const isOpen = job.state === 'requested' || job.state === 'started';
  return {
    name: job.name,
    uuid: job.build,
    result: isOpen ? null : job.result,
    voting: job.voting,
    dependencies: job.dependencies,
    pipeline,
    tries: job.attempt,
    queued: job.state === 'requested',
    canceled: job.state === 'cancelled',
    paused: job.result === 'PAUSED',
    pre_fail: job.result === 'FAILING',
    retry: job.attempt > 1,
    waiting_status: job.waitingFor,
    ...timesOf(job, toMilliseconds(context.now)),
    url: isOpen && page !== null ? `stream/${job.build}?logfile=console.log` : page,
    finger_url: null,
    report_url: page,
  };
}

/** Zuul's units: points in time and the estimate in seconds, elapsed and remaining in milliseconds. */
function timesOf({ requestedAt, startedAt, endedAt, expectedMs, state }: LiveJob, now: number) {
  const end = state === 'skipped' ? null : endedAt;
  const elapsed = startedAt === null ? null : Math.max(0, Math.round((end ?? now) - startedAt));
  return {
    execute_time: seconds(requestedAt),
    start_time: seconds(startedAt),
    end_time: seconds(end),
    estimated_time: requestedAt === null || expectedMs === null ? null : Math.round(expectedMs / 1000),
    elapsed_time: elapsed,
    remaining_time:
      expectedMs === null || elapsed === null || end !== null
        ? null
        : Math.max(0, Math.round(expectedMs - elapsed)),
  };
}

function seconds(time: number | null): number | null {
  return time === null ? null : time / 1000;
}

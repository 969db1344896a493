/**
 * An operator's request that a change, or a ref, enters a pipeline. As in Zuul, no trigger has to match, and the pipeline's requirements
 * do not count for the change itself; they count for what enters with it. The host is asked for the change, which may be new to us.
 *
 * The pipeline's turn decides, and records the request's trace. What never gets there is refused here.
 */
import type { Connection } from '../../driver/connection.ts';
import { refUpdate, refUpdateRecord } from '../../driver/ref-update.ts';
import type { Clock, Nanoseconds } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import {
  type Change,
  type ChangeKey,
  type ChangeRecord,
  changeKeyText,
  changeText,
  connectionOfKey,
  targetBranchOf,
} from '../../model/change.ts';
import type { Decision, DecisionCode } from '../../model/decision.ts';
import type { PipelineEvent, TenantEvent, TriggerEvent } from '../../model/event.ts';
import type { RequestedChange } from '../../model/management-event.ts';
import type { Pipeline } from '../../model/pipeline.ts';
import {
  type ConnectionName,
  type PipelineName,
  type ProjectKey,
  projectIdOf,
  shortCommit,
  type TenantName,
} from '../../model/project.ts';
import type { EventQueue } from '../../store/event-queue.ts';
import type { StorePaths } from '../../store/paths.ts';
import type { Operation } from '../../store/port.ts';
import { heldSpans } from '../../tracing/held-spans.ts';
import { hasRules } from '../../tracing/keep.ts';
import type { LiveTracing } from '../../tracing/live-tracing.ts';
import { decisionLogFacts } from '../../tracing/log-facts.ts';
import { traceStateOf } from '../../tracing/sampling.ts';
import { rootSpanOf } from '../../tracing/span-ids.ts';
import { managementEventSpans } from '../../tracing/spans/management-event-spans.ts';
import { traceRows } from '../care/trace-rows.ts';
import type { ChangeCache } from '../changes/change-cache.ts';
import { withOwnReports } from '../changes/own-reports.ts';
import { type MissingRecordsDeps, missingRecords } from '../events/missing-records.ts';
import { decisionRows } from '../turn/decision-rows.ts';

type EnqueueRequest = Extract<TenantEvent, { kind: 'enqueue' }>;

/** Passed by tenant-event.ts. */
type EnqueueDeps = MissingRecordsDeps & {
  readonly tenant: TenantName;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Pick<Log, 'info'>;
  readonly paths: Pick<StorePaths, 'spanOutbox' | 'historyOutbox'>;
  readonly changes: Pick<ChangeCache, 'operations'>;
  readonly tracing: Pick<LiveTracing, 'spans' | 'policy'>;
  pipelines(): Iterable<Pick<Pipeline, 'name'>>;
  eventsOf(pipeline: PipelineName): EventQueue<PipelineEvent>;
};

/** For the commit that takes the request out of its queue. */
interface Enqueued {
  readonly operations: readonly Operation[];
  readonly records: readonly ChangeRecord[];
}

/** Type of the event that an item by hand comes with. */
const BY_HAND = 'enqueue';

/** The connection that the request waits for while its host is away. */
export function placesOfRequest({ wanted }: EnqueueRequest): readonly [ConnectionName, string] {
  return wanted.kind === 'change'
    ? [connectionOfKey(wanted.key), wanted.key]
    : [projectIdOf(wanted.project).connection, `${wanted.project}@${wanted.ref}`];
}

/** @throws HostNotAsked, the driver's errors about a host that is away: the request has to wait. */
export async function enqueueByHand(
  event: EnqueueRequest,
  takenAt: Nanoseconds,
  deps: EnqueueDeps,
  signal: AbortSignal,
): Promise<Enqueued> {
  const isThere = [...deps.pipelines()].some(({ name }) => name === event.pipeline);
  const found = isThere
    ? await findChange(event, deps, signal)
    : ({ code: 'event-refused', text: `there is no pipeline ${event.pipeline} any more` } as const);
  if ('code' in found) return refused(event, found, takenAt, deps);
  const records = await recordsWith(found, event, deps, signal);
  const entering = pipelineEvent(event, found.record, takenAt, deps);
  const operations = [...deps.changes.operations(records), ...entering];
  return { operations, records };
}

/** Its record as read, where nothing newer was written meanwhile, and those of what it depends on. */
async function recordsWith(
  { record, begun }: Found,
  { management }: EnqueueRequest,
  deps: EnqueueDeps,
  signal: AbortSignal,
): Promise<readonly ChangeRecord[]> {
  const { changes } = deps;
  const { key } = record.change;
  const overlay = {
    record: (each: ChangeKey) => (each === key ? record : changes.record(each)),
    fresh: () => changes.fresh(),
    mark: () => changes.mark(),
    changedSince: (mark: number, keys: readonly ChangeKey[]) => changes.changedSince(mark, keys),
  };
  const more = { ...deps, changes: overlay };
  const { records } = await missingRecords(record.change, management.receivedAt, more, signal);
  const others = records.filter(({ change }) => change.key !== key);
  const own = records.find(({ change }) => change.key === key) ?? record;
  const isOutdated = changes.changedSince(begun, [key]) || own === changes.record(key);
  return isOutdated ? others : [own, ...others];
}

interface Refusal {
  readonly code: DecisionCode;
  readonly text: string;
}

interface Found {
  readonly record: ChangeRecord;
  /** When the host was asked, for `changedSince` of the change cache. */
  readonly begun: number;
}

async function findChange(
  event: EnqueueRequest,
  deps: EnqueueDeps,
  signal: AbortSignal,
): Promise<Found | Refusal> {
  const { wanted } = event;
  const source = deps.connections.get(placesOfRequest(event)[0])?.source;
  const begun = deps.changes.mark();
  if (source === undefined) return { code: 'no-such-change', text: 'its connection is not configured' };
  if (wanted.kind === 'ref') {
    const to = wanted.to ?? (await tipOf(wanted, source, signal));
    if (to === undefined) return { code: 'no-such-change', text: `the host has no branch ${wanted.ref}` };
    const change = refUpdate(wanted.project, { ref: wanted.ref, before: wanted.from, after: to });
    const known = deps.changes.record(change.key);
    return { record: known ?? refUpdateRecord(change, {}, deps.clock.now()), begun };
  }
  const known = deps.changes.record(wanted.key);
  const record = await source.fetchChange(wanted.key, signal);
  if (record === undefined) return { code: 'no-such-change', text: 'the host has no such change' };
  if (!isRevision(record, wanted.patchset))
    return {
      code: 'event-refused',
      text: `revision ${wanted.patchset} is not the present one, ${changeText(record.change)}`,
    };
  return { record: withOwnReports(record, known), begun };
}

async function tipOf(
  { project, ref }: Extract<RequestedChange, { kind: 'ref' }>,
  source: Connection['source'],
  signal: AbortSignal,
): Promise<string | undefined> {
  const branches = await source.branches(project, signal);
  return branches.find(({ branch }) => ref === `refs/heads/${branch}`)?.commit;
}

/** A commit may be shortened. */
function isRevision({ change }: ChangeRecord, patchset: string | undefined): boolean {
  if (patchset === undefined || change.kind === 'ref') return true;
  return change.patchset === patchset || (patchset.length >= 8 && change.commit.startsWith(patchset));
}

function pipelineEvent(
  event: EnqueueRequest,
  { change }: ChangeRecord,
  takenAt: Nanoseconds,
  deps: EnqueueDeps,
): readonly Operation[] {
  const { uuid, pipeline, by, management } = event;
  const { connection } = projectIdOf(change.project);
  const span = rootSpanOf(uuid);
  const trigger: TriggerEvent = {
    ...{ uuid, connection, driver: connection, type: BY_HAND, project: change.project, change, span },
    branch: targetBranchOf(change) ?? null,
    ref: change.ref,
    facts: {},
    configMayHaveChanged: [],
    branchesChanged: false,
    receivedAt: management.receivedAt,
    sampled: management.sampled,
    ...(deps.tracing.spans() === undefined
      ? {}
      : { traceState: traceStateOf(uuid, management.sampled, deps.tracing.policy().ratio) }),
    ...heldTrace(event, change, takenAt, deps),
  };
  return deps.eventsOf(pipeline).put({
    kind: 'enqueue',
    ...{ uuid, trigger, tenantSpan: span, matched: `enqueued by hand by ${by}` },
    request: { by, management },
  });
}

/** Of a request that is not sampled, for the item that may be kept; that of a sampled one is written by the turn that takes it. */
function heldTrace(
  { uuid, pipeline, by, management }: EnqueueRequest,
  change: Change,
  takenAt: Nanoseconds,
  { tenant, tracing, clock }: EnqueueDeps,
): Pick<TriggerEvent, 'heldSpans'> {
  const style = tracing.spans();
  if (style === undefined || management.sampled || !hasRules(tracing.policy().keep)) return {};
  const facts = {
    ...({ event: uuid, command: 'enqueue', by, tenant, pipeline, change, takenAt } as const),
    ...{ endedAt: clock.now(), origin: management, effect: { outcome: 'enqueued', left: [] } as const },
  };
  return { heldSpans: heldSpans(managementEventSpans(facts, style)) };
}

function refused(
  { uuid, pipeline, wanted, by, management }: EnqueueRequest,
  { code, text }: Refusal,
  takenAt: Nanoseconds,
  deps: EnqueueDeps,
): Enqueued {
  const { tenant, paths, tracing, log } = deps;
  const at = deps.clock.now();
  const [change, project] = named(wanted);
  const decision: Decision = {
    ...{ at, code, tenant, pipeline, project, change, changeText: nameOf(wanted) },
    ...{ item: null, event: uuid, text: `${by} asked to enqueue it: ${text}` },
  };
  log.info({ code, tenant, change: decision.changeText, ...decisionLogFacts(decision) }, decision.text);
  const style = tracing.spans();
  const facts = {
    ...({ event: uuid, command: 'enqueue', by, tenant, pipeline, change, takenAt, endedAt: at } as const),
    ...{ origin: management, effect: { outcome: 'refused', reason: code, left: [] } as const },
  };
  const spans = style === undefined || !management.sampled ? [] : managementEventSpans(facts, style);
  return {
    operations: [...decisionRows([decision], paths.historyOutbox, at), ...traceRows(paths, spans, at)],
    records: [],
  };
}

function named(wanted: RequestedChange): readonly [ChangeKey, ProjectKey] {
  if (wanted.kind === 'ref')
    return [
      refUpdate(wanted.project, { ref: wanted.ref, before: null, after: wanted.to }).key,
      wanted.project,
    ];
  return [wanted.key, wanted.key.slice(0, wanted.key.indexOf('#')) as ProjectKey];
}

function nameOf(wanted: RequestedChange): string {
  if (wanted.kind === 'change') return changeKeyText(wanted.key);
  const at = wanted.to === null ? '' : ` ${shortCommit(wanted.to)}`;
  return `${projectIdOf(wanted.project).name} ${wanted.ref}${at}`;
}

/**
 * From a record of what Gatehouse did to an event for each open change that it concerns, at most {@link MOST_CHANGES}. Events are
 * committed in parts, together with the place up to which the record has come, so that each is made once.
 *
 * The changes are those that the change cache holds, and those that the host of a merged change lists besides (open-at-host.ts). What a
 * change needs is asked of its host where it is not known. A host that does not serve delays this record alone, for an hour at most.
 */
import { takesInternal, ZUUL } from '../../layout/build/zuul-trigger.ts';
import type { Nanoseconds } from '../../lib/clock.ts';
import { derivedUuid, type IdMaker } from '../../lib/ids.ts';
import { createDirty } from '../../lib/signal.ts';
import type { MetricsSink } from '../../metrics/registry.ts';
import type { ChangeRecord, ProposedChange } from '../../model/change.ts';
import { internalEventCodec } from '../../model/codec/records.ts';
import type { PipelineEvent } from '../../model/event.ts';
import type { InternalEvent } from '../../model/internal-event.ts';
import type { PipelineName, ProjectKey } from '../../model/project.ts';
import type { EventQueue, QueueEntry } from '../../store/event-queue.ts';
import type { Fence } from '../../store/fence.ts';
import { type Operation, set } from '../../store/port.ts';
import type { ChangeCache } from '../changes/change-cache.ts';
import { type DirectEventDeps, type DirectTarget, directEventOperations } from '../events/direct-event.ts';
import type { MissingRecordsDeps } from '../events/missing-records.ts';
import { REMOTE_PAUSES } from '../remote-fault.ts';
import { exclusionOf } from '../tenant/branch-exclusion.ts';
import { createHeldPlaces, type HeldPlaces } from '../tenant/held-places.ts';
import type { TenantConfig } from '../tenant/tenant-config.ts';
import { type AskedHosts, askHosts, type Besides } from './open-at-host.ts';
import { type FoundRecords, recordsOf } from './records-of-part.ts';

/** Of one tenant. */
export interface ForwardInternalDeps extends DirectEventDeps, Omit<MissingRecordsDeps, 'changes' | 'clock'> {
  readonly ids: IdMaker;
  /** Absent: metrics are off. */
  readonly metrics?: Pick<MetricsSink, 'record'>;
  readonly changes: ChangeCache;
  readonly internalEvents: EventQueue<InternalEvent>;
  config(): TenantConfig | undefined;
  eventsOf(pipeline: PipelineName): EventQueue<PipelineEvent>;
  /** Milliseconds before a host is asked again. Default {@link REMOTE_PAUSES}. */
  readonly pauses?: readonly number[];
  /** Default {@link MOST_CHANGES}. */
  readonly mostChanges?: number;
}

/** Changes of one record; further ones are counted as missed. */
const MOST_CHANGES = 5_000;
/** Events in one commit. */
const MOST_EVENTS = 40;
/** Commit conflicts in a row about one part; more are no coincidence. */
const MOST_CONFLICTS = 50;

/** Returns when aborted; throws when the fence is lost. */
export async function forwardInternalEvents(
  deps: ForwardInternalDeps,
  fence: Fence,
  signal: AbortSignal,
): Promise<void> {
  const held = createHeldPlaces(() => performance.now());
  const retry = createDirty(true);
  let timer: NodeJS.Timeout | undefined;
  try {
    for await (const _ of deps.internalEvents.arrivals(signal, retry)) {
      clearTimeout(timer);
      const rests: number[] = [];
      for (const entry of await deps.internalEvents.list()) {
        if (signal.aborted) return;
        const places = [entry.path];
        if (held.rest(places) === 0) await forward(entry, held, deps, fence, signal);
        // Also of one whose rest has ended by now.
        if (held.isHeld(places)) rests.push(held.rest(places));
      }
      if (rests.length > 0) timer = setTimeout(() => retry.set(), Math.min(...rests));
    }
  } finally {
    clearTimeout(timer);
  }
}

async function forward(
  entry: QueueEntry<InternalEvent>,
  held: HeldPlaces,
  deps: ForwardInternalDeps,
  fence: Fence,
  signal: AbortSignal,
): Promise<void> {
  const asked = await besidesOf(entry.value, deps, signal);
  if (asked.kind === 'away') return wait(entry, 'open changes cannot be listed', asked.error, held, deps);
  const { besides, unread } = asked;
  const { changes: all, missed } = changesLeft(entry.value, besides, deps);
  if (missed > 0) noteMissed(entry.value, missed, 'more changes than one event is made for', deps);
  if (unread > 0 && entry.value.after === null)
    noteMissed(entry.value, unread, 'their code host is asked for no more at once', deps);
  for (let at = 0; at < all.length; at += MOST_EVENTS) {
    const part = all.slice(at, at + MOST_EVENTS);
    const isLast = at + MOST_EVENTS >= all.length;
    const after = part.at(-1)?.key ?? null;
    const end = isLast
      ? deps.internalEvents.ack(entry)
      : set(entry.path, internalEventCodec.encode({ ...entry.value, after }));
    const startedAt = deps.clock.now();
    const found = await recordsOf(part, besides, entry.value, deps, signal);
    if (found.kind === 'away')
      return wait(entry, 'what their changes need cannot be read', found.error, held, deps);
    const unreachable = part.length - found.part.length;
    if (unreachable > 0) noteMissed(entry.value, unreachable, 'their code host was away for an hour', deps);
    await commitPart({ ...found, entry, end, startedAt }, deps, fence);
    held.release([entry.path]);
  }
  if (all.length > 0) return;
  await fence.commit([deps.internalEvents.ack(entry)], deps.ids.uuid());
  held.release([entry.path]);
}

/** The host is asked again after a pause. */
function wait(
  { path, value }: QueueEntry<InternalEvent>,
  why: string,
  error: unknown,
  held: HeldPlaces,
  deps: ForwardInternalDeps,
): void {
  held.hold(path, deps.pauses ?? REMOTE_PAUSES);
  const facts = { err: error, tenant: deps.tenant, event: value.uuid };
  deps.log.warn(facts, `events of the connection zuul wait: ${why}`);
}

/** What hosts know besides the cache, of projects with a pipeline that takes the event. */
async function besidesOf(
  event: InternalEvent,
  deps: ForwardInternalDeps,
  signal: AbortSignal,
): Promise<AskedHosts> {
  const present = deps.config();
  const takers = present === undefined ? [] : takersOf(event, present);
  const isConcerned = (project: ProjectKey) =>
    takers.some(name => present?.layout.projects.get(project)?.pipelines.has(name) === true);
  const projects = event.type === 'project-change-merged' ? event.projects.filter(isConcerned) : [];
  return await askHosts({ ...event, projects }, deps.mostChanges ?? MOST_CHANGES, deps, signal);
}

/** Open changes with a pipeline that takes the event, in the order of their keys. */
function changesLeft(
  event: InternalEvent,
  besides: Besides,
  { changes: cache, config, mostChanges = MOST_CHANGES }: ForwardInternalDeps,
): { readonly changes: readonly ProposedChange[]; readonly missed: number } {
  const present = config();
  const takers = present === undefined ? [] : takersOf(event, present);
  if (present === undefined || takers.length === 0) return { changes: [], missed: 0 };
  const isTaken = ({ project, branch }: ProposedChange) =>
    takers.some(name => present.layout.projects.get(project)?.pipelines.has(name) === true) &&
    exclusionOf(present, project, branch) === undefined;
  const open = [...concerned(event, cache), ...besides.values()]
    .flatMap(({ change, status }) => (change.kind === 'change' && status === 'open' ? [change] : []))
    .filter(change => !event.changes.includes(change.key) && isTaken(change))
    .toSorted((a, b) => (a.key < b.key ? -1 : 1));
  const bounded = open.slice(0, mostChanges);
  const { after } = event;
  return {
    changes: after === null ? bounded : bounded.filter(({ key }) => key > after),
    missed: after === null ? open.length - bounded.length : 0,
  };
}

function concerned({ type, changes, projects }: InternalEvent, cache: ChangeCache): readonly ChangeRecord[] {
  switch (type) {
    case 'parent-change-enqueued': {
      const keys = new Set(changes.flatMap(key => cache.dependentsOf(key)));
      return [...keys].flatMap(key => cache.record(key) ?? []);
    }
    case 'project-change-merged':
      return projects.flatMap(project => cache.records(project));
  }
}

function takersOf(event: InternalEvent, { layout }: TenantConfig): readonly PipelineName[] {
  return [...layout.pipelines.values()].flatMap(pipeline =>
    takesInternal(pipeline, event) === undefined ? [] : [pipeline.name],
  );
}

interface Part extends Omit<FoundRecords, 'kind'> {
  readonly entry: QueueEntry<InternalEvent>;
  readonly end: Operation;
  readonly startedAt: Nanoseconds;
}

async function commitPart(part: Part, deps: ForwardInternalDeps, fence: Fence, conflicts = 0): Promise<void> {
  const records = [...part.records.values()];
  const operations = part.part.flatMap(change => eventOperations(change, part, deps));
  try {
    await fence.commit([part.end, ...operations, ...deps.changes.operations(records)], deps.ids.uuid());
    deps.changes.remember(records);
  } catch (error) {
    if (conflicts >= MOST_CONFLICTS || !(await deps.changes.conflict(error))) throw error;
    await commitPart(part, deps, fence, conflicts + 1);
  }
}

function eventOperations(
  change: ProposedChange,
  { entry: { value }, startedAt, queries }: Part,
  deps: ForwardInternalDeps,
): readonly Operation[] {
  const layout = deps.config()?.layout;
  const targets = [...(layout?.pipelines.values() ?? [])].flatMap((pipeline): readonly DirectTarget[] => {
    const matched = takesInternal(pipeline, value);
    const isIn = layout?.projects.get(change.project)?.pipelines.has(pipeline.name) === true;
    return matched !== undefined && isIn ? [{ pipeline, matched, queue: deps.eventsOf(pipeline.name) }] : [];
  });
  if (targets.length === 0) return [];
  const event = {
    uuid: derivedUuid(value.uuid, change.key),
    ...{ connection: ZUUL, type: value.type, change, facts: { pipeline: value.pipeline } },
    ...{ source: value.uuid, receivedAt: value.queuedAt, startedAt },
    ...{ queries: queries.get(change.key) ?? [], causedBy: value.sampled ? value.causedBy : null },
  };
  return directEventOperations(event, targets, deps);
}

function noteMissed(
  { uuid, type, pipeline }: InternalEvent,
  missed: number,
  why: string,
  { tenant, log, metrics }: ForwardInternalDeps,
): void {
  log.warn(
    { tenant, event: uuid, type, pipeline, changes: missed },
    `no ${type} for ${missed} changes: ${why}`,
  );
  metrics?.record([
    { metric: 'gatehouse_internal_events_missed', labels: { tenant, event: type }, value: missed },
  ]);
}

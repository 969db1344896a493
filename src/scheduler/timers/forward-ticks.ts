/**
 * From a tick to an event for each project and branch. The host is asked once for each project, for some of them at the same time; then the
 * events of each project are committed together with the place up to which the tick has come, so that each is made once.
 *
 * A project whose host does not serve gets a tick of its own, which is tried again for an hour; the others do not wait for it.
 */
import type { Connection } from '../../driver/connection.ts';
import { millisecondsBetween, toMilliseconds } from '../../lib/clock.ts';
import type { IdMaker } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import { createDirty } from '../../lib/signal.ts';
import type { MetricsSink } from '../../metrics/registry.ts';
import { tickCodec } from '../../model/codec/records.ts';
import type { PipelineEvent } from '../../model/event.ts';
import type { Pipeline } from '../../model/pipeline.ts';
import {
  type BranchName,
  type CommitId,
  type ConnectionName,
  type PipelineName,
  type ProjectKey,
  projectIdOf,
} from '../../model/project.ts';
import type { Tick } from '../../model/tick.ts';
import type { EventQueue, QueueEntry } from '../../store/event-queue.ts';
import type { Fence } from '../../store/fence.ts';
import { type Operation, set } from '../../store/port.ts';
import type { ChangeCache } from '../changes/change-cache.ts';
import type { DirectEventDeps } from '../events/direct-event.ts';
import { REMOTE_PAUSES } from '../remote-fault.ts';
import { branchSelectionOf } from '../tenant/branch-exclusion.ts';
import { createHeldPlaces, type HeldPlaces } from '../tenant/held-places.ts';
import type { TenantConfig } from '../tenant/tenant-config.ts';
import { tickEvent } from './tick-event.ts';
import { branchesWithin, branchText, type TimedBranch, timersOf } from './timetable.ts';

/** Of one tenant. */
export interface ForwardTicksDeps extends DirectEventDeps {
  readonly ids: IdMaker;
  readonly log: Log;
  /** Absent: metrics are off. */
  readonly metrics?: Pick<MetricsSink, 'record'>;
  readonly connections: ReadonlyMap<ConnectionName, Connection>;
  readonly changes: Pick<ChangeCache, 'record' | 'operations' | 'remember' | 'conflict'>;
  readonly ticks: EventQueue<Tick>;
  config(): TenantConfig | undefined;
  eventsOf(pipeline: PipelineName): EventQueue<PipelineEvent>;
  /** Milliseconds before a host is asked again. Default {@link REMOTE_PAUSES}. */
  readonly pauses?: readonly number[];
}

/** Projects whose hosts are asked at the same time. */
const AT_ONCE = 8;
/** Events in one commit. */
const MOST_EVENTS = 40;
/** Milliseconds for which a host that does not serve is asked again. */
const LONGEST_WAIT = 3_600_000;
/** Commit conflicts in a row about one project; more are no coincidence. */
const MOST_CONFLICTS = 50;

/** Returns when aborted; throws when the fence is lost. */
export async function forwardTicks(deps: ForwardTicksDeps, fence: Fence, signal: AbortSignal): Promise<void> {
  const held = createHeldPlaces(() => performance.now());
  const retry = createDirty(true);
  let timer: NodeJS.Timeout | undefined;
  try {
    for await (const _ of deps.ticks.arrivals(signal, retry)) {
      clearTimeout(timer);
      const rests: number[] = [];
      for (const entry of await deps.ticks.list()) {
        if (signal.aborted) return;
        const places = placesOf(entry.value);
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

/** A tick that only waits for one host. */
function placesOf({ only }: Tick): readonly string[] {
  return only === null ? [] : [projectIdOf(only).connection];
}

type Tips = ReadonlyMap<BranchName, CommitId>;

async function forward(
  entry: QueueEntry<Tick>,
  held: HeldPlaces,
  deps: ForwardTicksDeps,
  fence: Fence,
  signal: AbortSignal,
): Promise<void> {
  const config = deps.config();
  const tick = entry.value;
  const pipeline = config?.layout.pipelines.get(tick.pipeline);
  const left = config === undefined ? [] : branchesLeft(tick, config);
  if (config === undefined || pipeline === undefined || left.length === 0)
    return void (await fence.commit([deps.ticks.ack(entry)], deps.ids.uuid()));
  const projects = [...Map.groupBy(left, ({ project }) => project)];
  const reading = new Map<ProjectKey, Promise<Tips | Error>>();
  for (const [index, [project, branches]] of projects.entries()) {
    for (const [ahead] of projects.slice(index, index + AT_ONCE))
      if (!reading.has(ahead)) reading.set(ahead, tipsOf(ahead, config, held, deps, signal));
    const askedAt = deps.clock.now();
    const tips = await reading.get(project);
    signal.throwIfAborted();
    const isLast = index === projects.length - 1;
    const after = branchText(branches.at(-1) ?? { project, branch: '' });
    const end = isLast ? [deps.ticks.ack(entry)] : [set(entry.path, tickCodec.encode({ ...tick, after }))];
    if (tips instanceof Error) await setAside(tips, { entry, project, branches, end }, held, deps, fence);
    else if (tips !== undefined) {
      held.release([projectIdOf(project).connection]);
      await makeEvents({ entry, pipeline, branches, end, tips, askedAt }, deps, fence);
    }
  }
}

function branchesLeft({ pipeline, time, at, from, to, after, only }: Tick, config: TenantConfig) {
  const timer = timersOf(config).find(each => each.pipeline === pipeline && each.time === time);
  if (timer === undefined) return [];
  const [moment, first, last] = [toMilliseconds(at), toMilliseconds(from), toMilliseconds(to)];
  return branchesWithin(timer, moment, first, last)
    .filter(each => only === null || each.project === only)
    .filter(each => after === null || branchText(each) > after)
    .toSorted((a, b) => (branchText(a) < branchText(b) ? -1 : 1));
}

/** Never rejects: several are asked ahead. */
async function tipsOf(
  project: ProjectKey,
  { tenant }: TenantConfig,
  held: HeldPlaces,
  { connections }: ForwardTicksDeps,
  signal: AbortSignal,
): Promise<Tips | Error> {
  const name = projectIdOf(project).connection;
  const connection = connections.get(name);
  if (connection === undefined) return new Error(`connection ${name} is not configured`);
  if (held.rest([name]) > 0) return new Error(`connection ${name} is in trouble`);
  const selection = branchSelectionOf(tenant.projects.find(each => each.project === project));
  try {
    const branches = await connection.source.branches(project, signal, selection);
    return new Map(branches.map(({ branch, commit }) => [branch, commit]));
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

interface Part {
  readonly entry: QueueEntry<Tick>;
  readonly branches: readonly TimedBranch[];
  /** Takes the tick, or notes how far it has come. */
  readonly end: readonly Operation[];
}

/** A tick of its own for the project, or the end of its tries. */
async function setAside(
  error: Error,
  { entry, project, branches, end }: Part & { readonly project: ProjectKey },
  held: HeldPlaces,
  { tenant, ticks, clock, ids, log, metrics, pauses = REMOTE_PAUSES }: ForwardTicksDeps,
  fence: Fence,
): Promise<void> {
  const { pipeline, time, queuedAt, only } = entry.value;
  const facts = { err: error, tenant, pipeline, project, time };
  const connection = projectIdOf(project).connection;
  if (held.rest([connection]) === 0) held.hold(connection, pauses);
  if (millisecondsBetween(queuedAt, clock.now()) > LONGEST_WAIT) {
    log.warn(facts, `${project} was not read within an hour of its timer; nothing is made up for it`);
    const value = branches.length;
    metrics?.record([{ metric: 'gatehouse_timer_events_missed', labels: { tenant, pipeline }, value }]);
    return void (await fence.commit(end, ids.uuid()));
  }
  if (only !== null) return;
  log.warn(facts, `the timer's event for ${project} waits: its branches cannot be read`);
  await fence.commit([...ticks.put({ ...entry.value, only: project }), ...end], ids.uuid());
}

interface ReadPart extends Part {
  readonly pipeline: Pipeline;
  readonly tips: Tips;
  readonly askedAt: Parameters<typeof tickEvent>[1]['askedAt'];
}

/** A branch that is gone gets no event. */
async function makeEvents(part: ReadPart, deps: ForwardTicksDeps, fence: Fence): Promise<void> {
  const { entry, branches, end } = part;
  for (let at = 0; at < branches.length; at += MOST_EVENTS) {
    const chunk = branches.slice(at, at + MOST_EVENTS);
    const isLast = at + MOST_EVENTS >= branches.length;
    const after = branchText(chunk.at(-1) ?? { project: '' as ProjectKey, branch: '' });
    const progress = isLast ? end : [set(entry.path, tickCodec.encode({ ...entry.value, after }))];
    await commitEvents(chunk, progress, part, deps, fence);
  }
}

async function commitEvents(
  chunk: readonly TimedBranch[],
  progress: readonly Operation[],
  { entry, pipeline, tips, askedAt }: ReadPart,
  deps: ForwardTicksDeps,
  fence: Fence,
  conflicts = 0,
): Promise<void> {
  const target = { pipeline, queue: deps.eventsOf(pipeline.name) };
  const events = chunk.flatMap(({ project, branch }) => {
    const commit = tips.get(branch);
    return commit === undefined
      ? []
      : [tickEvent(entry.value, { project, branch, commit, askedAt }, target, deps)];
  });
  const records = events
    .map(({ record }) => record)
    .filter(each => deps.changes.record(each.change.key) === undefined);
  const operations = events.flatMap(each => each.operations);
  try {
    await fence.commit([...progress, ...operations, ...deps.changes.operations(records)], deps.ids.uuid());
    deps.changes.remember(records);
  } catch (error) {
    if (conflicts >= MOST_CONFLICTS || !(await deps.changes.conflict(error))) throw error;
    await commitEvents(
      chunk,
      progress,
      { entry, pipeline, tips, askedAt, branches: chunk, end: progress },
      deps,
      fence,
      conflicts + 1,
    );
  }
}

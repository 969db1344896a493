/**
 * Measurements of the change of one item from one version of its record to a later one. Over any sequence of versions, no matter
 * which of them were seen, everything is counted once: when the later version has it and the earlier one has not.
 *
 *     arrived · build taken · build ended · merger answered · buildset discarded · landed otherwise than tested · left
 */

import { type Stretch, stretchesOf } from '../explain/stretches.ts';
import type { Nanoseconds } from '../lib/clock.ts';
import type { Uuid } from '../lib/ids.ts';
import { between } from '../lib/time-window.ts';
import { type Build, endOfBuild, isOpen, resultOf, startOfBuild } from '../model/build.ts';
import { type BuildSet, endOfMergerWork } from '../model/build-set.ts';
import type { ResetCause } from '../model/cause.ts';
import { ITEM_STATES, RUN_STATES } from '../model/item-states.ts';
import { lostBuildTime } from '../model/lost-time.ts';
import { lastNodeWait, nodesSince } from '../model/node-wait.ts';
import { buildsetsOf, endOfItem, isExported, type QueueItem } from '../model/queue-item.ts';
import { rootSpanOf } from '../tracing/span-ids.ts';
import { cicdResultOf } from '../tracing/status.ts';
import type { Measurement } from './measurement.ts';
import type { MetricName } from './metric-table.ts';

/** @param before undefined: the item is new. @returns empty when it is the same record. */
export function itemMeasurements(before: QueueItem | undefined, item: QueueItem): readonly Measurement[] {
  if (before === item) return [];
  const known = before === undefined ? [] : buildsetsOf(before);
  const all = buildsetsOf(item);
  const changed = all.filter((buildset, index) => known[index] !== buildset);
  // Including the buildset that was current: a complete one joins the earlier ones unchanged, and could pass on its builds.
  const old = known.filter((buildset, index) => all[index] !== buildset || index === known.length - 1);
  return [
    ...(before === undefined ? arrival(item) : []),
    ...thrownAway(item, known, all),
    ...mergeMeasurements(item, changed, old),
    ...buildMeasurements(item, buildsOf(old), buildsOf(changed)),
    ...landedOtherwise(item, before?.events.length ?? 0),
    ...(before === undefined || endOfItem(before) === null ? departure(item) : []),
  ];
}

/** A dependency item only holds a place: no event requested it. */
function arrival(item: QueueItem): readonly Measurement[] {
  if (item.role === 'dependency') return [];
  const { connection, receivedAt } = item.origin;
  const took = seconds(between(receivedAt, item.enqueuedAt));
  return [measurement(item, 'gatehouse_event_latency_seconds', { connection }, took)];
}

/** Buildsets whose work is not used: superseded, with or without a successor yet, or complete and then replaced. */
function thrownAway(
  item: QueueItem,
  known: readonly BuildSet[],
  all: readonly BuildSet[],
): readonly Measurement[] {
  return all.flatMap((buildset, index) => {
    const cause = causeOfEnd(all, index);
    if (cause === null || causeOfEnd(known, index) !== null) return [];
    const job = cause.culprit?.job ?? '';
    const lost = seconds(lostBuildTime(buildset, all.slice(index + 1)));
    return [
      measurement(item, 'gatehouse_resets', { cause: cause.code, job }, 1),
      measurement(item, 'gatehouse_lost_build_seconds', { job }, lost),
    ];
  });
}

/** Events are only ever added. */
function landedOtherwise(item: QueueItem, known: number): readonly Measurement[] {
  const events = item.events.slice(known).filter(({ name }) => name === 'landed-tree-differs');
  return events.length === 0 ? [] : [measurement(item, 'gatehouse_landed_trees_differ', {}, events.length)];
}

function causeOfEnd(buildsets: readonly BuildSet[], index: number): ResetCause | null {
  const stage = buildsets[index]?.stage;
  return stage?.state === 'superseded' ? stage.cause : (buildsets[index + 1]?.cause ?? null);
}

function mergeMeasurements(
  item: QueueItem,
  changed: readonly BuildSet[],
  old: readonly BuildSet[],
): readonly Measurement[] {
  const answered = new Set(
    old.flatMap(({ mergerWork }) => mergerWork.filter(work => work.done !== null)).map(work => work.request),
  );
  return changed
    .flatMap(({ mergerWork }) => mergerWork)
    .flatMap(work => {
      const { request, requestedAt, done } = work;
      const end = endOfMergerWork(work);
      if (done === null || end === null || answered.has(request)) return [];
      const took = seconds(between(requestedAt, end));
      return [measurement(item, 'gatehouse_merge_seconds', { outcome: done.outcome }, took)];
    });
}

/** By uuid; of a build kept over a reset the newest version. */
function buildsOf(buildsets: readonly BuildSet[]): ReadonlyMap<Uuid, Build> {
  return new Map(buildsets.flatMap(({ builds }) => builds.map(build => [build.uuid, build] as const)));
}

function buildMeasurements(
  item: QueueItem,
  known: ReadonlyMap<Uuid, Build>,
  builds: ReadonlyMap<Uuid, Build>,
): readonly Measurement[] {
  return [...builds].flatMap(([uuid, build]) => {
    const old = known.get(uuid);
    return old === build ? [] : [...taken(item, old, build), ...ended(item, old, build)];
  });
}

function taken(item: QueueItem, old: Build | undefined, build: Build): readonly Measurement[] {
  const started = startOfBuild(build);
  if (started === null || (old !== undefined && startOfBuild(old) !== null)) return [];
  const { nodes, requestedAt } = build;
  const queuedAt = nodesSince(lastNodeWait(build)) ?? requestedAt;
  return [
    measurement(item, 'gatehouse_executor_queue_seconds', {}, seconds(between(queuedAt, started))),
    ...(nodes === undefined
      ? []
      : [measurement(item, 'gatehouse_node_wait_seconds', {}, seconds(between(requestedAt, queuedAt)))]),
  ];
}

function ended(item: QueueItem, old: Build | undefined, build: Build): readonly Measurement[] {
  if (isOpen(build) || (old !== undefined && !isOpen(old))) return [];
  const result = resultOf(build) ?? 'unknown';
  const started = startOfBuild(build);
  const end = endOfBuild(build);
  return [
    measurement(item, 'gatehouse_builds', { job: build.job, result }, 1),
    ...(started === null || end === null
      ? []
      : [measurement(item, 'gatehouse_build_duration_seconds', { result }, seconds(between(started, end)))]),
  ];
}

/** Of an item that left: how its time was spent. */
function departure(item: QueueItem): readonly Measurement[] {
  const until = endOfItem(item);
  if (until === null || item.phase.phase !== 'left' || item.role === 'dependency') return [];
  const { result } = item.phase;
  const cicdResult = cicdResultOf(result) ?? 'success';
  const stretches = stretchesOf(item, until);
  const waits = Map.groupBy(
    stretches.filter(stretch => stretch.kind === 'wait'),
    stretch => stretch.state,
  );
  const lasted = seconds(between(item.enqueuedAt, until));
  return [
    measurement(item, 'gatehouse_item_duration_seconds', { result }, lasted),
    ...RUN_STATES.map(state => {
      const spent = total(stretches.filter(stretch => ITEM_STATES[stretch.state].run === state));
      return measurement(item, 'cicd_pipeline_run_duration_seconds', { state, result: cicdResult }, spent);
    }),
    ...[...waits].map(([state, all]) => measurement(item, 'gatehouse_wait_seconds', { state }, total(all))),
  ];
}

function measurement(
  item: QueueItem,
  metric: MetricName,
  labels: Measurement['labels'],
  value: number,
): Measurement {
  const { tenant, pipeline } = item;
  const trace = isExported(item) ? { trace: rootSpanOf(item.uuid) } : {};
  return { metric, labels: { tenant, pipeline, ...labels }, value, ...trace };
}

function total(stretches: readonly Stretch[]): number {
  return stretches.reduce((sum, stretch) => sum + seconds(stretch.duration), 0);
}

/** Exact for three months. */
function seconds(duration: Nanoseconds): number {
  return Number(duration) / 1e9;
}

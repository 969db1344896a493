/**
 * What a pipeline's turn tells the metrics: a pure function of the records before and after, like the spans of the same turn.
 * Costs as much as what changed: items and builds that are the same object in both are not looked into.
 */

import { assertNever } from '../lib/assert-never.ts';
import { type Nanoseconds, parseNanoseconds } from '../lib/clock.ts';
import { type Build, isOpen, resultOf } from '../model/build.ts';
import type { BuildSet } from '../model/build-set.ts';
import type { PipelineState } from '../model/pipeline-state.ts';
import { buildsetsOf, endOfItem, type QueueItem } from '../model/queue-item.ts';
import { lostBuildTime } from '../tracing/lost-time.ts';
import { rootSpanOf } from '../tracing/span-ids.ts';
import { endOfBuild, startOfBuild } from '../tracing/spans/build-spans.ts';
import { cicdResultOf } from '../tracing/status.ts';
import { type Stretch, type StretchState, stretchesOf } from '../tracing/stretches.ts';
import { between } from '../tracing/time-window.ts';
import type { Measurement } from './measurement.ts';
import type { MetricName } from './metric-table.ts';

export interface MeasuredTurn {
  readonly tenant: string;
  readonly pipeline: string;
  readonly before: PipelineState;
  readonly after: PipelineState;
  /** As they left. */
  readonly left: readonly QueueItem[];
  /** From reading its events to the commit. */
  readonly seconds: number;
  readonly operations: number;
}

export function turnMeasurements(turn: MeasuredTurn): readonly Measurement[] {
  const { before, after, left } = turn;
  const place = { tenant: turn.tenant, pipeline: turn.pipeline };
  const changed = [...after.items.values(), ...left].filter(item => before.items.get(item.uuid) !== item);
  return [
    { metric: 'gatehouse_turn_seconds', labels: place, value: turn.seconds },
    { metric: 'gatehouse_turn_operations', labels: place, value: turn.operations },
    ...changed.flatMap(item => itemMeasurements(before.items.get(item.uuid), item)),
    ...left.flatMap(departure),
    ...pipelineGauges(place, before, after),
  ];
}

/** States of a run in OpenTelemetry's words. */
type RunState = 'pending' | 'executing' | 'finalizing';
const RUN_STATES: readonly RunState[] = ['pending', 'executing', 'finalizing'];

function runState(state: StretchState): RunState {
  switch (state) {
    case 'running':
      return 'executing';
    case 'reporting':
      return 'finalizing';
    case 'window':
    case 'merge':
    case 'configure':
    case 'repo-state':
    case 'hold-following':
    case 'executor':
    case 'change-ahead':
    case 'needed-change':
    case 'dependency':
    case 'scheduler':
      return 'pending';
    default:
      return assertNever(state, 'item state');
  }
}

function placeOf({ tenant, pipeline }: QueueItem) {
  return { tenant, pipeline };
}

function traceOf(item: QueueItem): Pick<Measurement, 'trace'> {
  return item.sampled ? { trace: rootSpanOf(item.uuid) } : {};
}

function itemMeasurements(before: QueueItem | undefined, item: QueueItem): readonly Measurement[] {
  return [
    ...(before === undefined ? [arrival(item)] : []),
    ...resets(before, item),
    ...buildsetsOf(item).flatMap((buildset, index) => {
      const old = before === undefined ? undefined : buildsetsOf(before)[index];
      return old === buildset ? [] : workMeasurements(item, old, buildset);
    }),
  ];
}

function arrival(item: QueueItem): Measurement {
  return {
    metric: 'gatehouse_event_latency_seconds',
    labels: { ...placeOf(item), connection: item.origin.connection },
    value: seconds(between(item.origin.receivedAt, item.enqueuedAt)),
    ...traceOf(item),
  };
}

function resets(before: QueueItem | undefined, item: QueueItem): readonly Measurement[] {
  const known = before?.earlier.length ?? 0;
  const all = buildsetsOf(item);
  return item.earlier.slice(known).flatMap((buildset, offset) => {
    const cause = all[known + offset + 1]?.cause;
    if (cause === null || cause === undefined) return [];
    const job = cause.culprit?.job ?? '';
    const lost = seconds(lostBuildTime(buildset, all.slice(known + offset + 1)));
    return [
      measurement(item, 'gatehouse_resets', { cause: cause.code, job }, 1),
      measurement(item, 'gatehouse_lost_build_seconds', { job }, lost),
    ];
  });
}

function workMeasurements(
  item: QueueItem,
  before: BuildSet | undefined,
  buildset: BuildSet,
): readonly Measurement[] {
  const builds = buildset.builds.flatMap((build, index) => {
    const old = before?.builds[index];
    if (old === build || isOpen(build) || (old !== undefined && !isOpen(old))) return [];
    return buildMeasurements(item, build);
  });
  const merges = buildset.mergerWork.flatMap((work, index) => {
    if (work.done === null || before?.mergerWork[index]?.done) return [];
    const took = seconds(between(work.requestedAt, work.done.at));
    return [measurement(item, 'gatehouse_merge_seconds', { outcome: work.done.outcome }, took)];
  });
  return [...merges, ...builds];
}

function buildMeasurements(item: QueueItem, build: Build): readonly Measurement[] {
  const result = resultOf(build) ?? 'unknown';
  const started = startOfBuild(build);
  const ended = endOfBuild(build);
  const counted = measurement(item, 'gatehouse_builds', { job: build.job, result }, 1);
  if (started === null || ended === null) return [counted];
  return [
    counted,
    measurement(item, 'gatehouse_build_duration_seconds', { result }, seconds(between(started, ended))),
    measurement(item, 'gatehouse_executor_queue_seconds', {}, seconds(between(build.requestedAt, started))),
  ];
}

/** Of an item that left: where its time went. */
function departure(item: QueueItem): readonly Measurement[] {
  const until = endOfItem(item);
  if (until === null || item.phase.phase !== 'left' || item.role === 'dependency') return [];
  const { result } = item.phase;
  const stretches = stretchesOf(item, until);
  return [
    measurement(
      item,
      'gatehouse_item_duration_seconds',
      { result },
      seconds(between(item.enqueuedAt, until)),
    ),
    ...RUN_STATES.map(state =>
      measurement(
        item,
        'cicd_pipeline_run_duration_seconds',
        { state, result: cicdResultOf(result) ?? 'success' },
        total(stretches.filter(stretch => runState(stretch.state) === state)),
      ),
    ),
    ...[...Map.groupBy(stretches.filter(isWaiting), stretch => stretch.state)].map(([state, all]) =>
      measurement(item, 'gatehouse_wait_seconds', { state }, total(all)),
    ),
  ];
}

function isWaiting(stretch: Stretch): boolean {
  return stretch.kind === 'wait';
}

function pipelineGauges(
  place: { readonly tenant: string; readonly pipeline: string },
  before: PipelineState,
  after: PipelineState,
): readonly Measurement[] {
  const gone = before.queues.filter(old => !after.queues.some(queue => queue.name === old.name));
  const lengths = [...after.queues, ...gone.map(queue => ({ ...queue, items: [] }))];
  const active = Map.groupBy(after.items.values(), item => runState(item.timeline.at(-1)?.state ?? 'window'));
  return [
    ...lengths.flatMap((queue): readonly Measurement[] => [
      {
        metric: 'gatehouse_queue_length',
        labels: { ...place, queue: queue.name },
        value: queue.items.length,
      },
      { metric: 'gatehouse_queue_window', labels: { ...place, queue: queue.name }, value: queue.window },
    ]),
    ...RUN_STATES.map(
      (state): Measurement => ({
        metric: 'cicd_pipeline_run_active',
        labels: { ...place, state },
        value: active.get(state)?.length ?? 0,
      }),
    ),
  ];
}

function measurement(
  item: QueueItem,
  metric: MetricName,
  labels: Measurement['labels'],
  value: number,
): Measurement {
  return { metric, labels: { ...placeOf(item), ...labels }, value, ...traceOf(item) };
}

function total(stretches: readonly Stretch[]): number {
  return stretches.reduce((sum, stretch) => sum + seconds(stretch.duration), 0);
}

/** Microseconds are enough. */
function seconds(duration: Nanoseconds): number {
  return Number(BigInt(parseNanoseconds(duration)) / 1_000n) / 1e6;
}

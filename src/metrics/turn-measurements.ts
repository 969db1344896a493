/**
 * The measurements of a pipeline's turn: a pure function of the records before and after, like the spans of the same turn.
 * The cost depends on what changed: only items that are others are compared, and a gauge that has not changed is not set again.
 */

import { HALT_MODES } from '../model/halt.ts';
import { ITEM_STATES, RUN_STATES, type RunState } from '../model/item-states.ts';
import type { PipelineState } from '../model/pipeline-state.ts';
import type { QueueItem } from '../model/queue-item.ts';
import { hostGauges, waitsForHost } from './host-gauges.ts';
import { itemMeasurements } from './item-measurements.ts';
import type { Measurement } from './measurement.ts';
import { concernsSemaphores, semaphoreGauges } from './semaphore-gauges.ts';

/** A turn whose commit is stored. */
export interface MeasuredTurn {
  readonly tenant: string;
  readonly pipeline: string;
  readonly before: PipelineState;
  readonly after: PipelineState;
  /** Items of `after` that are new or others than before. */
  readonly changed: readonly QueueItem[];
  /** No turn of this holder was measured before it, so all gauges are set. */
  readonly isFirst: boolean;
  /** With the decision whether their spans are exported, as they left. */
  readonly left: readonly QueueItem[];
  /** Spans are exported at all: only then can an exemplar lead to a trace. */
  readonly traced: boolean;
  /** From reading its events to the commit. */
  readonly seconds: number;
  /** In the commit of the turn. */
  readonly operations: number;
}

interface Place {
  readonly tenant: string;
  readonly pipeline: string;
}

/** @returns the gauges that may have changed; the rest only for what changed. */
export function turnMeasurements(turn: MeasuredTurn): readonly Measurement[] {
  const { before, after, changed, left, isFirst } = turn;
  const place = { tenant: turn.tenant, pipeline: turn.pipeline };
  const measurements: Measurement[] = [
    { metric: 'gatehouse_turn_seconds', labels: place, value: turn.seconds },
    { metric: 'gatehouse_turn_operations', labels: place, value: turn.operations },
  ];
  for (const items of [changed, left])
    for (const item of items)
      for (const measurement of itemMeasurements(before.items.get(item.uuid), item))
        measurements.push(turn.traced ? measurement : withoutTrace(measurement));
  const versions = [...changed, ...[...changed, ...left].flatMap(({ uuid }) => before.items.get(uuid) ?? [])];
  const isDue = (concerns: (item: QueueItem) => boolean) => isFirst || versions.some(concerns);
  if (isFirst || before.queues !== after.queues) measurements.push(...queueGauges(place, before, after));
  if (isDue(() => true)) measurements.push(...activeGauges(place, after));
  measurements.push(...haltGauges(place, after));
  if (isDue(waitsForHost)) measurements.push(...hostGauges(place, before, after));
  if (isDue(concernsSemaphores)) measurements.push(...semaphoreGauges(place, before, after));
  return measurements;
}

function withoutTrace({ metric, labels, value }: Measurement): Measurement {
  return { metric, labels, value };
}

/** A queue that is gone is empty; projects of two connections may have queues of one name, which are counted together. */
function queueGauges(place: Place, before: PipelineState, after: PipelineState): readonly Measurement[] {
  const lengths = new Map(before.queues.map(({ name }) => [name, 0]));
  const windows = new Map(before.queues.map(({ name, window }) => [name, window]));
  for (const { name } of after.queues) lengths.set(name, 0);
  for (const { name, items, window } of after.queues) {
    lengths.set(name, (lengths.get(name) ?? 0) + items.length);
    windows.set(name, window);
  }
  return [...lengths].flatMap(([queue, length]): readonly Measurement[] => [
    { metric: 'gatehouse_queue_length', labels: { ...place, queue }, value: length },
    { metric: 'gatehouse_queue_window', labels: { ...place, queue }, value: windows.get(queue) ?? 0 },
  ]);
}

function haltGauges(place: Place, { halts = [] }: PipelineState): readonly Measurement[] {
  return HALT_MODES.map(mode => ({
    metric: 'gatehouse_pipeline_halts',
    labels: { ...place, mode },
    value: halts.filter(halt => halt.mode === mode).length,
  }));
}

/** Items that hold a place for others are not runs. */
function activeGauges(place: Place, { items }: PipelineState): readonly Measurement[] {
  const active = new Map<RunState, number>(RUN_STATES.map(state => [state, 0]));
  for (const { role, timeline } of items.values()) {
    if (role === 'dependency') continue;
    const state = ITEM_STATES[(timeline.at(-1) ?? timeline[0]).state].run;
    active.set(state, (active.get(state) ?? 0) + 1);
  }
  return [...active].map(([state, value]) => ({
    metric: 'cicd_pipeline_run_active',
    labels: { ...place, state },
    value,
  }));
}

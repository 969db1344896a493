/** A tenant whose gate has many items in one queue, and nothing else. */
import type { TenantSnapshot } from '../../../src/api/tenant-snapshot.ts';
import type { Uuid } from '../../../src/lib/ids.ts';
import { gateOf } from '../../bench/gate-reset.ts';
import { sampleSnapshot } from './fake-web.ts';

export interface LongGate {
  readonly snapshot: TenantSnapshot;
  /** In the order of the queue. */
  readonly uuids: readonly Uuid[];
}

export function longGate(size: number): LongGate {
  const sample = sampleSnapshot({ gate: [], check: [] });
  const { state } = gateOf(size, 2, 20).input;
  const pipelines = sample.pipelines.map(live => (live.pipeline.name === 'gate' ? { ...live, state } : live));
  return { snapshot: { ...sample, pipelines }, uuids: state.queues.flatMap(({ items }) => items) };
}

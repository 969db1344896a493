/** Items that wait for a code host, by connection and reason. */
import type { PipelineState } from '../model/pipeline-state.ts';
import { projectIdOf } from '../model/project.ts';
import type { QueueItem } from '../model/queue-item.ts';
import type { Measurement } from './measurement.ts';

interface Waiting {
  readonly connection: string;
  readonly reason: string;
  readonly items: number;
}

/** A combination that waited before and no longer does is reported as 0. */
export function hostGauges(
  place: { readonly tenant: string; readonly pipeline: string },
  before: PipelineState,
  after: PipelineState,
): readonly Measurement[] {
  const now = waiting(after);
  const gone = [...waiting(before)].filter(([key]) => !now.has(key));
  return [...now.values(), ...gone.map(([, each]) => ({ ...each, items: 0 }))].map(
    ({ connection, reason, items }) => ({
      metric: 'gatehouse_host_waiting_items',
      labels: { ...place, connection, reason },
      value: items,
    }),
  );
}

/** It counts. */
export function waitsForHost({ timeline }: QueueItem): boolean {
  return timeline[timeline.length - 1]?.state === 'host';
}

function waiting({ items }: PipelineState): ReadonlyMap<string, Waiting> {
  const found = new Map<string, Waiting>();
  const reasons = new Map<string, string>();
  const held = [...items.values()].filter(waitsForHost);
  for (const { hostWait } of held)
    if (hostWait !== undefined) reasons.set(projectIdOf(hostWait.project).connection, hostWait.reason);
  for (const { hostWait, timeline } of held) {
    const connection = timeline.at(-1)?.subject ?? '';
    // An item that waits behind another one has met no problem itself.
    const reason = hostWait?.reason ?? reasons.get(connection) ?? 'other';
    const key = `${connection} ${reason}`;
    found.set(key, { connection, reason, items: (found.get(key)?.items ?? 0) + 1 });
  }
  return found;
}

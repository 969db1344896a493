/** Builds of a pipeline that hold semaphores, and jobs that wait for them, by name. */
import { isOpen } from '../model/build.ts';
import type { PipelineState } from '../model/pipeline-state.ts';
import type { QueueItem } from '../model/queue-item.ts';
import type { Measurement } from './measurement.ts';

interface Counts {
  readonly holders: number;
  readonly waiting: number;
}

/** A semaphore that was held or waited for before and no longer is, is reported as 0. */
export function semaphoreGauges(
  place: { readonly tenant: string; readonly pipeline: string },
  before: PipelineState,
  after: PipelineState,
): readonly Measurement[] {
  if (before.items === after.items) return [];
  const now = countsOf(after);
  for (const name of countsOf(before).keys()) if (!now.has(name)) now.set(name, { holders: 0, waiting: 0 });
  return [...now].flatMap(([semaphore, { holders, waiting }]): readonly Measurement[] => {
    const labels = { ...place, semaphore };
    return [
      { metric: 'gatehouse_semaphore_holders', labels, value: holders },
      { metric: 'gatehouse_semaphore_waiting_jobs', labels, value: waiting },
    ];
  });
}

function countsOf({ items }: PipelineState): Map<string, Counts> {
  const counts = new Map<string, Counts>();
  for (const item of items.values()) {
    for (const name of heldBy(item)) add(counts, name, { holders: 1, waiting: 0 });
    for (const name of awaitedBy(item)) add(counts, name, { holders: 0, waiting: 1 });
  }
  return counts;
}

/** It counts. */
export function concernsSemaphores(item: QueueItem): boolean {
  return heldBy(item).length > 0 || awaitedBy(item).length > 0;
}

function heldBy({ buildset }: QueueItem): readonly string[] {
  return buildset.builds
    .filter(isOpen)
    .flatMap(({ semaphores }) => (semaphores ?? []).map(({ name }) => name));
}

function awaitedBy({ buildset }: QueueItem): readonly string[] {
  const open = (buildset.semaphoreWaits ?? []).filter(({ ended }) => ended === null);
  return open.flatMap(({ semaphores }) => semaphores);
}

function add(counts: Map<string, Counts>, name: string, more: Counts): void {
  const { holders, waiting } = counts.get(name) ?? { holders: 0, waiting: 0 };
  counts.set(name, { holders: holders + more.holders, waiting: waiting + more.waiting });
}

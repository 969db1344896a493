/** Where an item is on its way: its place in its change queue, the jobs that run, and when it will probably leave. Pure. */
import { fromMilliseconds } from '../lib/clock.ts';
import { currentBuild, graphOf } from '../model/build-set.ts';
import type { PipelineState } from '../model/pipeline-state.ts';
import type { QueueItem } from '../model/queue-item.ts';
import type { ReportedProgress } from '../model/report.ts';

/** Milliseconds: what is shown does not change with every second. */
const ROUND_MS = 5 * 60_000;

/**
 * @param item one of `state`.
 * @param likely when it will probably leave, milliseconds since the epoch; null: there is no forecast.
 */
export function itemProgress(
  item: QueueItem,
  { queues }: Pick<PipelineState, 'queues'>,
  likely: number | null,
): ReportedProgress {
  const queue = queues.find(({ key }) => key === item.queue)?.items ?? [];
  const ahead = Math.max(0, queue.indexOf(item.uuid));
  return {
    ahead,
    position: ahead + 1,
    eta: likely === null ? null : fromMilliseconds(Math.ceil(likely / ROUND_MS) * ROUND_MS),
    running: (graphOf(item.buildset)?.jobs ?? [])
      .map(({ name }) => name)
      .filter(name => currentBuild(item.buildset, name)?.state.state === 'started'),
  };
}

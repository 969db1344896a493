/** The forecasts of a whole pipeline, from its records. Pure. */
import { type Nanoseconds, toMilliseconds } from '../lib/clock.ts';
import type { Uuid } from '../lib/ids.ts';
import { haltOf, haltText } from '../model/halt.ts';
import type { Pipeline } from '../model/pipeline.ts';
import type { PipelineState } from '../model/pipeline-state.ts';
import { type Forecast, forecastQueues, type QueueWork, queueKindOf } from './forecast.ts';
import { queuedWork } from './item-work.ts';
import type { RecentWork } from './recent-work.ts';

/** By item; see {@link forecastQueues}. */
export function forecastPipeline(
  { manager }: Pick<Pipeline, 'manager'>,
  { queues, items, halts = [] }: PipelineState,
  recent: RecentWork,
  now: Nanoseconds,
): ReadonlyMap<Uuid, Forecast> {
  const kind = queueKindOf(manager);
  const work = queues.map((queue): QueueWork => {
    const halt = haltOf(halts, queue.name, 'pause');
    return {
      kind,
      window: queue.window,
      ...(halt === undefined ? {} : { paused: haltText(halt) }),
      items: queue.items.flatMap(uuid => items.get(uuid) ?? []).map(item => queuedWork(item, now)),
    };
  });
  return forecastQueues(work, recent, toMilliseconds(now));
}

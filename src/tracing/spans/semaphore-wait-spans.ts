/** `SemaphoreWait`: a job could have started, but other builds held semaphores that it needs. */
import { spanIdOf } from '../../lib/ids.ts';
import type { BuildSet } from '../../model/build-set.ts';
import type { SemaphoreWait } from '../../model/semaphore.ts';
import type { ItemContext } from './item-context.ts';
import { type ParentSpan, type SpanPlan, spanOf } from './span-plan.ts';

/** An open wait ends with the buildset. */
export function planSemaphoreWait(
  context: ItemContext,
  buildset: BuildSet,
  parent: ParentSpan,
  wait: SemaphoreWait,
): SpanPlan {
  const end = wait.ended?.at ?? parent.end;
  return {
    key: wait.uuid,
    end,
    make: () =>
      spanOf({
        ...context.draft,
        kind: 'SemaphoreWait',
        subject: wait.job,
        id: spanIdOf(wait.uuid),
        parent,
        start: wait.since,
        end,
        result: wait.ended?.outcome === 'taken' ? 'SUCCESS' : end === null ? undefined : 'CANCELED',
        common: context.withChange(),
        own: {
          buildsetId: buildset.uuid,
          job: wait.job,
          semaphores: wait.semaphores,
          semaphoreHolders: wait.heldBy.map(({ job, change }) => `${job} of ${change}`),
        },
      }),
  };
}

/**
 * A job could have started, but for one thing:
 *
 *     SemaphoreWait     other builds held semaphores that it needs
 *     RequirementWait   builds of changes ahead had not provided what it requires
 */
import type { Nanoseconds } from '../../lib/clock.ts';
import { spanIdOf, type Uuid } from '../../lib/ids.ts';
import type { BuildSet } from '../../model/build-set.ts';
import type { JobName } from '../../model/project.ts';
import type { RequirementWait } from '../../model/requirement.ts';
import type { SemaphoreWait } from '../../model/semaphore.ts';
import type { ItemContext } from './item-context.ts';
import { type ParentSpan, type SpanPlan, spanOf } from './span-plan.ts';

/** Where the wait was. */
interface WaitPlace {
  readonly context: ItemContext;
  readonly buildset: BuildSet;
  readonly parent: ParentSpan;
}

export function planSemaphoreWait(place: WaitPlace, wait: SemaphoreWait): SpanPlan {
  return planJobWait(place, 'SemaphoreWait', wait, {
    semaphores: wait.semaphores,
    semaphoreHolders: wait.heldBy.map(({ job, change }) => `${job} of ${change}`),
  });
}

export function planRequirementWait(place: WaitPlace, wait: RequirementWait): SpanPlan {
  return planJobWait(place, 'RequirementWait', wait, {
    requires: wait.requires,
    providerChange: wait.change,
  });
}

interface JobWait {
  readonly uuid: Uuid;
  readonly job: JobName;
  readonly since: Nanoseconds;
  readonly ended: null | { readonly at: Nanoseconds; readonly outcome: 'taken' | 'met' | 'given-up' };
}

/** An open wait ends with the buildset. */
function planJobWait(
  { context, buildset, parent }: WaitPlace,
  kind: 'SemaphoreWait' | 'RequirementWait',
  { uuid, job, since, ended }: JobWait,
  facts: NonNullable<Parameters<typeof spanOf>[0]['own']>,
): SpanPlan {
  const end = ended?.at ?? parent.end;
  const began = ended !== null && ended.outcome !== 'given-up';
  return {
    key: uuid,
    end,
    make: () =>
      spanOf({
        ...context.draft,
        kind,
        subject: job,
        id: spanIdOf(uuid),
        parent,
        start: since,
        end,
        result: began ? 'SUCCESS' : end === null ? undefined : 'CANCELED',
        common: context.withChange(),
        own: { buildsetId: buildset.uuid, job, ...facts },
      }),
  };
}

/** `RequirementWait`: a job could have started, but builds of changes ahead had not provided what it requires. */
import { spanIdOf } from '../../lib/ids.ts';
import type { BuildSet } from '../../model/build-set.ts';
import type { RequirementWait } from '../../model/requirement.ts';
import type { ItemContext } from './item-context.ts';
import { type ParentSpan, type SpanPlan, spanOf } from './span-plan.ts';

/** An open wait ends with the buildset. */
export function planRequirementWait(
  context: ItemContext,
  buildset: BuildSet,
  parent: ParentSpan,
  wait: RequirementWait,
): SpanPlan {
  const end = wait.ended?.at ?? parent.end;
  return {
    key: wait.uuid,
    end,
    make: () =>
      spanOf({
        ...context.draft,
        kind: 'RequirementWait',
        subject: wait.job,
        id: spanIdOf(wait.uuid),
        parent,
        start: wait.since,
        end,
        result: wait.ended?.outcome === 'met' ? 'SUCCESS' : end === null ? undefined : 'CANCELED',
        common: context.withChange(),
        own: {
          buildsetId: buildset.uuid,
          job: wait.job,
          requires: wait.requires,
          providerChange: wait.change,
        },
      }),
  };
}

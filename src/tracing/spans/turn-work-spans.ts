/** `Layout` and `JobGraph` → `FreezeJob`: the scheduler's own computations for a buildset. */
import { derivedSpanId } from '../../lib/ids.ts';
import type { BuildSet, TurnWork } from '../../model/build-set.ts';
import type { ItemContext } from './item-context.ts';
import { once, type ParentSpan, type SpanPlan, spanOf } from './span-plan.ts';
import { clampedParent } from './step-spans.ts';

/** All ended: computations are recorded when they are done. Each is followed by its `FreezeJob`s, one per job. */
export function planTurnWork(
  context: ItemContext,
  buildset: BuildSet,
  parent: ParentSpan,
): readonly SpanPlan[] {
  return buildset.turnWork.flatMap((work, index) => planOne(context, buildset, parent, work, index));
}

function planOne(
  context: ItemContext,
  buildset: BuildSet,
  parent: ParentSpan,
  work: TurnWork,
  index: number,
): readonly SpanPlan[] {
  const kind = work.kind === 'layout' ? 'Layout' : 'JobGraph';
  const id = once(() => derivedSpanId(parent.id(), kind, index));
  const own = clampedParent(id, parent, { start: work.startedAt, end: work.endedAt });
  const key = `${buildset.uuid}/${kind}/${index}`;
  const jobs = work.jobs.map(job => job.name);
  const whole: SpanPlan = {
    key,
    end: own.end,
    make: () =>
      spanOf({
        ...context.draft,
        kind,
        id: id(),
        parent,
        start: work.startedAt,
        end: work.endedAt,
        own: { buildsetId: buildset.uuid, cached: work.cached, jobs },
      }),
  };
  const parts = work.jobs.map(
    (job, ordinal): SpanPlan => ({
      key: `${key}/${ordinal}`,
      end: own.end,
      make: () =>
        spanOf({
          ...context.draft,
          kind: 'FreezeJob',
          subject: job.name,
          id: derivedSpanId(id(), `FreezeJob ${job.name}`, ordinal),
          parent: own,
          start: job.startedAt,
          end: job.endedAt,
          own: { buildsetId: buildset.uuid, job: job.name },
        }),
    }),
  );
  return [whole, ...parts];
}

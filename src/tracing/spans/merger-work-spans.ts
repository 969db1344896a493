/** `Merge` and `RepoState` (requested → merger done), with `MergerJob` → steps as reported by the merger. */
import { derivedSpanId, spanIdOf } from '../../lib/ids.ts';
import { type BuildSet, endOfMergerWork, type MergerWork } from '../../model/build-set.ts';
import type { ItemContext } from './item-context.ts';
import { once, type ParentSpan, type SpanPlan, spanOf } from './span-plan.ts';
import { clampedParent, planSteps, windowOfSteps } from './step-spans.ts';
import { workerAttributes } from './worker-attributes.ts';

/** The request, then the merger's work once its answer has steps. A request without an answer ends with the buildset, as `withdrawn`. */
export function planMergerWork(
  context: ItemContext,
  buildset: BuildSet,
  parent: ParentSpan,
  work: MergerWork,
): readonly SpanPlan[] {
  const end = endOfMergerWork(work) ?? parent.end;
  const own = clampedParent(() => spanIdOf(work.request), parent, { start: work.requestedAt, end });
  const request: SpanPlan = {
    key: work.request,
    end,
    make: () =>
      spanOf({
        ...context.draft,
        kind: work.kind === 'merge' ? 'Merge' : 'RepoState',
        id: spanIdOf(work.request),
        parent,
        start: work.requestedAt,
        end,
        result: end === null ? undefined : resultOfWork(work),
        common: context.withChange(),
        zuul: () => ({ uuid: work.request }),
        own: {
          buildsetId: buildset.uuid,
          ...workerAttributes(work.done?.worker),
          mergeOutcome: end === null ? undefined : (work.done?.outcome ?? 'withdrawn'),
          conflictFiles: work.done?.outcome === 'conflict' ? buildset.conflict?.files : undefined,
          conflictWith: work.done?.outcome === 'conflict' ? buildset.conflict?.with : undefined,
        },
      }),
  };
  return [request, ...planMergerJob(context, buildset, own, work)];
}

function resultOfWork(work: MergerWork): string {
  switch (work.done?.outcome) {
    case 'merged':
    case 'repo-state':
      return 'SUCCESS';
    case 'conflict':
      return 'MERGE_CONFLICT';
    case 'failed':
      return 'ERROR';
    case 'withdrawn':
    case undefined:
      return 'CANCELED';
  }
}

function planMergerJob(
  context: ItemContext,
  buildset: BuildSet,
  parent: ParentSpan,
  work: MergerWork,
): readonly SpanPlan[] {
  const window = windowOfSteps(work.done?.steps ?? []);
  if (work.done === null || window === undefined) return [];
  const { worker, steps } = work.done;
  const own = clampedParent(
    once(() => derivedSpanId(parent.id(), 'MergerJob', 0)),
    parent,
    window,
  );
  const job: SpanPlan = {
    key: `${work.request}/job`,
    end: own.end,
    make: () =>
      spanOf({
        ...context.draft,
        kind: 'MergerJob',
        id: own.id(),
        parent,
        start: window.start,
        end: window.end,
        own: { buildsetId: buildset.uuid, ...workerAttributes(worker) },
      }),
  };
  const place = { key: `${work.request}/step`, parent: own, own: workerAttributes(worker) };
  return [job, ...planSteps(context, place, steps)];
}

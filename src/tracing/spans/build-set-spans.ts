/** `BuildSet`: one try at testing the item, with the causes of its start and end; its requests, builds and computations below. */
import type { Nanoseconds } from '../../lib/clock.ts';
import { spanIdOf, traceIdOf } from '../../lib/ids.ts';
import { isOpen } from '../../model/build.ts';
import { type BuildSet, endOf, graphOf, testedBeforeOf } from '../../model/build-set.ts';
import { resetText } from '../../model/cause.ts';
import { notBuiltText } from '../../model/not-built.ts';
import type { SpanLink } from '../../model/span.ts';
import type { AttributeInput } from '../attribute-values.ts';
import { planBuild } from './build-spans.ts';
import { detailText } from './detail-text.ts';
import type { ItemContext } from './item-context.ts';
import { planRequirementWait, planSemaphoreWait } from './job-wait-spans.ts';
import { causeAttributes, causeLinks, linkTo } from './links.ts';
import { planMergerWork } from './merger-work-spans.ts';
import { numberInName } from './number-in-name.ts';
import { type SpanPlan, spanOf } from './span-plan.ts';
import { clampedParent } from './step-spans.ts';
import { planTurnWork } from './turn-work-spans.ts';

/** What the rest of the item contributes to the spans of one buildset, and what need not be planned again. */
export interface BuildSetPlace {
  /** The buildset it replaced. */
  readonly previous: BuildSet | undefined;
  /** Uuids of builds kept from an earlier buildset, because the tested tree is the same. */
  readonly kept: ReadonlySet<string>;
  /** Another version of the same buildset: parts that are the same object in both and have ended are left out. */
  readonly other: BuildSet | undefined;
}

/** Parents first. Open parts end with the buildset, and an open buildset ends with the item's root. */
export function planBuildSet(
  context: ItemContext,
  buildset: BuildSet,
  place: BuildSetPlace,
): readonly SpanPlan[] {
  const end = endOf(buildset) ?? context.root.end;
  const own = clampedParent(() => spanIdOf(buildset.uuid), context.root, { start: buildset.createdAt, end });
  const plans: SpanPlan[] = [planOwnSpan(context, buildset, place.previous, end)];
  const { other } = place;
  buildset.mergerWork.forEach((work, index) => {
    if (work.done !== null && work === other?.mergerWork[index]) return;
    plans.push(...planMergerWork(context, buildset, own, work));
  });
  if (buildset.turnWork !== other?.turnWork) plans.push(...planTurnWork(context, buildset, own));
  (buildset.requirementWaits ?? []).forEach((wait, index) => {
    if (wait.ended === null || wait !== other?.requirementWaits?.[index])
      plans.push(planRequirementWait({ context, buildset, parent: own }, wait));
  });
  (buildset.semaphoreWaits ?? []).forEach((wait, index) => {
    if (wait.ended === null || wait !== other?.semaphoreWaits?.[index])
      plans.push(planSemaphoreWait({ context, buildset, parent: own }, wait));
  });
  buildset.builds.forEach((build, index) => {
    if (place.kept.has(build.uuid) || (build === other?.builds[index] && !isOpen(build))) return;
    plans.push(...planBuild(context, buildset, own, index));
  });
  return plans;
}

function planOwnSpan(
  context: ItemContext,
  buildset: BuildSet,
  previous: BuildSet | undefined,
  end: Nanoseconds | null,
): SpanPlan {
  return {
    key: buildset.uuid,
    end,
    make: () => {
      const detail = detailOf(context, buildset);
      return spanOf({
        ...context.draft,
        kind: 'BuildSet',
        subject: numberInName(buildset.number),
        id: spanIdOf(buildset.uuid),
        parent: context.root,
        start: buildset.createdAt,
        end,
        result: end === null ? undefined : resultOfBuildSet(buildset),
        detail,
        common: context.withChange(),
        own: { ...ownAttributes(buildset, previous), detail },
        links: [
          ...previousLink(context, previous),
          ...causeLinks(buildset.cause),
          ...testedBeforeLink(buildset),
        ],
      });
    },
  };
}

/** Of one in which no job could run. */
function detailOf({ item }: ItemContext, buildset: BuildSet): string | undefined {
  const text = notBuiltText(buildset, item.changes);
  return text === undefined ? undefined : detailText(text);
}

/** Zuul's result; `SUPERSEDED` when a reset ended it, `DEQUEUED` when its item left before it ended. */
function resultOfBuildSet(buildset: BuildSet): string {
  switch (buildset.stage.state) {
    case 'complete':
      return buildset.stage.result;
    case 'superseded':
      return 'SUPERSEDED';
    default:
      return 'DEQUEUED';
  }
}

function ownAttributes(buildset: BuildSet, previous: BuildSet | undefined): AttributeInput {
  const ended = buildset.stage.state === 'superseded' ? buildset.stage.cause : null;
  return {
    buildsetId: buildset.uuid,
    buildsetNumber: buildset.number,
    jobs: graphOf(buildset)?.jobs.map(job => job.name),
    ...causeAttributes(buildset.cause, buildset.cause === null ? undefined : resetText(buildset.cause)),
    supersededCode: ended?.code,
    supersededText: ended === null ? undefined : resetText(ended),
    linkTestedBefore: testedBeforeOf(buildset)?.item,
    linkPrevious: previous === undefined ? undefined : spanIdOf(previous.uuid),
  };
}

function testedBeforeLink(buildset: BuildSet): readonly SpanLink[] {
  const before = testedBeforeOf(buildset);
  if (before === null) return [];
  return [linkTo({ traceId: traceIdOf(before.item), spanId: spanIdOf(before.buildset) }, 'tested_before')];
}

function previousLink(context: ItemContext, previous: BuildSet | undefined): readonly SpanLink[] {
  return previous === undefined
    ? []
    : [linkTo({ traceId: context.traceId, spanId: spanIdOf(previous.uuid) }, 'previous')];
}

/**
 * `Build`, one per attempt, with its waits (`build-waits.ts`) and the executor's spans (`execution-spans.ts`):
 *
 *     Build unit-tests
 *     ├─ RequestNodes      of one that runs on nodes: requested → granted, or made; again after they were given back
 *     ├─ ExecutorQueue     requested, or granted its hosts → taken
 *     └─ JobExecution
 */
import type { Nanoseconds } from '../../lib/clock.ts';
import { spanIdOf } from '../../lib/ids.ts';
import {
  type Build,
  type Execution,
  endOfBuild,
  resultOf,
  skipText,
  startOfBuild,
} from '../../model/build.ts';
import { type BuildSet, graphOf } from '../../model/build-set.ts';
import { type CancelCause, culpritText, removalText } from '../../model/cause.ts';
import type { JobNode } from '../../model/job.ts';
import type { SpanLink, SpanReference } from '../../model/span.ts';
import type { AttributeInput } from '../attribute-values.ts';
import { jobExecutionSpanId, ownTraceOf } from '../span-ids.ts';
import { cicdResultOf } from '../status.ts';
import { planWaitsOfBuild } from './build-waits.ts';
import { detailText } from './detail-text.ts';
import { type ExecutedBuild, planExecution } from './execution-spans.ts';
import type { ItemContext } from './item-context.ts';
import { causeAttributes, causeLinks, linkTo } from './links.ts';
import { numberInName } from './number-in-name.ts';
import { type ParentSpan, type SpanPlan, spanOf } from './span-plan.ts';
import { clampedParent } from './step-spans.ts';
import { workerAttributes } from './worker-attributes.ts';

/** @param index of the build in `buildset.builds`; none for an index without a build. A skipped build has no `ExecutorQueue`. */
export function planBuild(
  context: ItemContext,
  buildset: BuildSet,
  parent: ParentSpan,
  index: number,
): readonly SpanPlan[] {
  const build = buildset.builds[index];
  if (build === undefined) return [];
  const end = endOfBuild(build) ?? parent.end;
  const own = clampedParent(() => spanIdOf(build.uuid), parent, { start: build.requestedAt, end });
  const plans: SpanPlan[] = [
    {
      key: build.uuid,
      end,
      make: () =>
        spanOf({
          ...context.draft,
          kind: 'Build',
          subject: build.attempt === 1 ? build.job : `${build.job} (attempt ${numberInName(build.attempt)})`,
          id: spanIdOf(build.uuid),
          parent,
          start: build.requestedAt,
          end,
          result: resultOfBuild(build, end),
          detail: detailOf(build),
          common: context.withChange(),
          own: ownAttributes(context, buildset, build, { end, previous: previousAttempt(buildset, build) }),
          links: links(context, build, previousAttempt(buildset, build)),
        }),
    },
  ];
  if (build.state.state !== 'skipped') plans.push(...waitsOf(context, buildset, own, build));
  const execution = executionOf(build);
  if (execution !== null)
    plans.push(...planExecution(context, executedBuild(context, buildset, build), own, execution));
  return plans;
}

function waitsOf(
  context: ItemContext,
  buildset: BuildSet,
  parent: ParentSpan,
  build: Build,
): readonly SpanPlan[] {
  const labels = build.nodes?.labels ?? nodeOf(buildset, build)?.labels;
  return planWaitsOfBuild(
    { context, parent, build, own: whose(context, buildset, build) },
    { labels, result: resultOfBuild(build, parent.end) },
  );
}

/** A build that is open when its buildset ends is cancelled and ends with it. */
function resultOfBuild(build: Build, end: Nanoseconds | null): string | undefined {
  return resultOf(build) ?? (end === null ? undefined : 'CANCELED');
}

function workerOf(build: Build): string | null {
  return build.state.state === 'requested' || build.state.state === 'skipped' ? null : build.state.worker;
}

/** The worker known when the build ended: a late answer must not change a span that has been sent. */
function workerAtEnd(build: Build): string | null {
  return startOfBuild(build) === null ? null : workerOf(build);
}

function executionOf(build: Build): Execution | null {
  return build.state.state === 'completed' || build.state.state === 'cancelled'
    ? build.state.execution
    : null;
}

function executedBuild(context: ItemContext, buildset: BuildSet, build: Build): ExecutedBuild {
  const worker = workerOf(build);
  return {
    uuid: build.uuid,
    job: build.job,
    result: resultOf(build),
    ownTrace: build.ownTrace === true,
    own: {
      ...whose(context, buildset, build),
      ...workerAttributes(worker),
    },
  };
}

/** The trace of its own that holds its work, unless there is and will be none. */
function ownTrace(build: Build): SpanReference | undefined {
  const { state } = build;
  const isWorkedOn = state.state === 'completed' ? state.execution !== null : startOfBuild(build) !== null;
  if (build.ownTrace !== true || !isWorkedOn) return undefined;
  return { traceId: ownTraceOf(build.uuid), spanId: jobExecutionSpanId(spanIdOf(build.uuid)) };
}

function previousAttempt(buildset: BuildSet, build: Build): Build | undefined {
  return build.attempt === 1
    ? undefined
    : buildset.builds.find(other => other.job === build.job && other.attempt === build.attempt - 1);
}

function links(context: ItemContext, build: Build, previous: Build | undefined): readonly SpanLink[] {
  const retry =
    previous === undefined
      ? []
      : [linkTo({ traceId: context.traceId, spanId: spanIdOf(previous.uuid) }, 'retry_of')];
  const own = ownTrace(build);
  return [
    ...retry,
    ...(own === undefined ? [] : [linkTo(own, 'continues_in')]),
    ...(build.state.state === 'cancelled' ? causeLinks(build.state.cause) : []),
  ];
}

function ownAttributes(
  context: ItemContext,
  buildset: BuildSet,
  build: Build,
  known: { readonly end: Nanoseconds | null; readonly previous: Build | undefined },
): AttributeInput {
  const cause = build.state.state === 'cancelled' ? build.state.cause : null;
  return {
    ...whose(context, buildset, build),
    voting: build.voting,
    ...workerAttributes(workerAtEnd(build)),
    detail: detailOf(build),
    logUrl: logUrl(context, build),
    skippedBecause: build.state.state === 'skipped' ? build.state.because : undefined,
    dependsOn: dependenciesOf(buildset, build),
    ...causeAttributes(cause, cause === null ? undefined : cancelText(cause)),
    linkRetryOf: known.previous === undefined ? undefined : spanIdOf(known.previous.uuid),
    linkContinuesIn: ownTrace(build)?.traceId,
    cicdTaskResult: cicdResultOf(resultOfBuild(build, known.end)),
  };
}

/** The reason of the end in one line, from the executor, the sweeper that found it lost, or the job that left it out. */
function detailOf({ state }: Build): string | undefined {
  if (state.state === 'skipped' && state.filtered !== undefined) return skipText(state);
  if (state.state !== 'completed' || state.detail === undefined) return undefined;
  return detailText(state.detail);
}

/** A build has a log once an executor took it. */
function logUrl({ item, options }: ItemContext, build: Build): string | undefined {
  return startOfBuild(build) === null ? undefined : options.urls?.log(item, build.uuid);
}

/** Names of the jobs that had to succeed first, so that the spans show what it waited for. */
function dependenciesOf(buildset: BuildSet, build: Build): readonly string[] | undefined {
  return nodeOf(buildset, build)?.dependencies.map(dependency => dependency.name);
}

function nodeOf(buildset: BuildSet, { job }: Build): JobNode | undefined {
  return graphOf(buildset)?.jobs.find(each => each.name === job);
}

/** Task and attempt, under our names and those of the conventions. */
function whose({ item, options }: ItemContext, buildset: BuildSet, build: Build): AttributeInput {
  return {
    buildsetId: buildset.uuid,
    buildId: build.uuid,
    job: build.job,
    attempt: build.attempt,
    cicdTask: build.job,
    cicdTaskId: build.uuid,
    cicdTaskUrl: options.urls?.build(item, build.uuid),
  };
}

/** Why a build was stopped: a sentence without a full stop. */
function cancelText(cause: CancelCause): string {
  const texts: { readonly [code in CancelCause['code']]: string } = {
    reset: 'the item is tested again',
    'item-left': 'the item left the queue',
    'fail-fast': 'another job of the buildset failed and fail-fast is set',
    'parent-retried': 'a job it depends on, which was paused, is tried again',
    'needed-change-failing': 'a change the item depends on is failing',
  };
  if (cause.left !== undefined) return `${texts[cause.code]}: ${removalText(cause.left, cause.remover)}`;
  return cause.culprit === null ? texts[cause.code] : `${texts[cause.code]}: ${culpritText(cause.culprit)}`;
}

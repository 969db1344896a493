/**
 * `JobExecution` → steps, as reported by the executor. A trace must not grow for hours, so a long job's work is in a trace of its own
 * with the build's uuid as its id; links and attributes connect both ways.
 *
 *     item trace                               trace of the build
 *
 *     Build nightly          ── continues_in ─► JobExecution nightly            expected to run long
 *     └─ ExecutorQueue       ◄─ continued_from  ├─ BuildCheckout ...
 *                                               └─ Playbook run/nightly.sh
 *
 *     Build unit                                                                ran over unexpectedly
 *     └─ JobExecution unit   ── continues_in ─► JobExecution unit (continued)   begins with the first playbook after that
 *        └─ Playbook run/... ◄─ continued_from  └─ Playbook post-run/...
 */
import type { Uuid } from '../../lib/ids.ts';
import { clampInto } from '../../lib/time-window.ts';
import type { Execution } from '../../model/build.ts';
import type { JobName } from '../../model/project.ts';
import type { Step } from '../../model/step.ts';
import type { AttributeInput } from '../attribute-values.ts';
import { continuationSpanId, jobExecutionSpanId, ownTraceOf } from '../span-ids.ts';
import type { ItemContext } from './item-context.ts';
import { linkTo } from './links.ts';
import { once, type ParentSpan, type SpanPlan, spanOf } from './span-plan.ts';
import { clampedParent, planSteps } from './step-spans.ts';

/** A build with an execution reported by an executor. */
export interface ExecutedBuild {
  readonly uuid: Uuid;
  readonly job: JobName;
  readonly result: string | undefined;
  /** As `Build.ownTrace`. */
  readonly ownTrace: boolean;
  /** Attributes of all its spans: ids and worker. */
  readonly own: AttributeInput;
}

/** Fields that all spans of the item's trace share. */
export type ItemTrace = Pick<ItemContext, 'draft' | 'withChange'>;

/** @param parent the `Build`. */
export function planExecution(
  item: ItemTrace,
  build: ExecutedBuild,
  parent: ParentSpan,
  execution: Execution,
): readonly SpanPlan[] {
  const { continuedAt, steps } = execution;
  const key = `${build.uuid}/execution`;
  const id = once(() => jobExecutionSpanId(parent.id()));
  const window = { start: execution.startedAt, end: execution.endedAt };
  const whole = clampedParent(id, parent, window);
  const own = build.ownTrace
    ? planRoot(item, build, parent, { ...window, id, key })
    : planInside(item, build, parent, { ...window, id, key, isContinued: continuedAt !== undefined });
  const place = { key: `${build.uuid}/step`, parent: whole, own: build.own };
  const trace = build.ownTrace ? traceOfBuild(item, build) : item;
  if (continuedAt === undefined) return [own, ...planSteps(trace, place, steps)];
  return [
    own,
    ...planSteps(
      trace,
      place,
      steps.filter(step => step.continued !== true),
    ),
    ...planContinuation(item, build, whole, {
      id: once(() => continuationSpanId(parent.id())),
      start: continuedAt,
      end: execution.endedAt,
      steps: steps.filter(step => step.continued === true),
    }),
  ];
}

/** Fields of every span of the trace that is the build's own. */
function traceOfBuild({ draft }: ItemTrace, { uuid }: ExecutedBuild): Pick<ItemTrace, 'draft'> {
  return { draft: { ...draft, traceId: ownTraceOf(uuid) } };
}

interface Inside extends ParentSpan {
  readonly key: string;
  readonly isContinued: boolean;
}

function planInside(item: ItemTrace, build: ExecutedBuild, parent: ParentSpan, span: Inside): SpanPlan {
  const { key, id, start, end, isContinued } = span;
  const traceId = ownTraceOf(build.uuid);
  return {
    key,
    end: clampInto(parent, start, end).end,
    make: () =>
      spanOf({
        ...item.draft,
        kind: 'JobExecution',
        subject: build.job,
        id: id(),
        parent,
        start,
        end,
        result: build.result,
        common: item.withChange(),
        own: { ...build.own, linkContinuesIn: isContinued ? traceId : undefined },
        links: isContinued
          ? [linkTo({ traceId, spanId: continuationSpanId(parent.id()) }, 'continues_in')]
          : [],
      }),
  };
}

interface Continuation extends ParentSpan {
  readonly steps: readonly Step[];
}

/** @param whole the build's `JobExecution` in the item's trace. */
function planContinuation(
  item: ItemTrace,
  build: ExecutedBuild,
  whole: ParentSpan,
  { steps, ...window }: Continuation,
): readonly SpanPlan[] {
  const key = `${build.uuid}/continuation`;
  const parent = clampedParent(window.id, whole, window);
  return [
    planRoot(item, build, whole, { ...window, key, isContinuation: true }),
    ...planSteps(traceOfBuild(item, build), { key: `${key}/step`, parent, own: build.own }, steps),
  ];
}

interface Root extends ParentSpan {
  readonly key: string;
  readonly isContinuation?: true;
}

/**
 * Root of the build's own trace.
 *
 * @param from span of the item's trace that it continues and that encloses it in time.
 */
function planRoot(item: ItemTrace, build: ExecutedBuild, from: ParentSpan, root: Root): SpanPlan {
  const { start, end, adjusted } = clampInto(from, root.start, root.end);
  const { traceId } = item.draft;
  return {
    key: root.key,
    end,
    make: () =>
      spanOf({
        ...traceOfBuild(item, build).draft,
        kind: 'JobExecution',
        subject: root.isContinuation === true ? `${build.job} (continued)` : build.job,
        id: root.id(),
        parent: null,
        start,
        end,
        result: build.result,
        common: item.withChange(),
        own: {
          ...build.own,
          continuation: root.isContinuation,
          clockAdjusted: adjusted === 0 ? undefined : adjusted,
          linkContinuedFrom: traceId,
        },
        links: [linkTo({ traceId, spanId: from.id() }, 'continued_from')],
      }),
  };
}

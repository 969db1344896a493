/**
 * Executors that tell of builds after their items have left: nobody counts the result, but what they did until they stopped is part
 * of the trace, and spans of the job itself hang below it.
 */
import type { Uuid } from '../../lib/ids.ts';
import { cancelTimeOf } from '../../model/cancel-word.ts';
import { spansCodec } from '../../model/codec/records.ts';
import type { PipelineEvent } from '../../model/event.ts';
import { outboxRows } from '../../store/outbox-rows.ts';
import type { Operation } from '../../store/port.ts';
import { type LateExecution, lateExecutionSpans } from '../../tracing/spans/late-execution-spans.ts';
import type { Draft } from '../turn/decide-with-graphs.ts';
import type { PipelineContext } from '../turn/pipeline-context.ts';

type BuildResult = Extract<PipelineEvent, { kind: 'build-result' }>;

export async function lateExecutionRows(
  events: readonly PipelineEvent[],
  { state, left }: Draft,
  context: PipelineContext,
): Promise<readonly Operation[]> {
  const options = context.committing.spans();
  if (options === undefined) return [];
  const late = await Promise.all(
    events
      .filter(event => event.kind === 'build-result')
      // An item that leaves in this very turn was not looked at for results any more.
      .filter(event => !state.items.has(event.item) && !hasExecution(left, event))
      .map(event => lateExecution(event, context)),
  );
  const spans = late.flatMap(each => (each === undefined ? [] : lateExecutionSpans(each, options)));
  return outboxRows(context.committing.places.spanOutbox, spans, spansCodec, context.clock.now());
}

/** The result came before the item left, in the same turn: its spans are among the item's. */
function hasExecution(left: Draft['left'], { item, build }: BuildResult): boolean {
  const builds = left
    .filter(({ uuid }) => uuid === item)
    .flatMap(each => [...each.earlier, each.buildset].flatMap(buildset => buildset.builds));
  const found = builds.find(({ uuid }) => uuid === build)?.state;
  return found !== undefined && 'execution' in found && found.execution !== null;
}

/** @returns undefined when nobody wants its spans, or when nobody can say any more when its build ended. */
async function lateExecution(
  { item, buildset, build, worker, execution, of }: BuildResult,
  context: PipelineContext,
): Promise<LateExecution | undefined> {
  if (execution === null || of === undefined || of.trace?.sampled !== true) return undefined;
  const cancelledAt = of.cancelledAt ?? (await unreadCancelTime(build, context));
  if (cancelledAt === undefined) return undefined;
  const { job, attempt, requestedAt, trace } = of;
  return {
    tenant: context.tenant.name,
    pipeline: context.pipeline.name,
    item,
    buildset,
    build,
    job,
    attempt,
    worker,
    trace,
    requestedAt,
    cancelledAt,
    execution,
  };
}

/** The executor was done before it could read that the build was cancelled: then the message is still there. */
async function unreadCancelTime(build: Uuid, { commanding }: PipelineContext) {
  const message = await commanding.buildRequests.cancelMessage(build);
  return message === undefined ? undefined : cancelTimeOf(message);
}

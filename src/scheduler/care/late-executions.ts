/**
 * Results of builds whose items have left. The result does not count, but what the executor did until it stopped belongs to the
 * trace, and the job's own spans are children of it.
 */

import type { Uuid } from '../../lib/ids.ts';
import { cancelTimeOf } from '../../model/cancel-message.ts';
import { spansCodec } from '../../model/codec/records.ts';
import type { PipelineEvent } from '../../model/event.ts';
import type { WholeTurn } from '../../pipeline/turn.ts';
import { outboxRows } from '../../store/outbox-rows.ts';
import type { Operation } from '../../store/port.ts';
import { type LateExecution, lateExecutionSpans } from '../../tracing/spans/late-execution-spans.ts';
import type { PipelineContext } from '../turn/pipeline-context.ts';

type BuildResult = Extract<PipelineEvent, { kind: 'build-result' }>;

/** @param events of the turn; those about items that stay are applied to the items and need no rows here. */
export async function lateExecutionRows(
  events: readonly PipelineEvent[],
  { state, left }: WholeTurn,
  context: PipelineContext,
): Promise<readonly Operation[]> {
  const options = context.spans();
  if (options === undefined) return [];
  const late = await Promise.all(
    events
      .filter(event => event.kind === 'build-result')
      // Results are not applied to an item that leaves in this turn.
      .filter(event => !state.items.has(event.item) && !hasExecution(left, event))
      .map(event => lateExecution(event, context)),
  );
  const spans = late.flatMap(each => (each === undefined ? [] : lateExecutionSpans(each, options)));
  return outboxRows(context.nodes.spanOutbox, spans, spansCodec, context.clock.now());
}

/** The result came before the item left, in the same turn: its spans are among the item's. */
function hasExecution(left: WholeTurn['left'], { item, build }: BuildResult): boolean {
  const builds = left
    .filter(({ uuid }) => uuid === item)
    .flatMap(each => [...each.earlier, each.buildset].flatMap(buildset => buildset.builds));
  const found = builds.find(({ uuid }) => uuid === build)?.state;
  return found !== undefined && 'execution' in found && found.execution !== null;
}

/** @returns undefined when the trace is not sampled, or the end of the build is no longer known. */
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

/** The executor finished before it read the cancel message: then the message is still there. */
async function unreadCancelTime(build: Uuid, { buildRequests }: PipelineContext) {
  const message = await buildRequests.cancelMessage(build);
  return message === undefined ? undefined : cancelTimeOf(message);
}

/**
 * Ids of the item's spans that a job can compute: from the ids of the item, its buildset and its build, which it gets as variables, and
 * constant names.
 *
 *     SHA-256(<item> / Wait window / 2)      a wait
 *     SHA-256(<buildset> / Layout / 0)       work of a turn, and below it FreezeJob <job>
 *
 * In a backend that keeps one span per id, a job's span with such an id would replace ours. Not listed: spans below uuids that a job
 * does not get (merge requests, reports), and gaps, which are named after their nanosecond.
 */
import { derivedSpanId, type SpanId, spanIdOf } from '../../lib/ids.ts';
import type { BuildRequest } from '../../model/build-request.ts';
import { isOwnGap, isWait, STRETCH_STATES } from '../../model/item-states.ts';
import { MOST_NODE_WAITS } from '../../model/node-wait.ts';
import { continuationSpanId, jobExecutionSpanId, stepSpanId } from '../span-ids.ts';

/** Entries of a timeline, computations of a turn, jobs of a graph: ids beyond these are not in the list. */
const MOST_ORDINALS = 128;
const WAITS = STRETCH_STATES.filter(state => isWait(state) && !isOwnGap(state));
const TURN_WORK = ['Layout', 'JobGraph'] as const;
/** A buildset's layout is computed once, and again when it is reset meanwhile. */
const MOST_TURN_WORK = 4;

/** @param buildSpan of the build itself. */
export function derivableIds(
  request: Pick<BuildRequest, 'item' | 'buildset' | 'jobName'>,
  buildSpan: SpanId,
): ReadonlySet<SpanId> {
  const [item, buildset] = [spanIdOf(request.item), spanIdOf(request.buildset)];
  const whole = [jobExecutionSpanId(buildSpan), continuationSpanId(buildSpan)];
  const turnWork = ordinals(MOST_TURN_WORK).flatMap(at =>
    TURN_WORK.map(kind => derivedSpanId(buildset, kind, at)),
  );
  return new Set([
    ...[item, buildset, buildSpan, ...whole],
    ...ordinals(MOST_NODE_WAITS).flatMap(at =>
      (['ExecutorQueue', 'RequestNodes'] as const).map(kind => derivedSpanId(buildSpan, kind, at)),
    ),
    // Not made yet when the spans of a job are placed.
    ...whole.map(parent => stepSpanId(parent, 'Cleanup', request.jobName, 0)),
    ...ordinals(MOST_ORDINALS).flatMap(at => WAITS.map(state => derivedSpanId(item, `Wait ${state}`, at))),
    ...turnWork,
    ...turnWork.flatMap(id =>
      ordinals(MOST_ORDINALS).map(at => derivedSpanId(id, `FreezeJob ${request.jobName}`, at)),
    ),
  ]);
}

function ordinals(count: number): readonly number[] {
  return Array.from({ length: count }, (_, at) => at);
}

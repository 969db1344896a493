/**
 * Ids of spans that the gate draws of a build's item, as far as a job can work them out: from the ids of the item, its buildset and its
 * build, all of which it is told, and names that are always the same.
 *
 *     SHA-256(<item> / Wait window / 2)      a wait
 *     SHA-256(<buildset> / Layout / 0)       work of a turn, and below it FreezeJob <job>
 *
 * A job's span with such an id would stand in for ours, or clash with it, in a backend that keeps one span per id. Not here:
 * what hangs below uuids that a job is not told (merge requests, reports), and gaps, which are named after their nanosecond.
 */
import { derivedSpanId, type SpanId, spanIdOf } from '../../lib/ids.ts';
import type { BuildRequest } from '../../model/build-request.ts';
import { isOwnGap, isWait, STRETCH_STATES } from '../../model/item-states.ts';
import { continuationSpanId, jobExecutionSpanId, stepSpanId } from '../span-ids.ts';

/** Entries of a timeline, works of a turn, places in a job graph: beyond these an id is not guessed, but searched for. */
const MOST_ORDINALS = 128;
const WAITS = STRETCH_STATES.filter(state => isWait(state) && !isOwnGap(state));
const TURN_WORK = ['Layout', 'JobGraph'] as const;
/** A buildset is laid out once, and again where it was reset while that went on. */
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
    ...[item, buildset, buildSpan, derivedSpanId(buildSpan, 'ExecutorQueue', 0), ...whole],
    // Still to come when the spans of a job are placed.
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

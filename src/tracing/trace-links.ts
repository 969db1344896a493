/** Links to an item and its builds in the trace viewer; none when tracing is off or nothing of the item is exported. */
import { spanIdOf, traceIdOf } from '../lib/ids.ts';
import { type Build, endOfBuild, startOfBuild } from '../model/build.ts';
import { endOfItem, isExported, type QueueItem } from '../model/queue-item.ts';
import { ATTRIBUTE } from './attributes.ts';
import { jobExecutionSpanId, ownTraceOf } from './span-ids.ts';
import { searchUrl, type TraceUi, uiUrl } from './ui-url.ts';

/** The item's trace in the configured viewer, e.g. Jaeger; null when tracing is off or nothing of the item is exported. */
export function traceAddress(ui: TraceUi | null, item: QueueItem): string | null {
  if (ui === null || !isExported(item)) return null;
  const window = { start: item.enqueuedAt, end: endOfItem(item) };
  return uiUrl(ui, { traceId: traceIdOf(item.uuid), spanId: spanIdOf(item.uuid), ...window });
}

/**
 * Every trace that belongs to the item: of its event, of the event in its tenant, its own, those of its long jobs; and those of
 * other items of the same event. Null as {@link traceAddress}, and for viewers without such a search.
 */
function tracesAddress(ui: TraceUi | null, item: QueueItem): string | null {
  if (ui === null || !isExported(item)) return null;
  const tags = { [ATTRIBUTE.eventId]: item.origin.event };
  return searchUrl(ui, { tags, start: item.origin.receivedAt, end: endOfItem(item) });
}

/** Both, as pages show them. */
export function traceLinks(ui: TraceUi | null, item: QueueItem) {
  return { traceUrl: traceAddress(ui, item), tracesUrl: tracesAddress(ui, item) };
}

/** The build's span, or its `JobExecution` when that is in a trace of its own. Null as {@link traceAddress}. */
export function buildTraceAddress(ui: TraceUi | null, item: QueueItem, build: Build): string | null {
  if (ui === null || !isExported(item)) return null;
  const own = build.ownTrace === true && startOfBuild(build) !== null;
  const span = spanIdOf(build.uuid);
  return uiUrl(ui, {
    traceId: own ? ownTraceOf(build.uuid) : traceIdOf(item.uuid),
    spanId: own ? jobExecutionSpanId(span) : span,
    start: build.requestedAt,
    end: endOfBuild(build),
  });
}

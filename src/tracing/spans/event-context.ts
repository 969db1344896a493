/** What the traces of events have in common: a root with its stations below, one after the other. */
import type { Nanoseconds } from '../../lib/clock.ts';
import { derivedSpanId, type Uuid } from '../../lib/ids.ts';
import { clampInto, lasting } from '../../lib/time-window.ts';
import type { SpanRecord } from '../../model/span.ts';
import type { SpanKind } from '../allowed-attributes.ts';
import { type AttributeInput, attributesOf } from '../attribute-values.ts';
import { rootSpanOf } from '../span-ids.ts';
import type { SpanStyle } from './span-options.ts';
import type { ParentSpan, SpanDraft } from './span-plan.ts';
import { spanOf } from './span-plan.ts';

export interface EventTrace {
  readonly draft: Pick<SpanDraft, 'traceId' | 'style' | 'common' | 'driver'>;
  readonly root: ParentSpan;
}

/** A station of the trip, and where its own children hang. */
export interface Station {
  readonly span: SpanRecord;
  readonly place: ParentSpan;
}

/** @param uuid of the event: the root's id follows from it. */
export function eventTrace(
  uuid: Uuid,
  window: { readonly start: Nanoseconds; readonly end: Nanoseconds },
  ids: AttributeInput,
  style: SpanStyle,
): EventTrace {
  const { traceId, spanId } = rootSpanOf(uuid);
  const common = attributesOf('EventReceive', ids);
  return {
    draft: { traceId, style, common },
    root: lasting({ id: () => spanId, ...window }),
  };
}

/** One child of the root, at the place it has inside it. */
export function stationOf(
  trace: EventTrace,
  kind: SpanKind,
  start: Nanoseconds,
  end: Nanoseconds,
  more: Pick<SpanDraft, 'own' | 'events' | 'result'> = {},
): Station {
  const id = derivedSpanId(trace.root.id(), kind, 0);
  const span = spanOf({ ...trace.draft, kind, id, parent: trace.root, start, end, ...more });
  const inside = clampInto(trace.root, start, end);
  return { span, place: { id: () => id, start: inside.start, end: inside.end } };
}

/** Its span; none when the station was not reached. */
export function station(
  trace: EventTrace,
  kind: SpanKind,
  start: Nanoseconds | null,
  end: Nanoseconds | null,
  own: AttributeInput = {},
): readonly SpanRecord[] {
  return start === null || end === null ? [] : [stationOf(trace, kind, start, end, { own }).span];
}

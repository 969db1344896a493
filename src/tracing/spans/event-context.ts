/** The common shape of event traces: a root, and one child per stage, one after the other. */
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

/** The fields that all spans of one event's trace share, and its root as a parent; the root's own span is made by each kind of event. */
export interface EventTrace {
  readonly draft: Pick<SpanDraft, 'traceId' | 'style' | 'common' | 'driver'>;
  readonly root: ParentSpan;
}

/** The span of a stage, and its place as a parent. */
export interface EventStage {
  readonly span: SpanRecord;
  readonly place: ParentSpan;
}

/** @param uuid of the event: the root's id is derived from it. */
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

/** One child of the root, clamped into it. */
export function eventStage(
  trace: EventTrace,
  kind: SpanKind,
  start: Nanoseconds,
  end: Nanoseconds,
  more: Pick<SpanDraft, 'own' | 'events' | 'result'> = {},
): EventStage {
  const id = derivedSpanId(trace.root.id(), kind, 0);
  const span = spanOf({ ...trace.draft, kind, id, parent: trace.root, start, end, ...more });
  const inside = clampInto(trace.root, start, end);
  return { span, place: { id: () => id, start: inside.start, end: inside.end } };
}

/** Its span; none when the stage was not reached. */
export function stageSpan(
  trace: EventTrace,
  kind: SpanKind,
  start: Nanoseconds | null,
  end: Nanoseconds | null,
  own: AttributeInput = {},
): readonly SpanRecord[] {
  return start === null || end === null ? [] : [eventStage(trace, kind, start, end, { own }).span];
}

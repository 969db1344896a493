/** What the traces of events have in common: a root with its stations below, one after the other. */
import type { Nanoseconds } from '../../lib/clock.ts';
import { derivedSpanId, type Uuid } from '../../lib/ids.ts';
import type { SpanRecord } from '../../model/span.ts';
import type { SpanKind } from '../allowed-attributes.ts';
import { type AttributeInput, attributesOf } from '../attribute-values.ts';
import { rootSpanOf } from '../span-ids.ts';
import type { SpanStyle } from './span-options.ts';
import type { ParentSpan, SpanDraft } from './span-plan.ts';
import { spanOf } from './span-plan.ts';

export interface EventTrace {
  readonly draft: Pick<SpanDraft, 'traceId' | 'style' | 'common'>;
  readonly root: ParentSpan;
}

export function eventTrace(
  uuid: Uuid,
  window: { readonly start: Nanoseconds; readonly end: Nanoseconds },
  ids: AttributeInput,
  style: SpanStyle,
): EventTrace {
  const { traceId, spanId } = rootSpanOf(uuid);
  const common = attributesOf('EventReceive', ids);
  return { draft: { traceId, style, common }, root: { id: () => spanId, ...window } };
}

/** One child of the root; none when the station was not reached. */
export function station(
  trace: EventTrace,
  kind: SpanKind,
  start: Nanoseconds | null,
  end: Nanoseconds | null,
  own: AttributeInput = {},
): readonly SpanRecord[] {
  if (start === null || end === null) return [];
  const id = derivedSpanId(trace.root.id(), kind, 0);
  return [spanOf({ ...trace.draft, kind, id, parent: trace.root, start, end, own })];
}

/** The context that all spans of one item share. */
import type { TraceId } from '../../lib/ids.ts';
import { spanIdOf, traceIdOf } from '../../lib/ids.ts';
import { lasting } from '../../lib/time-window.ts';
import { endOfItem, type QueueItem } from '../../model/queue-item.ts';
import type { Attributes } from '../../model/span.ts';
import { attributesOf } from '../attribute-values.ts';
import { changeAttributes } from './change-attributes.ts';
import type { SpanOptions } from './span-options.ts';
import { once, type ParentSpan, type SpanDraft } from './span-plan.ts';

/** Made once per item and version, so that attributes and options common to hundreds of spans are not computed for each. */
export interface ItemContext {
  readonly item: QueueItem;
  readonly options: SpanOptions;
  readonly traceId: TraceId;
  readonly root: ParentSpan;
  /** Attributes of every span plus change and repository, for the spans that people search by (doc/decisions/0026). */
  readonly withChange: () => Attributes;
  /** Fields of every draft of this trace. */
  readonly draft: Pick<SpanDraft, 'traceId' | 'style' | 'common'>;
}

/** Computes ids and shared attributes; {@link ItemContext.withChange} on its first call only. */
export function itemContext(item: QueueItem, options: SpanOptions): ItemContext {
  const traceId = traceIdOf(item.uuid);
  const common = attributesOf('Wait', {
    tenant: item.tenant,
    pipeline: item.pipeline,
    itemId: item.uuid,
    eventId: item.origin.event,
    cicdPipeline: item.pipeline,
    cicdRunId: item.uuid,
    cicdRunUrl: options.urls?.item(item),
  });
  return {
    item,
    options,
    traceId,
    root: lasting({ id: () => spanIdOf(item.uuid), start: item.enqueuedAt, end: endOfItem(item) }),
    draft: { traceId, style: options, common },
    withChange: once(() => attributesOf('BuildSet', changeAttributes(item.changes, options), common)),
  };
}

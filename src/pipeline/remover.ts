/** What removes an item, for the item's trace: a link leads to the trace of the remover. */
import { type SpanId, spanIdOf, type TraceId, traceIdOf, type Uuid } from '../lib/ids.ts';
import { changesText } from '../model/about-item.ts';
import type { Remover } from '../model/cause.ts';
import type { PipelineEvent } from '../model/event.ts';
import type { QueueItem } from '../model/queue-item.ts';
import type { TurnDraft } from './turn-draft.ts';

type EventOf<Kind extends PipelineEvent['kind']> = Extract<PipelineEvent, { readonly kind: Kind }>;

/** The item that entered a pipeline that supercedes this one. */
export function supercedingItem({ by, internal }: EventOf<'superseded'>): Remover {
  return { kind: 'item', span: internal?.sampled === true ? internal.causedBy : null, name: by };
}

/** The item that took its place in the queue. */
export function overtakingItem(item: QueueItem): Remover {
  return { kind: 'item', span: item.sampled ? rootOf(item.uuid) : null, name: changesText(item) };
}

/** A user who dequeued or promoted it, or had it run again, by hand; the link leads to the trace of that request, if there is one. */
export function operator({ uuid, by, management }: EventOf<'dequeue' | 'promote' | 'rerun'>): Remover {
  return { kind: 'operator', span: management?.sampled === true ? rootOf(uuid) : null, name: by };
}

/** The update in this turn of a change of the item, or of a dependency. Undefined: none. */
export function updateAbout(draft: TurnDraft, item: QueueItem): Remover | undefined {
  const keys = new Set([...item.changes.map(({ key }) => key), ...item.dependsOn]);
  for (const event of draft.input.events)
    if (event.kind === 'change-updated' && keys.has(event.change))
      return { kind: 'event', span: event.origin?.sampled === true ? rootOf(event.uuid) : null, name: null };
  return undefined;
}

function rootOf(uuid: Uuid): { readonly traceId: TraceId; readonly spanId: SpanId } {
  return { traceId: traceIdOf(uuid), spanId: spanIdOf(uuid) };
}

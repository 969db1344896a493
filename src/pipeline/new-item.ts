/** A new queue item with its first buildset; the pass determines which item it is tested behind. */
import type { Uuid } from '../lib/ids.ts';
import type { Change, ChangeKey } from '../model/change.ts';
import type { PipelineEvent, TriggerEvent } from '../model/event.ts';
import type { QueueItem } from '../model/queue-item.ts';
import type { QueueName } from './manager/manager.ts';
import { newBuildset } from './reset-item.ts';
import type { TurnDraft } from './turn-draft.ts';

/** A change that a trigger matched, on its way into the pipeline. */
export type EnqueueEvent = Extract<PipelineEvent, { readonly kind: 'enqueue' }>;

/** How an item came in: an {@link EnqueueEvent}, or that of an item whose changes enter again without one. */
export type Entry = Pick<EnqueueEvent, 'uuid' | 'tenantSpan' | 'matched'> & {
  /** Of the change that an operator had enter; absent: a trigger matched. */
  readonly byHand?: QueueItem['origin']['byHand'];
  readonly trigger: Pick<
    TriggerEvent,
    'uuid' | 'connection' | 'type' | 'receivedAt' | 'sampled' | 'span' | 'traceState' | 'heldSpans'
  >;
};

/** What distinguishes a new item from its pipeline and event; enqueue.ts decides it. */
export interface NewItem {
  readonly queue: QueueName;
  readonly changes: readonly [Change, ...Change[]];
  readonly role: QueueItem['role'];
  /** Open changes it depends on directly, without its own. */
  readonly needs: readonly ChangeKey[];
  /** Items of those changes that are here. */
  readonly neededItems: readonly Uuid[];
  /** The event that enqueues it, or the change that brought it along. */
  readonly event: Entry;
}

/** @returns the record, in state `window` or `dependency` and behind no item. The caller appends it to its queue. */
export function newItem(
  draft: TurnDraft,
  { queue, changes, role, needs, neededItems, event }: NewItem,
): QueueItem {
  const { now, tenant, pipeline, ids } = draft.input;
  const { trigger, tenantSpan, byHand } = event;
  const heldBack = !trigger.sampled && draft.input.tracing?.holdsBack === true;
  return {
    uuid: ids.uuid(),
    tenant,
    pipeline: pipeline.name,
    queue: queue.key,
    ...(draft.manager.ownQueues ? { ownQueue: queue.name } : {}),
    changes,
    role,
    origin: {
      event: trigger.uuid,
      eventType: trigger.type,
      eventSpan: trigger.span,
      tenantSpan,
      receivedAt: trigger.receivedAt,
      connection: trigger.connection,
      ...(byHand === undefined ? {} : { byHand }),
      ...(heldBack && trigger.heldSpans !== undefined ? { heldSpans: trigger.heldSpans } : {}),
    },
    sampled: trigger.sampled,
    ...(heldBack ? { heldBack } : {}),
    ...(trigger.traceState === undefined ? {} : { traceState: trigger.traceState }),
    enqueuedAt: now,
    position: placesTaken(draft, queue.key) + 1,
    phase: { phase: 'queued' },
    behind: null,
    dependsOn: needs,
    ...(neededItems.length === 0 ? {} : { neededItems }),
    buildset: newBuildset(draft, 1, null),
    earlier: [],
    timeline: [{ state: role === 'dependency' ? 'dependency' : 'window', since: now }],
    events: [],
    reports: [],
    startReported: false,
  };
}

/** Items that left in this turn are still in the queue's list. */
function placesTaken(draft: TurnDraft, queue: string): number {
  const items = draft.queues.get(queue)?.items ?? [];
  return items.filter(uuid => draft.item(uuid) !== undefined).length;
}

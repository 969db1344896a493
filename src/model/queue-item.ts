/**
 * A queue item: one change (or a cycle of changes) on its way through one pipeline, with all that ever happened to it.
 * One stored record holds the item, its buildsets and their builds, so that a reset of N items is a few multi-writes.
 *
 *     queued ──► reporting {intent} ──► left {reason}
 *        └───────────────────────────────►
 *
 * What it does while queued (preparing, running) is the stage of its current buildset; whether it is failing, outside
 * the window or behind a failing item is derived (`src/pipeline/standing.ts`) and never stored.
 *
 * The uuid is the item's trace id; everything in here with a start and an end becomes a span of that trace.
 */
import type { Nanoseconds } from '../lib/clock.ts';
import type { SpanId, TraceId, Uuid } from '../lib/ids.ts';
import type { BuildSet } from './build-set.ts';
import type { LeaveCode, Remover } from './cause.ts';
import type { Change, ChangeKey } from './change.ts';
import type { HostWait } from './host-trouble.ts';
import type { ItemStateName } from './item-states.ts';
import type { Json } from './job.ts';
import type { ReportAction } from './pipeline.ts';
import type { PipelineName, TenantName } from './project.ts';
import type { BuildSetResult } from './results.ts';
import type { SpanRecord } from './span.ts';
import type { Step } from './step.ts';
import type { MoreTakeovers, Takeover } from './takeover.ts';

/** A state of the item and its begin; it ends where the next entry begins. */
export interface TimelineEntry {
  readonly state: ItemStateName;
  readonly since: Nanoseconds;
  /** What it waits for, e.g. `acme/app master/login,3f2a91c0` or a job. */
  readonly subject?: string;
  /** The item it waits for; absent: none, or not recorded. */
  readonly item?: Uuid;
}

/** A moment in the life of an item; becomes an event of its span. */
export interface ItemEvent {
  readonly at: Nanoseconds;
  readonly name:
    | 'moved'
    | 'reset'
    | 'failing'
    /** Fail-fast stops builds while the item goes on. A reset or leaving stops them as well, and is an event or phase of its own. */
    | 'cancel-requested'
    | 'dequeue-requested'
    /** It went to the head of its queue, or as far ahead as it could, at a person's request. */
    | 'promoted'
    | 'retest'
    /** The host landed it with other contents than were tested. */
    | 'landed-tree-differs'
    | 'window-entered';
  readonly facts: { readonly [name: string]: string | number | boolean };
}

type ItemPhase =
  | { readonly phase: 'queued' }
  /** The intent is durable before the host is asked; a crash repeats the question, not the deed. */
  | { readonly phase: 'reporting'; readonly report: Uuid; readonly action: ReportAction }
  | {
      readonly phase: 'left';
      readonly at: Nanoseconds;
      readonly reason: LeaveCode;
      readonly result: BuildSetResult;
      /** What removed it before it was reported, when known. */
      readonly remover?: Remover;
      /** How wide its queue was until then. Absent: without limit, not learnt, or not recorded. */
      readonly window?: number;
    };

/**
 * `withdrawn`: nothing was sent, because the item's project had left the tenant, or a change that had to land first did not.
 * `withheld`: nothing was sent, because the tenant is in shadow mode.
 */
export type ReportEnd = 'done' | 'refused' | 'failed' | 'withdrawn' | 'withheld';

/** Characters. An item is one node of the store. */
export const LONGEST_WITHHELD = 4_000;

/** A report that was requested for the item, and its result. */
export interface ReportRecord {
  readonly uuid: Uuid;
  readonly action: ReportAction;
  readonly requestedAt: Nanoseconds;
  readonly done: null | {
    readonly at: Nanoseconds;
    readonly outcome: ReportEnd;
    /** Of a report that was withheld, the text that it would have had; at most {@link LONGEST_WITHHELD} characters. */
    readonly message?: string;
    /** One entry per reporter that was asked. */
    readonly parts: readonly {
      readonly kind: 'HostReport' | 'HostMerge';
      readonly connection: string;
      /** Of a report about several changes, the one of this part; absent: the report, or what was left of it, is about one. */
      readonly change?: ChangeKey;
      readonly startedAt: Nanoseconds;
      readonly endedAt: Nanoseconds;
      readonly tries: number;
      readonly outcome: ReportEnd;
      /** Why it was not done; absent: it was, or the reason is not recorded. */
      readonly reason?: 'base-moved' | 'not-merged' | 'failed' | 'host' | 'project-removed' | 'shadow-mode';
      readonly text?: string;
      /** Requests to the host and waits for it, of all tries; absent: the driver recorded none, or they are not kept. */
      readonly steps?: readonly Step[];
      /** What the reporter wants handed to the item's next report about this change; absent: nothing. */
      readonly remembered?: { readonly change: ChangeKey; readonly memory: Json };
    }[];
  };
}

/** The event that enqueued it, for links from the item's trace back to the event's. */
interface ItemOrigin {
  /** Uuid of the trigger event; its ingestion trace. */
  readonly event: Uuid;
  readonly eventType: string;
  /** Name of the ingestion span's kind, e.g. `GitEvent`. */
  readonly eventSpan: { readonly traceId: TraceId; readonly spanId: SpanId };
  readonly tenantSpan: { readonly traceId: TraceId; readonly spanId: SpanId };
  readonly receivedAt: Nanoseconds;
  readonly connection: string;
  /** Of an item that is held back: the traces of the event and of the tenant's, exported with it when it is kept. Bounded. */
  readonly heldSpans?: readonly SpanRecord[];
  /** An operator had this change enter: requirements of the pipeline do not count for it. Absent: a trigger did. */
  readonly byHand?: { readonly by: string; readonly change: ChangeKey };
}

/** One item of one pipeline. Stored as the record `queue-item` until it leaves, then kept in the history. */
export interface QueueItem {
  readonly uuid: Uuid;
  readonly tenant: TenantName;
  readonly pipeline: PipelineName;
  /** Key of the change queue it is in. */
  readonly queue: string;
  /** The name, for people, of a queue that its change has for itself: `own-queues.ts`. Absent: changes share the queue. */
  readonly ownQueue?: string;
  /** Oldest first, never empty; more than one in a dependency cycle. */
  readonly changes: readonly [Change, ...Change[]];
  /** A dependency item holds a place so that items behind are tested with it; it runs and reports nothing. */
  readonly role: 'live' | 'dependency';
  readonly origin: ItemOrigin;
  readonly sampled: boolean;
  /**
   * Not chosen by ratio, but `[tracing] keep` may still want it: its spans are made when it leaves, all or none. For jobs
   * the trace is not sampled.
   */
  readonly heldBack?: true;
  /** It was held back, and a rule of `[tracing] keep` matched when it left: its spans are exported. */
  readonly kept?: true;
  /** W3C trace state for jobs; absent: none. */
  readonly traceState?: string;
  readonly enqueuedAt: Nanoseconds;
  /** Its place in its queue when it entered, 1 the head; null: not recorded. */
  readonly position: number | null;
  readonly phase: ItemPhase;
  /** It waits for a code host, or is asking it again; absent: it does not. */
  readonly hostWait?: HostWait;
  /** The item whose tested state this one extends; null: the branch tip. Not always the next one ahead in the queue. */
  readonly behind: Uuid | null;
  /** Changes it depends on directly. */
  readonly dependsOn: readonly ChangeKey[];
  /** Items of those changes that were in the pipeline when it entered. */
  readonly neededItems?: readonly Uuid[];
  readonly buildset: BuildSet;
  /** Superseded ones, oldest first. */
  readonly earlier: readonly BuildSet[];
  /** Never empty: begins at `enqueuedAt`; each entry ends where the next begins, the last one when the item leaves. */
  readonly timeline: readonly [TimelineEntry, ...TimelineEntry[]];
  readonly events: readonly ItemEvent[];
  readonly reports: readonly ReportRecord[];
  /** Changes of the pipeline's scheduler while the item was in it, oldest first; absent: none. */
  readonly takeovers?: readonly Takeover[];
  /** Those that are not listed. */
  readonly moreTakeovers?: MoreTakeovers;
  /** The start report was asked for. */
  readonly startReported: boolean;
}

/** All its buildsets, oldest first. */
export function buildsetsOf(item: QueueItem): readonly BuildSet[] {
  return [...item.earlier, item.buildset];
}

/** Whether its spans are exported; those of an item that is held back are not until it leaves. */
export function isExported({ sampled, kept }: Pick<QueueItem, 'sampled' | 'kept'>): boolean {
  return sampled || kept === true;
}

/** When it left; null: it is still in its queue. */
export function endOfItem(item: QueueItem): Nanoseconds | null {
  return item.phase.phase === 'left' ? item.phase.at : null;
}

/** Notices: the moments of an item that people ask to be informed of, by the rules of `[notify NAME]`. */
import type { Nanoseconds } from '../lib/clock.ts';
import type { Uuid } from '../lib/ids.ts';

/** All events that a rule may name. */
export const NOTICE_EVENTS = ['landed', 'failed', 'reset-twice', 'head-stuck', 'eta-slipped'] as const;
/** One of {@link NOTICE_EVENTS}. */
export type NoticeEvent = (typeof NOTICE_EVENTS)[number];

/** What a message is about, beside its item. Each pair is sent once for an item by one rule. */
export interface Notice {
  readonly event: NoticeEvent;
  /** Of a stuck head what it waits for, e.g. `executor`; otherwise empty. */
  readonly cause: string;
}

/** What is remembered of an item in its queue, so that nothing is sent twice. Part of the record `pipeline-notices`. */
export interface WatchedItem {
  readonly item: Uuid;
  /** When it was first seen at the head of its queue; absent: it was not. */
  readonly headSince?: Nanoseconds;
  /** The likely time of its landing when one was first forecast, milliseconds since the epoch; absent: none was. */
  readonly said?: number;
  /** What was sent: rule, event and cause of each. */
  readonly sent: readonly string[];
}

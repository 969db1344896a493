/** Attributes and span events for the outcome of an internal event or of an operator's request. */
import type { Nanoseconds } from '../../lib/clock.ts';
import type { Uuid } from '../../lib/ids.ts';
import type { LeaveCode } from '../../model/cause.ts';
import type { SpanRecord } from '../../model/span.ts';
import { type AttributeInput, eventAttributes } from '../attribute-values.ts';

/** What the event led to: items that left in its turn, a new layout, or nothing. */
export interface EventEffect {
  readonly outcome:
    | 'halted'
    | 'enqueued'
    | 'dequeued'
    | 'promoted'
    | 'rerun'
    | 'reconfigured'
    | 'held'
    | 'released'
    | 'refused'
    | 'nothing-to-do';
  /** A code, e.g. `being-reported`; absent: the code of the first item that left. */
  readonly reason?: string;
  /** Why it was asked for, in the operator's words; absent: not said. */
  readonly detail?: string;
  /** Items that left because of it. */
  readonly left: readonly { readonly item: Uuid; readonly change: string; readonly code: LeaveCode }[];
  /** The item that entered, or runs again, because of it; absent: none. */
  readonly item?: Uuid;
  /** Items that were promoted because of it; absent: none. */
  readonly promoted?: readonly { readonly item: Uuid; readonly change: string }[];
}

/** Maximum number of items named on one span. */
const MOST_ITEMS = 64;

/** Names only the first of several items; {@link effectEvents} has all. */
export function effectAttributes({
  outcome,
  reason,
  detail,
  left,
  promoted,
  item,
}: EventEffect): AttributeInput {
  return {
    eventOutcome: outcome,
    detail,
    reason: reason ?? left[0]?.code,
    itemId: item ?? left[0]?.item ?? promoted?.[0]?.item,
  };
}

/** One `dequeued` or `promoted` per item. */
export function effectEvents({ left, promoted = [] }: EventEffect, at: Nanoseconds): SpanRecord['events'] {
  const events = [
    ...left.map(facts => ({ at, name: 'dequeued', attributes: eventAttributes(facts) })),
    ...promoted.map(facts => ({ at, name: 'promoted', attributes: eventAttributes(facts) })),
  ];
  return events.slice(0, MOST_ITEMS);
}

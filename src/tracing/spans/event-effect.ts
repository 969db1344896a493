/** Attributes and span events for the outcome of an internal event or of an operator's request. */
import type { Nanoseconds } from '../../lib/clock.ts';
import type { Uuid } from '../../lib/ids.ts';
import type { LeaveCode } from '../../model/cause.ts';
import type { SpanRecord } from '../../model/span.ts';
import { type AttributeInput, eventAttributes } from '../attribute-values.ts';

/** What the event led to: items that left in its turn, a new layout, or nothing. */
export interface EventEffect {
  readonly outcome: 'dequeued' | 'reconfigured' | 'refused' | 'nothing-to-do';
  /** A code, e.g. `being-reported`; absent: the code of the first item that left. */
  readonly reason?: string;
  /** Items that left because of it. */
  readonly left: readonly { readonly item: Uuid; readonly change: string; readonly code: LeaveCode }[];
}

/** Maximum number of items named on one span. */
const MOST_ITEMS = 64;

/** Names only the first of several items; {@link effectEvents} has all. */
export function effectAttributes({ outcome, reason, left }: EventEffect): AttributeInput {
  return { eventOutcome: outcome, reason: reason ?? left[0]?.code, itemId: left[0]?.item };
}

/** One `dequeued` per item. */
export function effectEvents({ left }: EventEffect, at: Nanoseconds): SpanRecord['events'] {
  return left.slice(0, MOST_ITEMS).map(({ item, change, code }) => ({
    at,
    name: 'dequeued',
    attributes: eventAttributes({ item, change, code }),
  }));
}

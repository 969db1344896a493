/**
 * How many items of a queue run at the same time: additive increase, multiplicative decrease, as configured. A merged item widens
 * the window; a *test* failure reported at the head narrows it. Conflicts, invalid configuration and refusals of the host
 * say nothing about how far it is safe to speculate and leave it alone.
 *
 *     window 20, decrease exponential 2, floor 3:  20 → 10 → 5 → 3 → 3
 */
import { aboutItem } from '../model/about-item.ts';
import type { WindowPolicy } from '../model/pipeline.ts';
import type { QueueItem } from '../model/queue-item.ts';
import type { QueueDraft } from './queue-draft.ts';
import type { TurnDraft } from './turn-draft.ts';

/**
 * Items of one queue that are tested at the same time at most, also with an unlimited window. Each is tested behind all items ahead,
 * so its merge request grows with its position, and no gate lands 200 changes in a row.
 */
export const DEEPEST = 200;

/** Is the item at this position (from 0, live items only) inside? Window 0: as deep as it goes. */
export function isInside(window: number, position: number): boolean {
  return position < Math.min(window === 0 ? DEEPEST : window, DEEPEST);
}

/** The window after a merge; it never shrinks, also when it has been above the ceiling. 0 stays unlimited. */
export function widened(window: number, policy: WindowPolicy): number {
  if (window === 0) return 0;
  const { type, factor } = policy.increase;
  const next = Math.floor(type === 'linear' ? window + factor : window * factor);
  return Math.max(window, Math.min(next, policy.ceiling ?? next));
}

/** Never grows, even when the window has always been below the floor. */
export function narrowed(window: number, policy: WindowPolicy): number {
  if (window === 0) return 0;
  const { type, factor } = policy.decrease;
  const next = Math.floor(type === 'linear' ? window - factor : window / factor);
  return Math.min(window, Math.max(next, policy.floor, 1));
}

/**
 * A queue's window under the present policy. A window that can neither grow nor shrink is as configured; any other keeps what it has
 * learnt, within its bounds.
 */
export function fitted(window: number, policy: WindowPolicy): number {
  const { initial, floor, ceiling } = policy;
  if (initial === 0 || window === 0) return initial;
  if (widened(initial, policy) === initial && narrowed(initial, policy) === initial) return initial;
  const atLeast = Math.max(window, Math.min(floor, initial));
  return Math.min(atLeast, ceiling ?? atLeast);
}

/** Applies the configured policy to the queues. */
export function fitWindows(draft: TurnDraft): void {
  const policy = draft.input.pipeline.window;
  for (const queue of draft.queues.due()) {
    const next = draft.manager.window === 'learnt' ? fitted(queue.window, policy) : policy.initial;
    if (next === queue.window) continue;
    const [first] = draft.itemsOf(queue);
    if (first !== undefined) noteWindow(draft, queue, first, next, 'its configuration changed');
    queue.window = next;
  }
}

function noteWindow(draft: TurnDraft, queue: QueueDraft, item: QueueItem, next: number, why: string): void {
  draft.decide(
    'window-changed',
    aboutItem(item),
    `the window of queue ${queue.name} went from ${sizeText(queue.window)} to ${sizeText(next)}: ${why}`,
  );
}

function sizeText(window: number): string {
  return window === 0 ? 'unlimited' : `${window}`;
}

/** After a report from the head: `widen` when it merged, `narrow` when it failed its tests. Nothing where windows are not learnt. */
export function adjustWindow(
  draft: TurnDraft,
  queue: QueueDraft,
  item: QueueItem,
  direction: 'widen' | 'narrow',
): void {
  if (draft.manager.window !== 'learnt') return;
  const policy = draft.input.pipeline.window;
  const next = direction === 'widen' ? widened(queue.window, policy) : narrowed(queue.window, policy);
  if (next === queue.window) return;
  noteWindow(draft, queue, item, next, direction === 'widen' ? 'an item merged' : 'an item failed its tests');
  queue.window = next;
}

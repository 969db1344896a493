/** Finished items of one pipeline from the history, the newest first, in pages small enough for an event loop that serves others. */
import { setImmediate } from 'node:timers/promises';
import type { Nanoseconds } from '../lib/clock.ts';
import type { QueueItem } from '../model/queue-item.ts';
import type { History } from './history.ts';

/** Pages of the history to read; a page of a quiet pipeline may be empty. */
const MOST_PAGES = 500;

/** Which, and how many. */
export interface FinishedQuestion {
  readonly tenant: string;
  readonly pipeline: string;
  readonly since: Nanoseconds;
  /** Absent: until now. */
  readonly until?: Nanoseconds;
  /** Items. */
  readonly most: number;
  /** Items of one page: they are decoded without a break. */
  readonly page: number;
}

/**
 * Other requests are served between two pages.
 *
 * @param take gets each item; false: no more are wanted.
 * @returns the time from which every item was taken.
 */
export async function takeFinished(
  history: Pick<History, 'itemsLeft'>,
  { most, page, ...question }: FinishedQuestion,
  take: (item: QueueItem) => boolean,
): Promise<Nanoseconds> {
  let before: number | undefined;
  let taken = 0;
  for (let pages = 1; ; pages++) {
    const { items, next, reached } = await history.itemsLeft({
      ...question,
      limit: Math.min(page, most - taken),
      ...(before === undefined ? {} : { before }),
    });
    const isEnough = items.some(item => !take(item));
    taken += items.length;
    await setImmediate();
    if (next === null || reached === null) return question.since;
    if (isEnough || taken >= most || pages >= MOST_PAGES) return reached;
    before = next;
  }
}

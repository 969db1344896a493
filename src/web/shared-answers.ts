/**
 * Answers that cost much, for whoever asks: one is made at a time, all who ask the same within {@link KEEP_MS} share it, and only
 * so many questions wait. Somebody who asks for something else every time keeps nobody's memory and the database busy with one
 * question at most.
 *
 *     const shared = sharedAnswers<DelaysAnswer>(clock);
 *     const answer = shared(key, () => make());     // undefined: too many wait, ask again after RETRY_AFTER_S
 */
import type { Clock } from '../lib/clock.ts';

/** Milliseconds for which an answer is as good as a new one. */
export const KEEP_MS = 10_000;
/** Seconds after which somebody who was turned away may ask again. */
export const RETRY_AFTER_S = 10;
/** Answers not yet made; each of them has one who asked first, and others who wait with them. */
export const MOST_WAITING_ANSWERS = 8;
const MOST_KEPT = 100;

interface Entry<T> {
  readonly until: number;
  readonly answer: Promise<T>;
}

export type SharedAnswers<T> = (key: string, make: () => Promise<T>) => Promise<T> | undefined;

export function sharedAnswers<T>(clock: Pick<Clock, 'monotonic'>): SharedAnswers<T> {
  const known = new Map<string, Entry<T>>();
  let waiting = 0;
  let last: Promise<unknown> = Promise.resolve();
  return (key, make) => {
    const now = clock.monotonic();
    const current = known.get(key);
    if (current !== undefined && current.until > now) return current.answer;
    if (waiting >= MOST_WAITING_ANSWERS) return undefined;
    waiting += 1;
    const answer = last.then(make).finally(() => {
      waiting -= 1;
    });
    const entry = { until: now + KEEP_MS, answer };
    // The oldest gives way; whoever waits for it has it all the same.
    known.delete(key);
    known.set(key, entry);
    const [oldest] = known.keys();
    if (known.size > MOST_KEPT && oldest !== undefined) known.delete(oldest);
    last = answer.catch(() => {
      // Whoever asked is told of a failure; the next one tries again, unless somebody does already.
      if (known.get(key) === entry) known.delete(key);
    });
    return answer;
  };
}

/**
 * Costly answers to public requests: computed one at a time, shared by all equal requests within {@link KEEP_MS}, with a bounded
 * number of waiting requests. A client that varies its requests cannot fill the memory or run more than one query at a time.
 *
 *     const shared = sharedAnswers<DelaysAnswer>(clock);
 *     const answer = shared(key, () => make());     // undefined: too many wait, see tooManyWait
 */
import type { Clock } from '../lib/clock.ts';
import type { HttpRefusal } from './answer.ts';

/** Milliseconds for which an answer is reused. */
export const KEEP_MS = 10_000;
/** `Retry-After` of a refused request, in seconds. */
const RETRY_AFTER_S = 10;
/** Limit of answers that are not computed yet. */
export const MOST_WAITING_ANSWERS = 8;
const MOST_KEPT = 100;

interface Entry<T> {
  readonly until: number;
  readonly answer: Promise<T>;
}

/** 503. @param what was asked for, in the plural. */
export function tooManyWait(what: string): HttpRefusal {
  return askLater(`too many requests for ${what}; try again later`);
}

/** 503. @param error for people. */
export function askLater(error: string): HttpRefusal {
  const headers = { 'Retry-After': String(RETRY_AFTER_S) };
  return { kind: 'refused', status: 503, error, place: 'request', headers };
}

/** Undefined: too many wait. Rejects as `make` does, for all that share it. @param key all that the answer depends on, besides the time. */
export type SharedAnswers<T> = (key: string, make: () => Promise<T>) => Promise<T> | undefined;

/** One per kind of answer, with a queue and a memory of its own. @param clock monotonic. */
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
    // The oldest is evicted; requests that wait for it still get it.
    known.delete(key);
    known.set(key, entry);
    const [oldest] = known.keys();
    if (known.size > MOST_KEPT && oldest !== undefined) known.delete(oldest);
    last = answer.catch(() => {
      // The requests that wait get the error; the next request tries again, unless a newer entry does already.
      if (known.get(key) === entry) known.delete(key);
    });
    return answer;
  };
}

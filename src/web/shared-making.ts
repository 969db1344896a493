/**
 * Large answers are made one at a time: a request for one that is being made, or that waits to be made, gets that. Clients that ask
 * together, or again before they have the answer, cost no more than one.
 */

/** @returns the answer under this key. Rejects as `make` does, for all that share it. */
export type SharedMaking<T> = (key: string, make: () => Promise<T>) => Promise<T>;

/** One per kind of answer; it keeps none that is made. */
export function sharedMaking<T>(): SharedMaking<T> {
  const making = new Map<string, Promise<T>>();
  let last: Promise<unknown> = Promise.resolve();
  return (key, make) => {
    const known = making.get(key);
    if (known !== undefined) return known;
    const answer = last.then(make).finally(() => making.delete(key));
    making.set(key, answer);
    last = answer.catch(() => {});
    return answer;
  };
}

/** Runs at most `limit` tasks concurrently; the others wait in order. */
export type Limiter = <T>(work: () => Promise<T>) => Promise<T>;

/** A task that rejects frees its place like any other. Waiting tasks cannot be withdrawn. */
export function createLimiter(limit: number): Limiter {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async work => {
    // The next waiter takes the place of the task that ended, so `running` does not change.
    if (running >= limit) await new Promise<void>(resolve => waiting.push(resolve));
    else running += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}

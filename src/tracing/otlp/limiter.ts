/** Lets at most `limit` things happen at once; the others wait their turn, first come first served. */
export type Limiter = <T>(work: () => Promise<T>) => Promise<T>;

export function createLimiter(limit: number): Limiter {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async work => {
    // Whoever is woken takes over the place of the one that ended: `running` stays as it is in between.
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

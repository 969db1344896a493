/**
 * How long this thread computes without giving the event loop its turn: processor time, so that a busy machine does not count.
 *
 *     const cost = measureTurns();
 *     …
 *     expect(cost.stop()).toBeLessThan(50);      // milliseconds of the most expensive turn
 */
export function measureTurns(): { readonly stop: () => number } {
  let most = 0;
  let before = used();
  let next = setImmediate(look);

  function look(): void {
    const now = used();
    most = Math.max(most, now - before);
    before = now;
    next = setImmediate(look);
  }

  return {
    stop() {
      clearImmediate(next);
      return Math.max(most, used() - before);
    },
  };
}

/** Milliseconds. */
function used(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

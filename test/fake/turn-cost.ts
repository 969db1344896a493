/**
 * How long this thread computes without giving the event loop its turn: processor time, so that a busy machine does not count.
 *
 *     const cost = measureTurns();
 *     …
 *     expect(cost.stop()).toBeLessThan(50);      // milliseconds of the most expensive turn, and at most TICK more
 */
export function measureTurns(): { readonly stop: () => number } {
  let most = 0;
  let before = used();
  const timer = setInterval(() => {
    const now = used();
    most = Math.max(most, now - before);
    before = now;
  }, TICK);
  return {
    stop() {
      clearInterval(timer);
      return Math.max(most, used() - before);
    },
  };
}

/** Milliseconds between two looks. */
const TICK = 2;

/** Milliseconds. */
function used(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

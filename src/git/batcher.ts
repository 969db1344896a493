/**
 * Lets many callers share one expensive call. What is asked for while a call runs waits and goes together into the next one;
 * what is asked for in the same turn of the event loop goes together into the first. Nobody is served by a call that began
 * before they asked, so an answer is never older than its question.
 */
export function createBatcher<In, Out>(
  run: (batch: readonly In[]) => Promise<readonly Out[]>,
): (item: In) => Promise<Out> {
  let waiting: {
    readonly item: In;
    readonly resolve: (out: Out) => void;
    readonly reject: (error: unknown) => void;
  }[] = [];
  let running = false;

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      // Callers of this turn of the event loop get on board.
      await new Promise(resolve => setImmediate(resolve));
      const batch = waiting;
      waiting = [];
      try {
        const results = await run(batch.map(({ item }) => item));
        batch.forEach(({ resolve, reject }, index) => {
          const result = results[index];
          if (result === undefined) reject(new Error('a batch gave fewer answers than it had questions'));
          else resolve(result);
        });
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    running = false;
  }

  return item =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (running) return;
      running = true;
      void drain();
    });
}

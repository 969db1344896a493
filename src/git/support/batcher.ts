/**
 * Lets many callers share one expensive call. Requests that come while a call runs are served together by the next one;
 * requests of one turn of the event loop are served together by the first. No request is served by a call that began before
 * it, so an answer is never older than its question.
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
      // Collects the requests of this turn of the event loop.
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

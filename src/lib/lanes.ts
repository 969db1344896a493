/**
 * Tasks side by side, except those that must keep their order: tasks of one key run one after the other, in the order
 * given, and no more than `most` run at a time.
 *
 *     const lanes = createLanes(32);
 *     for (const each of found) lanes.run(each.item, () => carryOut(each));
 *     await lanes.idle();
 *
 * After a task that fails no further one begins; `failed` aborts with its error and `idle` rejects with it.
 */
export interface Lanes {
  readonly failed: AbortSignal;
  run(key: string, task: () => Promise<void>): void;
  /** As if a task had failed with this error. */
  stop(error: unknown): void;
  /** Resolves when nothing runs or waits. @throws the error of the first task that failed, after those under way have ended. */
  idle(): Promise<void>;
}

export function createLanes(most: number): Lanes {
  const stop = new AbortController();
  const waiting: { readonly key: string; readonly task: () => Promise<void> }[] = [];
  const running = new Map<string, Promise<void>>();

  function begin(): void {
    while (running.size < most && !stop.signal.aborted) {
      const next = waiting.findIndex(({ key }) => !running.has(key));
      const [chosen] = next < 0 ? [] : waiting.splice(next, 1);
      if (chosen === undefined) return;
      running.set(chosen.key, runOne(chosen.key, chosen.task));
    }
  }

  function fail(error: unknown): void {
    if (!stop.signal.aborted) stop.abort(error);
  }

  async function runOne(key: string, task: () => Promise<void>): Promise<void> {
    try {
      await task();
    } catch (error) {
      fail(error);
    }
    running.delete(key);
    begin();
  }

  return {
    failed: stop.signal,
    run(key, task) {
      waiting.push({ key, task });
      begin();
    },
    stop: fail,
    async idle() {
      while (running.size > 0) await Promise.all(running.values());
      if (stop.signal.aborted) throw stop.signal.reason;
    },
  };
}

/**
 * Whether a worker takes new work: open ⇄ paused → shut.
 *
 *     while (await gate.passed()) {                      // waits while paused; false once shut
 *       const work = await queue.take(gate.signal);      // aborts when it is paused or shut meanwhile
 *       if (work !== undefined) …
 *     }
 */
export interface WorkGate {
  /** Aborts at the next `pause` or `shut`; another one after each `resume`. */
  readonly signal: AbortSignal;
  /** Resolves with true when open, with false when shut. */
  passed(): Promise<boolean>;
  pause(): void;
  resume(): void;
  /** Permanent. */
  shut(): void;
}

/** Open at first. One for each worker: an operator pauses and resumes it, the end of the process shuts it. */
export function createWorkGate(): WorkGate {
  let opening = Promise.withResolvers<void>();
  let current = new AbortController();
  let state: 'open' | 'paused' | 'shut' = 'open';
  opening.resolve();

  return {
    get signal() {
      return current.signal;
    },
    async passed() {
      while (state === 'paused') await opening.promise;
      return state === 'open';
    },
    pause() {
      if (state !== 'open') return;
      state = 'paused';
      opening = Promise.withResolvers<void>();
      current.abort();
    },
    resume() {
      if (state !== 'paused') return;
      state = 'open';
      current = new AbortController();
      opening.resolve();
    },
    shut() {
      state = 'shut';
      current.abort();
      opening.resolve();
    },
  };
}

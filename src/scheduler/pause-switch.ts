/**
 * Whether the loops of one scheduler may hold fences. While it is paused, each loop finishes its present step, releases its fence
 * and waits; other schedulers take over.
 *
 *     const pauseSwitch = createPauseSwitch();
 *     await pauseSwitch.resumed(signal);                 // a loop, before it asks for its fence
 *     using active = pauseSwitch.begin();                // … and while it holds it: `active.paused` aborts with the next pause
 *     pauseSwitch.pause();  await pauseSwitch.idle();    // all fences are released
 */
export interface ActivePeriod extends Disposable {
  readonly paused: AbortSignal;
}

/** One for each scheduler; an operator's request and the end of the process pause it. */
export interface PauseSwitch {
  /** Returns immediately; await `idle` for the release of the fences. */
  pause(): void;
  resume(): void;
  /** Resolves while not paused. Rejects with the signal's reason when aborted. */
  resumed(signal: AbortSignal): Promise<void>;
  /** Call when not paused. Disposing of it says that the fence is released. */
  begin(): ActivePeriod;
  /** Resolves when every active period has ended. */
  idle(): Promise<void>;
}

/** Not paused at first. */
export function createPauseSwitch(): PauseSwitch {
  let paused = new AbortController();
  let resumed = Promise.withResolvers<void>();
  let idle = Promise.withResolvers<void>();
  let active = 0;
  resumed.resolve();

  return {
    pause() {
      if (paused.signal.aborted) return;
      resumed = Promise.withResolvers();
      paused.abort(new Error('the scheduler is paused'));
    },
    resume() {
      if (!paused.signal.aborted) return;
      paused = new AbortController();
      resumed.resolve();
    },
    async resumed(signal) {
      const aborted = Promise.withResolvers<never>();
      const abort = (): void => aborted.reject(signal.reason);
      signal.throwIfAborted();
      signal.addEventListener('abort', abort, { once: true });
      try {
        while (paused.signal.aborted) await Promise.race([resumed.promise, aborted.promise]);
      } finally {
        signal.removeEventListener('abort', abort);
      }
    },
    begin() {
      active += 1;
      let isOver = false;
      return {
        paused: paused.signal,
        [Symbol.dispose]() {
          if (isOver) return;
          isOver = true;
          active -= 1;
          if (active === 0) {
            idle.resolve();
            idle = Promise.withResolvers();
          }
        },
      };
    },
    async idle() {
      while (active > 0) await idle.promise;
    },
  };
}

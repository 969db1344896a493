/**
 * Whether the loops of one scheduler may hold fences. Off duty, each ends what it is in the middle of, gives its fence back
 * and waits, while other schedulers go on; nothing is lost by it and nothing has to be told to anybody.
 *
 *     const duty = createDuty();
 *     await duty.on(signal);                 // a loop, before it asks for its fence
 *     using shift = duty.shift();            // … and while it holds it: `shift.over` aborts with the next pause
 *     duty.pause();  await duty.idle();      // everything is given back
 */
export interface Shift extends Disposable {
  readonly over: AbortSignal;
}

export interface Duty {
  pause(): void;
  resume(): void;
  /** Returns while on duty. Rejects with the signal's reason when aborted. */
  on(signal: AbortSignal): Promise<void>;
  shift(): Shift;
  /** Resolves when no shift is left. */
  idle(): Promise<void>;
}

export function createDuty(): Duty {
  let over = new AbortController();
  let resumed = Promise.withResolvers<void>();
  let left = Promise.withResolvers<void>();
  let shifts = 0;
  resumed.resolve();

  return {
    pause() {
      if (over.signal.aborted) return;
      resumed = Promise.withResolvers();
      over.abort(new Error('the scheduler is paused'));
    },
    resume() {
      if (!over.signal.aborted) return;
      over = new AbortController();
      resumed.resolve();
    },
    async on(signal) {
      const aborted = Promise.withResolvers<never>();
      const abort = (): void => aborted.reject(signal.reason);
      signal.throwIfAborted();
      signal.addEventListener('abort', abort, { once: true });
      try {
        while (over.signal.aborted) await Promise.race([resumed.promise, aborted.promise]);
      } finally {
        signal.removeEventListener('abort', abort);
      }
    },
    shift() {
      shifts += 1;
      let isOver = false;
      return {
        over: over.signal,
        [Symbol.dispose]() {
          if (isOver) return;
          isOver = true;
          shifts -= 1;
          if (shifts === 0) {
            left.resolve();
            left = Promise.withResolvers();
          }
        },
      };
    },
    async idle() {
      while (shifts > 0) await left.promise;
    },
  };
}

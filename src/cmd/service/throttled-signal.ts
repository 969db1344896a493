/**
 * Forwards signals at most once per {@link INTERVAL}: for values that change with every commit but matter little.
 *
 *     const throttled = createThrottledSignal(notifyAll);
 *     outbox.onChange(throttled.touch);
 */
export interface ThrottledSignal {
  /** Signals: forwarded immediately, or at the end of the current interval. */
  readonly touch: () => void;
  close(): void;
}

/** Milliseconds. */
const INTERVAL = 1_000;

/** @param forward called within `touch`, or by a timer at the end of the interval; `close` drops a pending call. */
export function createThrottledSignal(forward: () => void): ThrottledSignal {
  let resting: NodeJS.Timeout | undefined;
  let again = false;

  function rest(): void {
    resting = setTimeout(() => {
      resting = undefined;
      if (again) fire();
    }, INTERVAL);
  }
  function fire(): void {
    again = false;
    rest();
    forward();
  }
  return {
    touch() {
      if (resting === undefined) fire();
      else again = true;
    },
    close() {
      clearTimeout(resting);
      again = false;
    },
  };
}

/** A bound on how many run at a time; the others wait in order. */
export interface Places {
  /** Resolves when there is a place, which is free again when the result is disposed. @throws the signal's reason. */
  take(signal: AbortSignal): Promise<Disposable>;
}

export function createPlaces(most: number): Places {
  const waiting = new Set<() => void>();
  let taken = 0;

  function release(): void {
    const [next] = waiting;
    if (next === undefined) {
      taken -= 1;
      return;
    }
    waiting.delete(next);
    next();
  }

  function place(): Disposable {
    let isHeld = true;
    return {
      [Symbol.dispose]() {
        if (isHeld) release();
        isHeld = false;
      },
    };
  }

  return {
    take(signal) {
      if (signal.aborted) return Promise.reject(signal.reason);
      if (taken < most) {
        taken += 1;
        return Promise.resolve(place());
      }
      return new Promise((resolve, reject) => {
        const enter = () => {
          signal.removeEventListener('abort', leave);
          resolve(place());
        };
        const leave = () => {
          waiting.delete(enter);
          reject(signal.reason);
        };
        waiting.add(enter);
        signal.addEventListener('abort', leave, { once: true });
      });
    },
  };
}

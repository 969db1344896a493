/**
 * A bound on requests under way, shared fairly: a project holds at most half of what the others leave (at least one), and freed
 * places go to the waiting projects in turn. One whose requests hang does not stop the others.
 *
 *     40 places, one busy project: 20 for it; two: 20 and 10; a third gets 5 at once
 */
export interface FairPlaces {
  /** Resolves when there is a place, which is free again when the result is disposed. @throws the signal's reason. */
  take(project: string, signal: AbortSignal): Promise<Disposable>;
}

/** @param most at least 1. */
export function createFairPlaces(most: number): FairPlaces {
  const held = new Map<string, number>();
  // In the order in which the projects are served next.
  const waiting = new Map<string, Set<() => void>>();
  let taken = 0;

  function mayEnter(project: string): boolean {
    const own = held.get(project) ?? 0;
    return taken < most && own < Math.ceil((most - (taken - own)) / 2);
  }

  function enter(project: string): Disposable {
    taken += 1;
    held.set(project, (held.get(project) ?? 0) + 1);
    let isHeld = true;
    return {
      [Symbol.dispose]() {
        if (isHeld) leave(project);
        isHeld = false;
      },
    };
  }

  function leave(project: string): void {
    taken -= 1;
    const left = (held.get(project) ?? 1) - 1;
    if (left === 0) held.delete(project);
    else held.set(project, left);
    serve();
  }

  function serve(): void {
    for (const [project, queue] of [...waiting]) {
      if (taken >= most) return;
      const [next] = queue;
      if (next === undefined || !mayEnter(project)) continue;
      waiting.delete(project);
      queue.delete(next);
      // Behind the others now.
      if (queue.size > 0) waiting.set(project, queue);
      next();
    }
  }

  function forget(project: string, entry: () => void): void {
    const queue = waiting.get(project);
    queue?.delete(entry);
    if (queue?.size === 0) waiting.delete(project);
  }

  return {
    take(project, signal) {
      if (signal.aborted) return Promise.reject(signal.reason);
      if (!waiting.has(project) && mayEnter(project)) return Promise.resolve(enter(project));
      return new Promise((resolve, reject) => {
        const entry = () => {
          signal.removeEventListener('abort', giveUp);
          resolve(enter(project));
        };
        const giveUp = () => {
          forget(project, entry);
          reject(signal.reason);
        };
        const queue = waiting.get(project) ?? new Set();
        queue.add(entry);
        waiting.set(project, queue);
        signal.addEventListener('abort', giveUp, { once: true });
      });
    },
  };
}

/**
 * Places whose events wait: a host that does not serve, a change that depends on one of such a host, a project whose configuration
 * cannot be read now. Each is retried after a growing pause of its own; all other events go on.
 */
export interface HeldPlaces {
  /** One of them failed, and no try has succeeded since. */
  isHeld(places: readonly string[]): boolean;
  /** Milliseconds until all of them may be tried; 0: now. */
  rest(places: readonly string[]): number;
  /** @param pauses milliseconds before the first, second, ... retry; the last one repeats. */
  hold(place: string, pauses: readonly number[]): void;
  release(places: readonly string[]): void;
}

interface Held {
  readonly tries: number;
  readonly until: number;
}

/** @param now milliseconds of a clock that is not adjusted. */
export function createHeldPlaces(now: () => number): HeldPlaces {
  const held = new Map<string, Held>();
  return {
    isHeld: places => places.some(place => held.has(place)),
    rest: places => Math.max(0, ...places.map(place => (held.get(place)?.until ?? 0) - now())),
    hold(place, pauses) {
      const tries = (held.get(place)?.tries ?? 0) + 1;
      const pause = pauses[Math.min(tries, pauses.length) - 1] ?? 0;
      held.set(place, { tries, until: now() + pause });
    },
    release(places) {
      for (const place of places) held.delete(place);
    },
  };
}

/**
 * The spawner's watch over the service: one that neither speaks nor ends (stopped by a signal, stuck, its machine short of memory)
 * loses its session with the store, and its builds begin again elsewhere; so what runs of them here has to end, although nobody
 * is there to say so.
 *
 * Time is counted in ticks of our own: when the whole machine stood still, both stood still, and nobody is to blame.
 */
export interface Leash {
  /** The service is there. */
  heard(): void;
}

/** Ticks until it breaks, and times the service speaks meanwhile. */
const TICKS = 10;
export const TIMES_TO_SPEAK = 5;

/** @param ms silence after which `onBroken` is called; once per silence. */
export function createLeash(ms: number, onBroken: () => void): Leash {
  let silent = 0;
  setInterval(() => {
    silent += 1;
    if (silent === TICKS) onBroken();
  }, ms / TICKS).unref();
  return {
    heard() {
      silent = 0;
    },
  };
}

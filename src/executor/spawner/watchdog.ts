/**
 * The spawner's watchdog for the service: a service that is silent without ending (stopped by a signal, stuck, its machine short of
 * memory) loses its session with the store, and its builds start again elsewhere; so the spawner has to stop those that run here.
 *
 * Time is counted in ticks of our own: when the whole machine stood still, both processes did, and the silence does not count.
 */
export interface Watchdog {
  /** The service has sent a sign of life. */
  signOfLife(): void;
}

/** Ticks until it fires, and how often the service sends a sign meanwhile. */
const TICKS = 10;
/** Signs of life the service sends in the time after which its silence counts. */
export const SIGNS_PER_LIMIT = 5;

/** @param ms silence after which `onSilent` is called; once per silence. */
export function createWatchdog(ms: number, onSilent: () => void): Watchdog {
  let silent = 0;
  setInterval(() => {
    silent += 1;
    if (silent === TICKS) onSilent();
  }, ms / TICKS).unref();
  return {
    signOfLife() {
      silent = 0;
    },
  };
}

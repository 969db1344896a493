/** What a scheduler says with the cancel of a build: when it was, as a bare time, for the worker to end its spans by. */
import { type Nanoseconds, parseNanoseconds } from '../lib/clock.ts';

export function cancelWordOf(at: Nanoseconds): Uint8Array {
  return new TextEncoder().encode(at);
}

/** Undefined: nothing was said (by a scheduler of 0.2), or something an upgraded one means. */
export function cancelTimeOf(word: Uint8Array): Nanoseconds | undefined {
  const text = new TextDecoder().decode(word);
  return /^[1-9]\d{18}$/.test(text) ? parseNanoseconds(text) : undefined;
}

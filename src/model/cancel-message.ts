/** The message with which a scheduler cancels a build: the end of the build, a bare time. The worker ends its spans by then. */
import { type Nanoseconds, parseNanoseconds } from '../lib/clock.ts';

/** The bytes that are stored with the cancel. */
export function cancelMessageOf(at: Nanoseconds): Uint8Array {
  return new TextEncoder().encode(at);
}

/** Undefined: the message is empty, or has a form that only a newer version knows. */
export function cancelTimeOf(message: Uint8Array): Nanoseconds | undefined {
  const text = new TextDecoder().decode(message);
  return /^[1-9]\d{18}$/.test(text) ? parseNanoseconds(text) : undefined;
}

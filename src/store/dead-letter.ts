/**
 * How an entry that was given up is kept: one line of JSON that says why, then its bytes as they were.
 *
 *     {"from":"/gatehouse/events/tenant/acme/trigger/0000000042","attempts":3,"at":"1795000000000000000","error":"…"}⏎<bytes>
 */
import { type Nanoseconds, parseNanoseconds } from '../lib/clock.ts';

export interface DeadLetter {
  /** Path the entry had in its queue. */
  readonly from: string;
  readonly bytes: Uint8Array;
  readonly attempts: number;
  readonly at: Nanoseconds;
  /** Message of the last error, at most {@link MAX_ERROR_CHARACTERS} long. */
  readonly error: string;
}

const MAX_ERROR_CHARACTERS = 2000;
/** What exceeds it is cut off: it was undecodable anyway, entries of our own are smaller. */
const MAX_BYTES = 950_000;
const LINE_END = 10;

/** The dead letters of the queue at `queuePath`: beside it, so that its own listing stays clean. */
export function deadLetterPath(queuePath: string): string {
  return `${queuePath}-dead`;
}

export function encodeDeadLetter(letter: Omit<DeadLetter, 'error'>, error: unknown): Uint8Array {
  const { from, attempts, at, bytes } = letter;
  const message = (error instanceof Error ? error.message : String(error)).slice(0, MAX_ERROR_CHARACTERS);
  const head = `${JSON.stringify({ from, attempts, at, error: message })}\n`;
  return Buffer.concat([Buffer.from(head), bytes.subarray(0, MAX_BYTES)]);
}

/** @throws Error when `stored` was not written by {@link encodeDeadLetter}. */
export function decodeDeadLetter(stored: Uint8Array): DeadLetter {
  const end = stored.indexOf(LINE_END);
  const head: unknown = JSON.parse(new TextDecoder().decode(stored.subarray(0, end)));
  if (typeof head !== 'object' || head === null)
    throw new Error('dead letter: its first line is not an object');
  const { from, attempts, at, error } = Object.assign({ from: '', attempts: 0, at: '0', error: '' }, head);
  return { from, attempts, at: parseNanoseconds(at), error, bytes: stored.slice(end + 1) };
}

/**
 * The stored form of a dead letter: one line with a record that gives the reason, then the entry's original bytes.
 *
 *     {"k":"dead-letter","v":1,"d":{"from":"/gatehouse/events/tenant/acme/trigger/0000000042","attempts":3,"at":"…","error":"…"}}⏎<bytes>
 */
import type { Nanoseconds } from '../lib/clock.ts';
import { enveloped, recordCodec } from '../model/codec/record.ts';
import { object, text, time, whole } from '../model/codec/schema.ts';

/** An entry that was given up: by a queue after its attempts, or by the quarantine as unreadable. */
export interface DeadLetter {
  /** Path the entry had in its queue. */
  readonly from: string;
  readonly bytes: Uint8Array;
  /** How often its handling failed; in the quarantine, the version that the node had. */
  readonly attempts: number;
  readonly at: Nanoseconds;
  /** Message of the last error, at most {@link MAX_ERROR_CHARACTERS} long. */
  readonly error: string;
}

/** The first line of the stored form: everything but the bytes. */
export const deadLetterHeadCodec = recordCodec(
  'dead-letter',
  1,
  object<Omit<DeadLetter, 'bytes'>>({ from: text, attempts: whole, at: time, error: text }),
);

const MAX_ERROR_CHARACTERS = 2000;
/** Longer entries are cut off: they were undecodable anyway; entries written by Gatehouse are smaller. */
const MAX_BYTES = 950_000;
const LINE_END = 10;

/** The dead letters of the queue at `queuePath`: beside it, so that its own listing stays clean. */
export function deadLetterPath(queuePath: string): string {
  return `${queuePath}-dead`;
}

/**
 * @param letter the entry's bytes may be anything: they are kept as they are, up to a limit.
 * @param error the last one; its message is cut at {@link MAX_ERROR_CHARACTERS}.
 */
export function encodeDeadLetter(letter: Omit<DeadLetter, 'error'>, error: unknown): Uint8Array {
  const { from, attempts, at, bytes } = letter;
  const message = (error instanceof Error ? error.message : String(error)).slice(0, MAX_ERROR_CHARACTERS);
  const head = deadLetterHeadCodec.encode({ from, attempts, at, error: message });
  return Buffer.concat([head, Buffer.of(LINE_END), bytes.subarray(0, MAX_BYTES)]);
}

/** @throws RecordError when `stored` was not written by {@link encodeDeadLetter}, or by a newer version of it. */
export function decodeDeadLetter(stored: Uint8Array): DeadLetter {
  const end = stored.indexOf(LINE_END);
  const line = end === -1 ? stored : stored.subarray(0, end);
  // 0.1.0 wrote the head without an envelope.
  const head = deadLetterHeadCodec.decode(enveloped(deadLetterHeadCodec.kind, line));
  return { ...head, bytes: stored.slice(end + 1) };
}

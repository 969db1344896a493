/**
 * Names and identities.
 *
 * A uuid is 32 lower-case hex digits. It doubles as tracing identity (see `src/tracing/`): the uuid of a queue item or an
 * event *is* its trace id, the first 16 digits of any other uuid are its span id. Ids identify; they are never a credential.
 */
import { hash, randomBytes } from 'node:crypto';

declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

/** 32 lower-case hex digits, never all zero in its first or second half. */
export type Uuid = Branded<'Uuid'>;
/** 32 hex digits: an OpenTelemetry trace id. */
export type TraceId = Branded<'TraceId'>;
/** 16 hex digits: an OpenTelemetry span id. */
export type SpanId = Branded<'SpanId'>;

/** Makes the ids of new items, buildsets, builds, requests and reports. Tests and the simulator pass one that counts. */
export interface IdMaker {
  /** Never returns the same twice. */
  uuid(): Uuid;
}

/** @throws RangeError when `text` is not 32 lower-case hex digits with non-zero halves. */
export function parseUuid(text: string): Uuid {
  if (!/^[0-9a-f]{32}$/.test(text) || /^0{16}/.test(text) || /0{16}$/.test(text)) {
    throw new RangeError(`not a uuid (32 hex digits): ${JSON.stringify(text)}`);
  }
  return text as Uuid;
}

/** Whether a path or a URL may name a uuid: checks the digits alone, so {@link parseUuid} may still refuse it. */
export function isUuid(text: string): text is Uuid {
  return /^[0-9a-f]{32}$/.test(text);
}

/** @param uuid of what has a trace of its own, such as an item or an event. */
export function traceIdOf(uuid: Uuid): TraceId {
  return uuid as string as TraceId;
}

/** The id of the span that stands for this uuid; for what has a trace of its own, its root. */
export function spanIdOf(uuid: Uuid): SpanId {
  return uuid.slice(0, 16) as SpanId;
}

/**
 * The span id of a step that has no uuid of its own (a wait, a phase): derived from its parent, so that every process
 * that knows the facts derives the same id.
 *
 * @param ordinal distinguishes steps of one name below one parent; 0 for the first.
 */
export function derivedSpanId(parent: SpanId, name: string, ordinal: number): SpanId {
  return sha256(`${parent}/${name}/${ordinal}`).slice(0, 16) as SpanId;
}

/** A uuid derived from its parts, for facts that must be the same when a step is repeated after a crash. */
export function derivedUuid(...parts: readonly string[]): Uuid {
  return sha256(parts.join('\0')).slice(0, 32) as Uuid;
}

/** @returns 64 lower-case hex digits; a string is hashed as UTF-8. */
export function sha256(data: string | Uint8Array): string {
  return hash('sha256', data, 'hex');
}

/** Bytes; a draw costs more than what it gives. */
const DRAWN_AT_ONCE = 2048;

/** The makers of processes and commands: 128 random bits, both halves non-zero as OpenTelemetry demands. */
export function randomIds(): IdMaker {
  let drawn = Buffer.alloc(0);
  return {
    uuid() {
      for (;;) {
        if (drawn.length === 0) drawn = randomBytes(DRAWN_AT_ONCE);
        const text = drawn.toString('hex', 0, 16);
        drawn = drawn.subarray(16);
        if (!/^0{16}|0{16}$/.test(text)) return text as Uuid;
      }
    },
  };
}

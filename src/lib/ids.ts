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

export interface IdMaker {
  uuid(): Uuid;
}

/** @throws RangeError when `text` is not 32 lower-case hex digits with non-zero halves. */
export function parseUuid(text: string): Uuid {
  if (!/^[0-9a-f]{32}$/.test(text) || /^0{16}/.test(text) || /0{16}$/.test(text)) {
    throw new RangeError(`not a uuid (32 hex digits): ${JSON.stringify(text)}`);
  }
  return text as Uuid;
}

export function isUuid(text: string): boolean {
  return /^[0-9a-f]{32}$/.test(text);
}

export function traceIdOf(uuid: Uuid): TraceId {
  return uuid as string as TraceId;
}

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

export function sha256(data: string | Uint8Array): string {
  return hash('sha256', data, 'hex');
}

export function randomIds(): IdMaker {
  return {
    uuid() {
      for (;;) {
        const text = randomBytes(16).toString('hex');
        if (!/^0{16}|0{16}$/.test(text)) return text as Uuid;
      }
    },
  };
}

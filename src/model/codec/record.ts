/**
 * How records are stored: JSON in an envelope that names the kind and the version, `{"k":"queue-item","v":1,"d":{...}}`.
 *
 * A record is read by every process of its version or a later one: each codec carries the step from every earlier version to
 * the next. A process that meets a record of a later version refuses it, whole and untouched, so that it never half-understands
 * and rewrites it: during a rolling upgrade that record is for the processes that were upgraded already.
 *
 *     interface Old { readonly host: string }
 *     const old = recordCodec('component', 1, object<Old>({ host: text }));
 *     const schema = object<Old & { readonly pid: number }>({ host: text, pid: whole });
 *     const codec = recordCodec('component', 2, schema, [upgradeFrom<Old>(({ host }) => ({ host, pid: 0 }))]);
 *     codec.decode(old.encode({ host: 'ci1' }))                 // { host: 'ci1', pid: 0 }
 *     old.decode(codec.encode({ host: 'ci1', pid: 7 }))         // throws RecordError, fault `newer`
 *
 * A kind that is written once and read once may be stored packed (`"z"` instead of `"d"`, `pack.ts`).
 * What a reader does with a refused record, and when a version is raised: `doc/decisions/0017-record-versions.md`.
 */
import { checkOf } from './check.ts';
import { fillInOf } from './fill-in.ts';
import { packed, unpacked } from './pack.ts';
import type { Schema } from './schema.ts';

/**
 * `newer`: nothing is wrong with the record, this process is too old for it; leave it, and what is queued behind it, to upgraded processes.
 * `broken`: no process will ever read it; it is quarantined.
 */
export type RecordFault = 'newer' | 'broken';

/** A stored record cannot be decoded. The message names the kind of the record, the field and the reason. */
export class RecordError extends Error {
  override readonly name = 'RecordError';
  readonly fault: RecordFault;
  constructor(fault: RecordFault, message: string, options?: ErrorOptions) {
    super(message, options);
    this.fault = fault;
  }
}

/** A process of a later version reads it. */
export function isNewerRecord(error: unknown): error is RecordError & { readonly fault: 'newer' } {
  return error instanceof RecordError && error.fault === 'newer';
}

/** The same error with the place of the record. */
export function newerAt(path: string, error: RecordError): RecordError {
  return new RecordError('newer', `${path}: ${error.message}`, { cause: error });
}

/** The record is damaged or foreign: it is quarantined. */
export function isBrokenRecord(error: unknown): error is RecordError & { readonly fault: 'broken' } {
  return error instanceof RecordError && error.fault === 'broken';
}

/** Encodes and decodes the records of one kind. */
export interface Codec<T> {
  readonly kind: string;
  readonly version: number;
  encode(value: T): Uint8Array;
  /** @throws RecordError when the bytes are not such a record, or one of a newer version. */
  decode(bytes: Uint8Array): T;
}

/** `packed`: larger ones are `{"k":…,"v":…,"z":"<pack.ts>"}`, which no process reads that knows only versions before the first packed one. */
type RecordForm = 'plain' | 'packed';

/** Makes the `d` of version n + 1 out of that of version n. */
export type Upgrade = (value: unknown) => unknown;

/** A step that knows the form it starts from; no living type describes it. */
export function upgradeFrom<Old>(step: (value: Old) => unknown): Upgrade {
  return value => step(value as Old);
}

const ENVELOPE = '{"k":';

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * @param schema of the data of `version`; what does not fit it is `broken`.
 * @param upgrades from version 1, from version 2, … up to the version before `version`: none may be missing.
 * @throws RangeError when one is.
 */
export function recordCodec<T>(
  kind: string,
  version: number,
  schema: Schema<T>,
  upgrades: readonly Upgrade[] = [],
  form: RecordForm = 'plain',
): Codec<T> {
  const faultOf = checkOf(schema.node);
  const fillIn = fillInOf(schema.node);
  if (upgrades.length !== version - 1)
    throw new RangeError(`${kind} version ${version} needs ${version - 1} upgrades, not ${upgrades.length}`);
  return {
    kind,
    version,
    encode(value) {
      const data = JSON.stringify(value);
      const small = form === 'packed' ? packed(data) : undefined;
      const field = small === undefined ? `"d":${data}` : `"z":"${small}"`;
      return encoder.encode(`{"k":${JSON.stringify(kind)},"v":${version},${field}}`);
    },
    decode(bytes) {
      const envelope = parseEnvelope(kind, bytes);
      if (envelope.version > version) throw newer(kind, envelope.version, version);
      let value = dataOf(kind, envelope);
      for (const upgrade of upgrades.slice(envelope.version - 1)) value = upgraded(kind, upgrade, value);
      const fault = faultOf(value);
      if (fault !== undefined) throw broken(kind, fault);
      fillIn?.(value);
      return value as T;
    },
  };
}

/**
 * The bytes of a record that an early release wrote without an envelope, as its version 1.
 *
 *     enveloped('request', Buffer.from('{"state":"requested"}'))        // {"k":"request","v":1,"d":{"state":"requested"}}
 *
 * @returns the very same bytes when they have one.
 */
export function enveloped(kind: string, bytes: Uint8Array): Uint8Array {
  const begin = Buffer.from(bytes.subarray(0, ENVELOPE.length)).toString('latin1');
  if (begin === ENVELOPE || !begin.startsWith('{"')) return bytes;
  return Buffer.concat([
    encoder.encode(`{"k":${JSON.stringify(kind)},"v":1,"d":`),
    bytes,
    encoder.encode('}'),
  ]);
}

function newer(kind: string, found: number, known: number): RecordError {
  return new RecordError(
    'newer',
    `this ${kind} record has version ${found}; this process understands up to ${known} and leaves it to upgraded ones`,
  );
}

function upgraded(kind: string, upgrade: Upgrade, value: unknown): unknown {
  try {
    return upgrade(value);
  } catch (error) {
    throw broken(kind, `its older form cannot be upgraded: ${textOf(error)}`, error);
  }
}

interface Envelope {
  readonly version: number;
  readonly data: unknown;
  readonly packed: unknown;
}

function parseEnvelope(kind: string, bytes: Uint8Array): Envelope {
  const envelope = parse(kind, bytes);
  if (envelope.k !== kind) throw broken(kind, `it says it is ${JSON.stringify(envelope.k) ?? 'of no kind'}`);
  const { v: version, d: data, z } = envelope;
  if (typeof version !== 'number' || !Number.isInteger(version) || version < 1)
    throw broken(kind, `its version is ${JSON.stringify(version) ?? 'missing'}`);
  return { version, data, packed: z };
}

/** Read in either form, whichever this process writes. */
function dataOf(kind: string, { data, packed: small }: Envelope): unknown {
  if (data !== undefined) return data;
  if (typeof small !== 'string') throw broken(kind, 'it holds no data');
  try {
    return JSON.parse(unpacked(small));
  } catch (error) {
    throw broken(kind, `its data cannot be unpacked: ${textOf(error)}`, error);
  }
}

function parse(kind: string, bytes: Uint8Array): { k?: unknown; v?: unknown; d?: unknown; z?: unknown } {
  if (bytes.byteLength === 0) throw broken(kind, 'it is empty');
  try {
    const value: unknown = JSON.parse(decoder.decode(bytes));
    if (typeof value === 'object' && value !== null) return value;
  } catch (error) {
    throw broken(kind, textOf(error), error);
  }
  throw broken(kind, 'it is not an object');
}

function broken(kind: string, reason: string, cause?: unknown): RecordError {
  return new RecordError(
    'broken',
    `a ${kind} record cannot be read: ${reason}`,
    cause === undefined ? {} : { cause },
  );
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * How records are stored: JSON in an envelope that names the kind and the version, `{"k":"queue-item","v":1,"d":{...}}`.
 *
 * A reader refuses a version newer than it knows, so that an old process never half-understands a new record.
 */
export class RecordError extends Error {
  override readonly name = 'RecordError';
}

export interface Codec<T> {
  readonly kind: string;
  readonly version: number;
  encode(value: T): Uint8Array;
  /** @throws RecordError when the bytes are not such a record, or one of a newer version. */
  decode(bytes: Uint8Array): T;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true });

export function recordCodec<T>(kind: string, version: number): Codec<T> {
  return {
    kind,
    version,
    encode: value =>
      encoder.encode(`{"k":${JSON.stringify(kind)},"v":${version},"d":${JSON.stringify(value)}}`),
    decode: bytes => {
      const envelope = parse(kind, bytes);
      if (envelope.k !== kind)
        throw new RecordError(`expected a ${kind} record, found ${JSON.stringify(envelope.k)}`);
      if (typeof envelope.v !== 'number' || envelope.v > version) {
        throw new RecordError(
          `this ${kind} record has version ${String(envelope.v)}; this process understands up to ${version}`,
        );
      }
      return envelope.d as T;
    },
  };
}

function parse(kind: string, bytes: Uint8Array): { k?: unknown; v?: unknown; d?: unknown } {
  try {
    const value: unknown = JSON.parse(decoder.decode(bytes));
    if (typeof value === 'object' && value !== null) return value;
  } catch (error) {
    throw new RecordError(
      `a ${kind} record cannot be read: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    );
  }
  throw new RecordError(`a ${kind} record cannot be read: it is not an object`);
}

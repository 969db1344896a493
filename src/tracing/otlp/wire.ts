/**
 * Reads protobuf's wire format as far as needed here: field numbers with a number or bytes.
 *
 *     for (const field of wireFields(bytes)) if (field.number === 2 && field.bytes) text = utf8(field.bytes);
 */
export interface WireField {
  /** From the message's definition: which field it is. */
  readonly number: number;
  /** Varint, fixed32 or fixed64, unsigned; 0 for bytes. */
  readonly value: bigint;
  /** Content of a length-delimited field, else undefined. */
  readonly bytes: Uint8Array | undefined;
}

/**
 * The fields of a message in order, one at a time, in constant memory.
 *
 * @throws RangeError when `data` ends in the middle of a field or has an obsolete wire type.
 */
export function* wireFields(data: Uint8Array): Generator<WireField, void> {
  const cursor = { data, at: 0 };
  while (cursor.at < data.length) {
    const tag = readSmall(cursor);
    const number = tag >>> 3;
    switch (tag & 7) {
      case 0:
        yield { number, value: readVarint(cursor), bytes: undefined };
        break;
      case 1:
        yield { number, value: readFixed(cursor, 8), bytes: undefined };
        break;
      case 2: {
        const length = readSmall(cursor);
        yield { number, value: 0n, bytes: readBytes(cursor, length) };
        break;
      }
      case 5:
        yield { number, value: readFixed(cursor, 4), bytes: undefined };
        break;
      default:
        throw new RangeError(`wire type ${tag & 7}`);
    }
  }
}

interface Cursor {
  readonly data: Uint8Array;
  at: number;
}

function readByte(cursor: Cursor): number {
  const byte = cursor.data[cursor.at++];
  if (byte === undefined) throw new RangeError('field reaches beyond the end');
  return byte;
}

/** A tag or a length; nearly always one or two bytes. */
function readSmall(cursor: Cursor): number {
  const first = readByte(cursor);
  return first < 0x80 ? first : Number(readVarint(cursor, first));
}

function readVarint(cursor: Cursor, first = readByte(cursor)): bigint {
  if (first < 0x80) return BigInt(first);
  let value = BigInt(first & 0x7f);
  for (let shift = 7n; shift < 70n; shift += 7n) {
    const byte = readByte(cursor);
    value |= BigInt(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  throw new RangeError('varint longer than ten bytes');
}

/** Little-endian. */
function readFixed(cursor: Cursor, length: 4 | 8): bigint {
  const { buffer, byteOffset } = readBytes(cursor, length);
  const view = new DataView(buffer, byteOffset, length);
  return length === 4 ? BigInt(view.getUint32(0, true)) : view.getBigUint64(0, true);
}

function readBytes(cursor: Cursor, length: number): Uint8Array {
  const end = cursor.at + length;
  if (end > cursor.data.length) throw new RangeError('field reaches beyond the end');
  const bytes = cursor.data.subarray(cursor.at, end);
  cursor.at = end;
  return bytes;
}

/** A copy as text; malformed bytes become U+FFFD, they are no error. */
export function utf8(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}

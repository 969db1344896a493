/**
 * Reads protobuf's wire format, as far as a few small messages need it: field number, and a number or bytes.
 *
 *     for (const field of wireFields(bytes)) if (field.number === 2 && field.bytes) text = utf8(field.bytes);
 */
export interface WireField {
  readonly number: number;
  /** Varint, fixed32 or fixed64, unsigned; 0 for bytes. */
  readonly value: bigint;
  /** Of a length-delimited field, else undefined. */
  readonly bytes: Uint8Array | undefined;
}

/** @throws RangeError when `data` ends in the middle of a field or has a wire type nobody uses any more. */
export function* wireFields(data: Uint8Array): Generator<WireField> {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  let at = 0;
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = view.getUint8(at++);
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw new RangeError('varint longer than ten bytes');
  };
  /** Tags and lengths: nearly always one or two bytes. */
  const small = () => {
    const first = view.getUint8(at);
    if (first >= 0x80) return Number(varint());
    at += 1;
    return first;
  };
  while (at < data.length) {
    const tag = small();
    const number = tag >>> 3;
    switch (tag & 7) {
      case 0:
        yield { number, value: varint(), bytes: undefined };
        break;
      case 1:
        yield { number, value: view.getBigUint64(at, true), bytes: undefined };
        at += 8;
        break;
      case 2: {
        const length = small();
        if (at + length > data.length) throw new RangeError('field reaches beyond the end');
        yield { number, value: 0n, bytes: data.subarray(at, at + length) };
        at += length;
        break;
      }
      case 5:
        yield { number, value: BigInt(view.getUint32(at, true)), bytes: undefined };
        at += 4;
        break;
      default:
        throw new RangeError(`wire type ${tag & 7}`);
    }
  }
}

export function utf8(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}

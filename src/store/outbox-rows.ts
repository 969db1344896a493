/** Outbox rows for many values, none of them larger than a multi-write takes. */
import type { Nanoseconds } from '../lib/clock.ts';
import type { Codec } from '../model/codec/record.ts';
import { outboxOperation } from './outbox.ts';
import type { Operation } from './port.ts';

/** Bytes of one row at most, unless a single value is larger. */
const ROW_BYTES = 400_000;
/** Values tried as one row: encoding twice because a row came out too large is the exception. */
const ROW_VALUES = 200;

/** No row for no values; usually one. */
export function outboxRows<T>(
  path: string,
  values: readonly T[],
  codec: Codec<readonly T[]>,
  at: Nanoseconds,
): readonly Operation[] {
  const rows: Operation[] = [];
  for (let from = 0; from < values.length; from += ROW_VALUES) {
    rows.push(...rowsOf(path, values.slice(from, from + ROW_VALUES), codec, at));
  }
  return rows;
}

function rowsOf<T>(
  path: string,
  values: readonly T[],
  codec: Codec<readonly T[]>,
  at: Nanoseconds,
): readonly Operation[] {
  const data = codec.encode(values);
  if (data.byteLength <= ROW_BYTES || values.length === 1)
    return [outboxOperation(path, data, at, values.length)];
  const half = Math.ceil(values.length / 2);
  return [...rowsOf(path, values.slice(0, half), codec, at), ...rowsOf(path, values.slice(half), codec, at)];
}

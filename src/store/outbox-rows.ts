/** Splits many values into outbox rows, none larger than a multi-write allows. */
import type { Nanoseconds } from '../lib/clock.ts';
import type { Codec } from '../model/codec/record.ts';
import { outboxOperation } from './outbox.ts';
import type { Operation } from './port.ts';

/** Bytes of one row at most, unless a single value is larger. */
const ROW_BYTES = 400_000;
/** Values tried as one row; rarely does a row come out too large and is encoded again in halves. */
const ROW_VALUES = 200;

/** No row for no values; usually one row. */
export function outboxRows<T>(
  path: string,
  values: readonly T[],
  codec: Codec<readonly T[]>,
  at: Nanoseconds,
): readonly Operation[] {
  return encodedRows(values, codec).map(row => outboxOperation(path, row.data, at, row.values));
}

/** One row before it has a name in the outbox. */
export interface EncodedRow {
  readonly data: Uint8Array;
  /** Number of values in it. */
  readonly values: number;
}

/** Rows as the outbox stores them; also for deliveries that bypass it. */
export function encodedRows<T>(values: readonly T[], codec: Codec<readonly T[]>): readonly EncodedRow[] {
  const rows: EncodedRow[] = [];
  for (let from = 0; from < values.length; from += ROW_VALUES) {
    rows.push(...rowsOf(values.slice(from, from + ROW_VALUES), codec));
  }
  return rows;
}

function rowsOf<T>(values: readonly T[], codec: Codec<readonly T[]>): readonly EncodedRow[] {
  const data = codec.encode(values);
  if (data.byteLength <= ROW_BYTES || values.length === 1) return [{ data, values: values.length }];
  const half = Math.ceil(values.length / 2);
  return [...rowsOf(values.slice(0, half), codec), ...rowsOf(values.slice(half), codec)];
}

/** Outbox rows for many values, none of them larger than a multi-write takes. */
import type { Nanoseconds } from '../lib/clock.ts';
import type { Codec } from '../model/codec/record.ts';
import { outboxOperation } from '../store/outbox.ts';
import type { Operation } from '../store/port.ts';

/** Bytes of one row at most, unless a single value is larger. */
const ROW_BYTES = 400_000;

/** No row for no values; usually one. */
export function outboxRows<T>(
  path: string,
  values: readonly T[],
  codec: Codec<readonly T[]>,
  at: Nanoseconds,
): readonly Operation[] {
  if (values.length === 0) return [];
  const data = codec.encode(values);
  if (data.byteLength <= ROW_BYTES || values.length === 1) return [outboxOperation(path, data, at)];
  const half = Math.ceil(values.length / 2);
  return [
    ...outboxRows(path, values.slice(0, half), codec, at),
    ...outboxRows(path, values.slice(half), codec, at),
  ];
}

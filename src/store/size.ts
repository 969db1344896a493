/** How much of a multi's budget ({@link MAX_MULTI_BYTES}) operations use. */
import { MAX_MULTI_BYTES, type Operation, StoreError } from './port.ts';

/** Framing of one operation on ZooKeeper's wire: headers, lengths, flags and the access list (at most 48 bytes), with room. */
const OVERHEAD_BYTES = 64;

/** Bytes `operation` takes in a multi: path, data and framing. */
export function operationBytes(operation: Operation): number {
  const data = operation.kind === 'create' || operation.kind === 'set' ? operation.data.byteLength : 0;
  return Buffer.byteLength(operation.path) + data + OVERHEAD_BYTES;
}

/** @throws StoreError `TooLarge` with the operation that exceeds the limit. */
export function requireMultiSize(operations: readonly Operation[]): void {
  let bytes = 0;
  for (const [index, operation] of operations.entries()) {
    bytes += operationBytes(operation);
    if (bytes > MAX_MULTI_BYTES) throw new StoreError('TooLarge', operation.path, index);
  }
}

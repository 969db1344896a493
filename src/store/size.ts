/** How much of a multi's budget ({@link MAX_MULTI_BYTES}) operations use. */
import type { Operation } from './port.ts';

/** Framing of one operation on ZooKeeper's wire: headers, lengths, flags and the access list (at most 48 bytes), with room. */
const OVERHEAD_BYTES = 64;

/** Bytes `operation` takes in a multi: path, data and framing. */
export function operationBytes(operation: Operation): number {
  const data = operation.kind === 'create' || operation.kind === 'set' ? operation.data.byteLength : 0;
  return Buffer.byteLength(operation.path) + data + OVERHEAD_BYTES;
}

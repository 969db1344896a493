/** Splits a write that is too large for one multi. */
import { MAX_MULTI_BYTES, type Operation, StoreError } from './port.ts';
import { operationBytes } from './size.ts';

/** What a fence adds to each multi, generously: three paths and an operation id. */
const FENCE_BYTES = 4096;

/**
 * Splits independent operations into multis of at most `limit` bytes, in order.
 *
 * The operation that makes the others visible (a state that flips, a pointer that moves) goes into `last`, which stays
 * together in the last multi: a crash between two multis leaves nothing visible, only work to repeat.
 *
 *     for (const chunk of splitOperations(resets, undefined, [set(state, flipped)])) await fence.commit(chunk, ids.uuid());
 *
 * @throws StoreError `TooLarge` when one operation alone, or `last` together, is over the limit.
 */
export function splitOperations(
  operations: readonly Operation[],
  limit = MAX_MULTI_BYTES - FENCE_BYTES,
  last: readonly Operation[] = [],
): readonly (readonly Operation[])[] {
  const chunks: Operation[][] = [];
  let room = 0;
  const add = (group: readonly Operation[]): void => {
    const bytes = group.reduce((sum, operation) => sum + operationBytes(operation), 0);
    const current = chunks.at(-1);
    if (bytes > limit) throw new StoreError('TooLarge', group[0]?.path ?? '/');
    if (current === undefined || bytes > room) {
      chunks.push([...group]);
      room = limit - bytes;
    } else {
      current.push(...group);
      room -= bytes;
    }
  };
  for (const operation of operations) add([operation]);
  if (last.length > 0) add(last);
  return chunks;
}

/** What a session does with a call before it is sent, and the server with one that fails. */
import { requireNodePath } from '../../../src/store/node-path.ts';
import { MAX_MULTI_BYTES, type Operation, StoreError } from '../../../src/store/port.ts';
import { operationBytes } from '../../../src/store/size.ts';

/** A refusal of the store is an answer; anything else is a mistake of the simulation. */
export function attempt<T>(serve: () => T): { readonly value: T } | { readonly error: unknown } {
  try {
    return { value: serve() };
  } catch (error) {
    if (error instanceof StoreError) return { error };
    throw error;
  }
}

/** For the story: what it changes, without what it checks. */
export function labelOf(operations: readonly Operation[]): string {
  const changing = operations.filter(operation => operation.kind !== 'check');
  const shown = changing.slice(0, 3).map(({ kind, path }) => `${kind} ${path.replace('/gatehouse', '')}`);
  return `multi ${shown.join(', ')}${changing.length > 3 ? ` …${changing.length}` : ''}`;
}

/** @throws StoreError `TooLarge` */
export function requireSize(operations: readonly Operation[]): void {
  let bytes = 0;
  for (const [index, operation] of operations.entries()) {
    bytes += operationBytes(operation);
    if (bytes > MAX_MULTI_BYTES) throw new StoreError('TooLarge', operation.path, index);
  }
}

/** The data is copied before the call returns. @throws RangeError for a malformed path. */
export function ownCopy(operation: Operation): Operation {
  requireNodePath(operation.path, operation.kind === 'create' && operation.sequential);
  return operation.kind === 'create' || operation.kind === 'set'
    ? { ...operation, data: new Uint8Array(operation.data) }
    : operation;
}

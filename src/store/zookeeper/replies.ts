/** Decodes the records in answers. */
import { type Operation, type OperationResult, type Stat, type StoredNode, StoreError } from '../port.ts';
import type { JuteReader } from './jute.ts';
import { SERVER_ERROR, storeErrorOf } from './server-errors.ts';
import { OP } from './wire.ts';

/** Data, then the facts about the node, as in the answer to `getData`. */
export function readNode(body: JuteReader): StoredNode {
  const data = body.bytes();
  return { data, stat: readStat(body) };
}

/** In the order of the wire: czxid, mzxid, ctime, mtime, version, cversion, aversion, owner, length, children, pzxid. */
export function readStat(body: JuteReader): Stat {
  const createdTransaction = body.long();
  const modifiedTransaction = body.long();
  body.long();
  body.long();
  const version = body.int();
  body.int();
  body.int();
  const owner = body.long();
  body.int();
  const childCount = body.int();
  body.long();
  const ephemeralOwner = owner === 0n ? undefined : sessionName(owner);
  return { version, createdTransaction, modifiedTransaction, ephemeralOwner, childCount };
}

/** A session's number as the port writes it: hexadecimal, as in the server's logs but without `0x`. */
export function sessionName(id: bigint): string {
  return BigInt.asUintN(64, id).toString(16);
}

/** @throws StoreError with the operation that failed. */
export function readMultiAnswer(
  body: JuteReader,
  operations: readonly Operation[],
): readonly OperationResult[] {
  const results: OperationResult[] = [];
  let undone = false;
  for (const [index, operation] of operations.entries()) {
    const type = body.int();
    body.bool();
    body.int();
    if (type !== OP.error) {
      results.push(readResult(body, operation));
      continue;
    }
    // Those before the failing one carry 0, those behind it "runtime inconsistency".
    const error = body.int();
    undone = true;
    if (error !== SERVER_ERROR.none && error !== SERVER_ERROR.runtimeInconsistency)
      throw storeErrorOf(error, operation.path, index);
  }
  if (undone) throw new StoreError('Refused', operations[0]?.path ?? '/');
  return results;
}

function readResult(body: JuteReader, operation: Operation): OperationResult {
  if (operation.kind === 'create') return { path: body.string(), version: 0 };
  const version = operation.kind === 'set' ? readStat(body).version : operation.version;
  return { path: operation.path, version };
}

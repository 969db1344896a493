/** Every request Gatehouse makes, with the meaning of its answer. Layouts: ZooKeeper's zookeeper.jute. */
import { assertNever } from '../../lib/assert-never.ts';
import type { Operation, OperationResult, StoredNode } from '../port.ts';
import { operationBytes } from '../size.ts';
import type { Recipe } from './call.ts';
import type { JuteReader, JuteWriter } from './jute.ts';
import { readMultiAnswer, readNode, readStat } from './replies.ts';
import { SERVER_ERROR, storeErrorOf } from './server-errors.ts';
import { ALL_RIGHTS, ANY_WATCH, FLAG, OP, PERSISTENT_RECURSIVE } from './wire.ts';

/** Who may use the nodes we create: all clients, or only the user this connection has authenticated as. */
export type Access = 'open' | 'creator';

const NOTHING = (_: JuteWriter): void => {};

/** Answered through the leader, behind all writes that it has accepted: the proof of life, and a read barrier. */
export function sync(): Recipe<void> {
  return {
    type: OP.sync,
    path: '/',
    size: 8,
    provesSession: true,
    write: body => body.string('/'),
    read: (error, _body) => succeeded(error, '/'),
  };
}

/** Undefined: there is no such node. */
export function getNode(path: string): Recipe<StoredNode | undefined> {
  return {
    type: OP.get,
    path,
    size: 8 + path.length,
    write: body => body.string(path).bool(false),
    read: (error, body) => {
      if (error === SERVER_ERROR.noNode) return undefined;
      succeeded(error, path);
      return readNode(body);
    },
  };
}

/** Sorted. */
export function getChildren(path: string): Recipe<readonly string[] | undefined> {
  return {
    type: OP.children,
    path,
    size: 8 + path.length,
    write: body => body.string(path).bool(false),
    read: (error, body) => {
      if (error === SERVER_ERROR.noNode) return undefined;
      succeeded(error, path);
      return body.strings().sort();
    },
  };
}

/** Many nodes in one request. */
export function getNodes(paths: readonly string[]): Recipe<readonly (StoredNode | undefined)[]> {
  const first = paths[0] ?? '/';
  return {
    type: OP.multiRead,
    path: first,
    size: paths.reduce((size, path) => size + path.length + 16, 16),
    write: body => {
      for (const path of paths) multiHeader(body, OP.get).string(path).bool(false);
      multiEnd(body);
    },
    read: (error, body) => {
      succeeded(error, first);
      return paths.map(path => readOneOfMany(body, path));
    },
  };
}

function readOneOfMany(body: JuteReader, path: string): StoredNode | undefined {
  const type = body.int();
  body.bool();
  body.int();
  if (type !== OP.error) return readNode(body);
  const error = body.int();
  if (error === SERVER_ERROR.noNode) return undefined;
  throw storeErrorOf(error, path);
}

/** One operation goes as a plain request, which the server handles faster; several go as a multi. */
export function transaction(
  operations: readonly Operation[],
  access: Access,
): Recipe<readonly OperationResult[]> {
  const [only, second] = operations;
  if (only !== undefined && second === undefined && only.kind !== 'check') return single(only, access);
  return {
    type: OP.multi,
    path: only?.path ?? '/',
    size: operations.reduce((size, operation) => size + operationBytes(operation), 16),
    provesSession: true,
    write: body => {
      for (const operation of operations) {
        multiHeader(body, typeOf(operation));
        writeOperation(body, operation, access);
      }
      multiEnd(body);
    },
    read: (error, body) => {
      // A server that refuses the request as a whole answers without a body.
      if (body.atEnd) succeeded(error, only?.path ?? '/');
      return readMultiAnswer(body, operations);
    },
  };
}

function single(operation: Operation, access: Access): Recipe<readonly OperationResult[]> {
  return {
    type: typeOf(operation),
    path: operation.path,
    size: operationBytes(operation),
    provesSession: true,
    write: body => writeOperation(body, operation, access),
    read: (error, body) => {
      if (error !== SERVER_ERROR.none) throw storeErrorOf(error, operation.path, 0);
      if (operation.kind === 'create') return [{ path: body.string(), version: 0 }];
      const version = operation.kind === 'set' ? readStat(body).version : operation.version;
      return [{ path: operation.path, version }];
    },
  };
}

function typeOf(operation: Operation): number {
  return OP[operation.kind];
}

function writeOperation(body: JuteWriter, operation: Operation, access: Access): void {
  body.string(operation.path);
  switch (operation.kind) {
    case 'create': {
      body.bytes(operation.data);
      writeAccess(body, access);
      body.int((operation.ephemeral ? FLAG.ephemeral : 0) | (operation.sequential ? FLAG.sequential : 0));
      return;
    }
    case 'set':
      body.bytes(operation.data).int(operation.version);
      return;
    case 'delete':
    case 'check':
      body.int(operation.version);
      return;
    default:
      assertNever(operation, 'operation');
  }
}

/** `auth` stands for the user this connection has authenticated as: short on the wire, the digest in the node. */
function writeAccess(body: JuteWriter, access: Access): void {
  body.int(1).int(ALL_RIGHTS);
  if (access === 'open') body.string('world').string('anyone');
  else body.string('auth').string('');
}

function multiHeader(body: JuteWriter, type: number): JuteWriter {
  return body.int(type).bool(false).int(-1);
}

function multiEnd(body: JuteWriter): void {
  body.int(-1).bool(true).int(-1);
}

/** Digest authentication. Answered out of turn, with a number of its own. */
export function authenticate(user: string, password: string): Recipe<void> {
  const credentials = Buffer.from(`${user}:${password}`);
  return {
    type: OP.auth,
    path: '/',
    size: 24 + credentials.byteLength,
    write: body => body.int(0).string('digest').bytes(credentials),
    read: error => succeeded(error, '/'),
  };
}

/** One watch for the path and everything below it, until removed or until the connection ends. */
export function addWatch(path: string): Recipe<void> {
  return {
    type: OP.addWatch,
    path,
    size: 8 + path.length,
    write: body => body.string(path).int(PERSISTENT_RECURSIVE),
    read: error => succeeded(error, path),
  };
}

/** Succeeds also when there is no such watch. */
export function removeWatch(path: string): Recipe<void> {
  return {
    type: OP.removeWatches,
    path,
    size: 8 + path.length,
    write: body => body.string(path).int(ANY_WATCH),
    // Not there: the connection broke in between, and the next one was set up without it.
    read: error => succeeded(error === SERVER_ERROR.noWatcher ? SERVER_ERROR.none : error, path),
  };
}

/** Limit of one request: Java's client uses the same size, far below every server's packet limit. */
const WATCH_PIECE_BYTES = 128 * 1024;

/** Sets the watches of a session on a new connection; in pieces, since servers cut connections for large packets. */
export function setWatches(paths: Iterable<string>): readonly Recipe<void>[] {
  const pieces: string[][] = [];
  let room = 0;
  for (const path of paths) {
    const size = 4 + Buffer.byteLength(path);
    if (size > room) {
      pieces.push([]);
      room = WATCH_PIECE_BYTES;
    }
    room -= size;
    pieces.at(-1)?.push(path);
  }
  return pieces.map(setWatchPiece);
}

function setWatchPiece(paths: readonly string[]): Recipe<void> {
  return {
    type: OP.setWatches2,
    path: paths[0] ?? '/',
    size: 64 + paths.length * 64,
    // The last seen transaction matters to one-shot watches only, of which there are none: data, exist, child, persistent.
    write: body => body.long(0n).int(0).int(0).int(0).int(0).strings(paths),
    read: error => succeeded(error, paths[0] ?? '/'),
  };
}

/** Its ephemeral nodes are gone when the server answers. */
export function endSession(): Recipe<void> {
  return { type: OP.closeSession, path: '/', size: 0, write: NOTHING, read: () => {} };
}

/** @throws StoreError */
function succeeded(error: number, path: string): void {
  if (error !== SERVER_ERROR.none) throw storeErrorOf(error, path);
}

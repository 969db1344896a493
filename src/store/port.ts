/**
 * The coordination store, as the rest of Gatehouse sees it: a tree of small nodes with ZooKeeper's semantics.
 *
 * Paths are absolute (`/gatehouse/tenants/acme`), data is bytes (codecs live in `src/model/codec`), every node has a
 * version that starts at 0 and grows by one with each set. Parents must exist. Sequential nodes get a ten-digit suffix
 * that grows per parent and never repeats while the parent lives. Ephemeral nodes vanish with the session that made them
 * and cannot have children.
 *
 * Worked example: claim a request only if no other worker has, and record that in the same transaction.
 *
 *     await store.multi([
 *       create('/requests/build/7/claim', owner, { ephemeral: true }),
 *       set('/requests/build/7', taken, 3),             // fails with BadVersion unless it is at version 3
 *     ], opId);
 *
 * Either both happen or neither. Errors are the closed set of {@link StoreErrorCode}; `ConnectionLoss` alone leaves the
 * outcome open, everything else means "not applied".
 *
 * The files of this room, in the order of reading:
 *
 *     port                    this contract; embedded/ and zookeeper/ implement it, renewing-store spans sessions
 *     paths                   all node paths (node-path, ensure-node, installation, numbered-places)
 *     connection, read-now    what to do after a lost reply; split-operations, size: what fits into one multi
 *     lock, fence             who may write; staged-commit: a commit larger than one multi
 *     event-queue             events, in order (offer-group, seen, dead-letter); quarantine: unreadable records
 *     request-queue           work for mergers and executors (host-requests, stored-request, request-record, request-worker, request-claim,
 *                             abandoned-requests, vanished-claims, signs-of-life)
 *     semaphore-slots         who holds what only some may have at a time (hold-slots: for as long as a process does something)
 *     watched-tests           tests of a project that failed lately
 *     chain-recipe            what was merged ahead of an item, written once
 *     outbox                  data for other systems (outbox-rows, outbox-drain)
 *     components              which processes there are and what they offer (component-node, component-view)
 *     wake-ups, refresher     from watches to loops and copies (live-tenants, live-counts, load-pipeline, published-record)
 *     tree-copy               the whole tree, for backup (dump-format)
 *     keystore/               keys of projects: keyring (the password; keystore-locked), keystore (the keys), zuul-keys (Zuul's file of them)
 *
 * Nothing here decides: what is written is up to the caller. Records are encoded by `src/model/codec`. Only `zookeeper/` and
 * `embedded/` know how a store works; everything else goes through this port.
 */

/** Why an operation failed. */
export type StoreErrorCode =
  | 'NoNode'
  | 'NodeExists'
  | 'BadVersion'
  | 'NotEmpty'
  | 'NoChildrenForEphemerals'
  /** The answer was lost: the operation may or may not have been applied. */
  | 'ConnectionLoss'
  | 'SessionExpired'
  /** A node or a multi is larger than {@link MAX_MULTI_BYTES}. */
  | 'TooLarge'
  | 'Auth'
  /** The store's reason has no code of its own here (a quota); the cause has it. A retry cannot succeed. */
  | 'Refused'
  /** The store was closed by this process. */
  | 'Closed';

/** Thrown by every call of a store. All codes but `ConnectionLoss` mean that nothing was applied. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly code: StoreErrorCode;
  readonly path: string;
  /** Index of the operation that failed, for a multi. */
  readonly failedOperation: number | undefined;
  constructor(code: StoreErrorCode, path: string, failedOperation?: number, options?: ErrorOptions) {
    super(
      `${code} at ${path}${failedOperation === undefined ? '' : ` (operation ${failedOperation})`}`,
      options,
    );
    this.code = code;
    this.path = path;
    this.failedOperation = failedOperation;
  }
}

/** Bytes a multi may hold in total (paths and data); ZooKeeper's packet limit is 1 048 575 with overhead. */
export const MAX_MULTI_BYTES = 1_000_000;

/** One part of a multi-write. */
export type Operation =
  | {
      readonly kind: 'create';
      readonly path: string;
      readonly data: Uint8Array;
      readonly ephemeral: boolean;
      readonly sequential: boolean;
    }
  /** `version` −1 matches any. */
  | { readonly kind: 'set'; readonly path: string; readonly data: Uint8Array; readonly version: number }
  | { readonly kind: 'delete'; readonly path: string; readonly version: number }
  | { readonly kind: 'check'; readonly path: string; readonly version: number };

/**
 * The result of one operation of a multi. `path`: the created one (with the sequence suffix) for `create`, else the given
 * one. `version`: the node's new version for `create` (0) and `set`; the requested one for `delete` and `check`.
 */
export type OperationResult = { readonly path: string; readonly version: number };

/** Facts about a node besides its data. */
export interface Stat {
  readonly version: number;
  /** Grows with every transaction of the store; orders changes across nodes. */
  readonly createdTransaction: bigint;
  readonly modifiedTransaction: bigint;
  /** Session that owns an ephemeral node, else undefined. */
  readonly ephemeralOwner: string | undefined;
  readonly childCount: number;
}

/** A node as it was read; the data belongs to the caller. */
export interface StoredNode {
  readonly data: Uint8Array;
  readonly stat: Stat;
}

/** Contact of a session with the store. */
export type SessionState =
  | 'connected'
  /** No contact with the store: locks of this process count as lost for effects outside the store. */
  | 'suspended'
  /** The session is over, by expiry or by `close`: ephemerals are gone, this object is of no further use. */
  | 'lost';

/** Something below a watched path changed. Watches carry no data: read again. Duplicate and late events must be harmless. */
export interface WatchEvent {
  readonly kind: 'created' | 'changed' | 'deleted' | 'resync';
  readonly path: string;
}

/** One session with the store. */
export interface Store {
  readonly sessionId: string;
  readonly sessionState: SessionState;
  onSessionState(listener: (state: SessionState) => void): Disposable;

  /**
   * Applies all operations or none. Calls of one session, reads included, take effect in the order they were made. The
   * data is copied before the call returns; `get` returns a copy that belongs to the caller.
   *
   * @param operationId not stored by the port itself; implementations use it in errors and logs.
   * @throws StoreError
   * @throws RangeError when a path is malformed (see node-path.ts), here and in all other calls.
   */
  multi(operations: readonly Operation[], operationId?: string): Promise<readonly OperationResult[]>;
  /** @returns undefined when there is no such node. */
  get(path: string): Promise<StoredNode | undefined>;
  /** Names (not paths) of the children, sorted; undefined when there is no such node. */
  children(path: string): Promise<readonly string[] | undefined>;
  /** Reads many nodes in one round trip; a missing node is undefined at its index. */
  getMany(paths: readonly string[]): Promise<readonly (StoredNode | undefined)[]>;
  /**
   * Waits until this process sees everything that was committed before the call. In an ensemble a deposed leader that does
   * not know it yet can answer too early for a moment: never act outside on a read alone, commit through a fence.
   */
  sync(): Promise<void>;
  /**
   * Calls `listener` after each change of `path` or anything below it (persistent, recursive), in commit order.
   * `resync` at `path` means events may have been missed: read the subtree again. This session is notified of a change
   * before it can read it, and of every change after a read that was made after this call: watch first, then read. The
   * same holds for `resync`: only a read made after it is followed by all further changes.
   */
  watch(path: string, listener: (event: WatchEvent) => void): Disposable;
  /** Ends the session: its ephemeral nodes vanish. Idempotent. */
  close(): Promise<void>;
}

/** Where sessions come from: one embedded store, or an ensemble. */
export interface StoreSource extends AsyncDisposable {
  /**
   * A new session. Waits, with back-off, until the store answers.
   *
   * @param name of the component, for logs.
   * @throws the signal's reason when aborted; StoreError `Auth` when the store refuses us, which a retry cannot change.
   */
  connect(name: string, signal?: AbortSignal): Promise<Store>;
}

const NOTHING = new Uint8Array(0);

/** A new node. Without data it is empty. @param options default: neither ephemeral nor sequential. */
export function create(
  path: string,
  data: Uint8Array = NOTHING,
  options: { readonly ephemeral?: boolean; readonly sequential?: boolean } = {},
): Operation {
  return {
    kind: 'create',
    path,
    data,
    ephemeral: options.ephemeral ?? false,
    sequential: options.sequential ?? false,
  };
}

/** New data for a node. @param version −1: any. */
export function set(path: string, data: Uint8Array, version = -1): Operation {
  return { kind: 'set', path, data, version };
}

/** The end of a node without children. @param version −1: any. */
export function remove(path: string, version = -1): Operation {
  return { kind: 'delete', path, version };
}

/** Fails the multi-write unless the node has this version. @param version −1: any, the node must exist. */
export function check(path: string, version = -1): Operation {
  return { kind: 'check', path, version };
}

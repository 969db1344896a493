/**
 * One session with the embedded store: the port's contract for one client.
 *
 * Calls of one session take effect in the order they were made. Reads are answered from memory immediately, unless writes
 * of this session are still queued: then they queue behind them. While a batch is on its way to the disk, they wait for that. Bytes are copied on the way in and on the way out, so
 * neither side can change what the other holds.
 */
import { requireNodePath } from '../node-path.ts';
import {
  type Operation,
  type OperationResult,
  remove,
  type SessionState,
  type Store,
  type StoredNode,
  StoreError,
  type StoreErrorCode,
  type WatchEvent,
} from '../port.ts';
import { requireMultiSize } from '../size.ts';
import type { NodeTree, TreeNode } from './tree.ts';
import type { Watches } from './watches.ts';

/**
 * Applies one transaction to the tree; valid only while its task runs.
 *
 * @throws StoreError when an operation fails: nothing of the transaction is applied.
 */
export type Apply = (operations: readonly Operation[]) => readonly OperationResult[];

/** One queued call: `run` when its turn comes, `settle` after the batch is durable or has failed. */
export interface Task {
  readonly session: string;
  /** Forces a commit when the last one failed. */
  readonly barrier: boolean;
  /** The session is over after this. */
  readonly ends: boolean;
  run(apply: Apply): void;
  settle(failure: Error | undefined): void;
}

/** The server's side of a session. */
export interface EmbeddedSessionDeps {
  readonly tree: NodeTree;
  /** Of all sessions. */
  readonly watches: Watches;
  enqueue(task: Task): void;
  /** Calls `read` when all that the tree shows is durable: mostly at once. */
  whenDurable(read: () => void): void;
}

type Ending = Extract<StoreErrorCode, 'Closed' | 'SessionExpired'>;

/** Made by `EmbeddedStore.connect`; never out of contact, so it is `connected` until it is `lost`. */
export class EmbeddedSession implements Store {
  readonly sessionId: string;
  readonly #deps: EmbeddedSessionDeps;
  /** Its watches. */
  readonly #watching = new Set<Disposable>();
  readonly #stateListeners = new Set<(state: SessionState) => void>();
  /** Calls queued and not settled. */
  #queued = 0;
  #ended: Ending | undefined;
  #closing: Promise<void> | undefined;

  constructor(sessionId: string, deps: EmbeddedSessionDeps) {
    this.sessionId = sessionId;
    this.#deps = deps;
  }

  get sessionState(): SessionState {
    return this.#ended === undefined ? 'connected' : 'lost';
  }

  onSessionState(listener: (state: SessionState) => void): Disposable {
    const entry = (state: SessionState): void => listener(state);
    this.#stateListeners.add(entry);
    return { [Symbol.dispose]: () => this.#stateListeners.delete(entry) };
  }

  async multi(operations: readonly Operation[]): Promise<readonly OperationResult[]> {
    this.#requireOpen('/');
    requireMultiSize(operations);
    const own = operations.map(ownCopy);
    return await this.#inTurn(apply => (own.length === 0 ? [] : apply(own)));
  }

  get(path: string): Promise<StoredNode | undefined> {
    return this.#read([path], () => stored(this.#deps.tree.find(path)));
  }

  children(path: string): Promise<readonly string[] | undefined> {
    return this.#read([path], () => sortedChildren(this.#deps.tree.find(path)));
  }

  getMany(paths: readonly string[]): Promise<readonly (StoredNode | undefined)[]> {
    return this.#read(paths, () => paths.map(path => stored(this.#deps.tree.find(path))));
  }

  async sync(): Promise<void> {
    this.#requireOpen('/');
    await this.#inTurn(() => undefined, { barrier: true });
  }

  watch(path: string, listener: (event: WatchEvent) => void): Disposable {
    this.#requireOpen(path);
    requireNodePath(path);
    const watching = this.#deps.watches.add(path, listener);
    this.#watching.add(watching);
    return {
      [Symbol.dispose]: () => {
        this.#watching.delete(watching);
        watching[Symbol.dispose]();
      },
    };
  }

  async close(): Promise<void> {
    if (this.#ended === undefined) await this.end('Closed');
    else await this.#closing;
  }

  /** Ends the session after the calls it made before; its ephemerals vanish in one transaction. */
  end(ending: Ending): Promise<void> {
    if (this.#closing !== undefined) return this.#closing;
    if (ending === 'Closed') this.#turnLost(ending);
    const drop = (apply: Apply): void => {
      const owned = this.#deps.tree.ephemeralsOf(this.sessionId);
      if (owned.length > 0) apply(owned.map(path => remove(path)));
      if (ending === 'SessionExpired') this.#turnLost(ending);
    };
    this.#closing = this.#inTurn(drop, { ends: true });
    return this.#closing;
  }

  async #read<T>(paths: readonly string[], read: () => T): Promise<T> {
    for (const path of paths) requireNodePath(path);
    this.#requireOpen(paths[0] ?? '/');
    return this.#queued === 0 ? await this.#onceDurable(read) : await this.#inTurn(read);
  }

  #onceDurable<T>(read: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#deps.whenDurable(() => {
        try {
          if (this.#ended === 'SessionExpired') throw new StoreError('SessionExpired', '/');
          resolve(read());
        } catch (error) {
          reject(error);
        }
      });
    });
  }

  #inTurn<T>(call: (apply: Apply) => T, options: { barrier?: boolean; ends?: boolean } = {}): Promise<T> {
    const { barrier = false, ends = false } = options;
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    let outcome: { readonly value: T } | { readonly error: unknown } | undefined;
    this.#queued += 1;
    this.#deps.enqueue({
      session: this.sessionId,
      barrier,
      ends,
      run: apply => {
        try {
          if (this.#ended === 'SessionExpired' && !ends) throw new StoreError('SessionExpired', '/');
          outcome = { value: call(apply) };
        } catch (error) {
          outcome = { error };
        }
      },
      settle: failure => {
        this.#queued -= 1;
        if (failure !== undefined)
          reject(new StoreError('ConnectionLoss', '/', undefined, { cause: failure }));
        else if (outcome === undefined || 'error' in outcome) reject(outcome?.error);
        else resolve(outcome.value);
      },
    });
    return promise;
  }

  #turnLost(ending: Ending): void {
    this.#ended = ending;
    for (const watching of this.#watching) watching[Symbol.dispose]();
    this.#watching.clear();
    for (const listener of this.#stateListeners) queueMicrotask(() => listener('lost'));
    this.#stateListeners.clear();
  }

  #requireOpen(path: string): void {
    if (this.#ended !== undefined) throw new StoreError(this.#ended, path);
  }
}

function ownCopy(operation: Operation): Operation {
  requireNodePath(operation.path, operation.kind === 'create' && operation.sequential);
  switch (operation.kind) {
    case 'create':
    case 'set':
      return { ...operation, data: new Uint8Array(operation.data) };
    default:
      return operation;
  }
}

function stored(node: TreeNode | undefined): StoredNode | undefined {
  if (node === undefined) return undefined;
  return {
    data: node.data.slice(),
    stat: {
      version: node.version,
      createdTransaction: BigInt(node.created),
      modifiedTransaction: BigInt(node.modified),
      ephemeralOwner: node.owner,
      childCount: node.children.size,
    },
  };
}

function sortedChildren(node: TreeNode | undefined): readonly string[] | undefined {
  if (node === undefined) return undefined;
  node.sortedChildren ??= Object.freeze([...node.children].sort());
  return node.sortedChildren;
}

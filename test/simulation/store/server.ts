/**
 * An ensemble, as its clients see it: a leader that orders all writes, copies that may lag, sessions that end when
 * their client was silent for too long.
 *
 * What holds, as with ZooKeeper: writes are applied whole, in one order; a session sees its own writes and never goes back in
 * time; a session hears of a change before it can read it; a dead session's ephemerals go in one transaction, after
 * everything it was granted. What does not hold: that a read is fresh (`sync` makes it so).
 */
import { NodeTree, type TreeNode } from '../../../src/store/embedded/tree.ts';
import {
  type Operation,
  type OperationResult,
  remove,
  type StoredNode,
  StoreError,
} from '../../../src/store/port.ts';
import type { SimEvent } from '../kernel/event-heap.ts';
import type { Kernel } from '../kernel/kernel.ts';
import type { Random } from '../kernel/random.ts';
import { type Committed, Replica, type TreeChange } from './replica.ts';

/** A write as the observers see it: what was there before, and what was done. */
export interface Transaction extends Committed {
  readonly at: number;
  /** Name of the process whose session it was; `operator` for writes by hand. */
  readonly process: string;
  readonly results: readonly OperationResult[];
  /** Contents before, of every path that was set or deleted. */
  readonly before: ReadonlyMap<string, Uint8Array>;
  /** A session that ended: its ephemerals go. */
  readonly ending: boolean;
}

export interface ServerSession {
  readonly id: string;
  readonly process: string;
  readonly timeoutMs: number;
  readonly watches: Map<string, number>;
  alive: boolean;
  replica: number;
  /** Last transaction the client has seen anything of. */
  seen: number;
  expiry: SimEvent | undefined;
  /** Hears of changes below its watches; undefined while out of contact. */
  notify: ((changes: readonly TreeChange[]) => void) | undefined;
}

export class StoreServer {
  readonly leader = new NodeTree();
  readonly log: Committed[] = [];
  readonly replicas: readonly Replica[];
  readonly sessions = new Map<string, ServerSession>();
  readonly observers: ((transaction: Transaction) => void)[] = [];
  readonly #kernel: Kernel;
  readonly #random: Random;
  #lastSession = 0;

  constructor(kernel: Kernel, random: Random, replicas = 3) {
    this.#kernel = kernel;
    this.#random = random;
    this.replicas = Array.from(
      { length: replicas },
      (_, index) => new Replica(changes => this.#announce(index, changes)),
    );
  }

  open(process: string, timeoutMs: number): ServerSession {
    const session: ServerSession = {
      id: `1-${(++this.#lastSession).toString(16)}`,
      process,
      timeoutMs,
      watches: new Map(),
      alive: true,
      replica: this.#random.int(this.replicas.length),
      seen: this.log.length,
      expiry: undefined,
      notify: undefined,
    };
    this.sessions.set(session.id, session);
    return session;
  }

  /** @throws StoreError */
  write(session: ServerSession, operations: readonly Operation[]): readonly OperationResult[] {
    if (!session.alive) throw new StoreError('SessionExpired', '/');
    const results =
      operations.length === 0 ? [] : this.#commit(session.id, session.process, operations, false);
    session.seen = this.log.length;
    return results;
  }

  /** What an operator does by hand, with a session that no check follows. */
  byHand(operations: readonly Operation[]): void {
    this.#commit('operator', 'operator', operations, false);
  }

  read<T>(session: ServerSession, read: (tree: NodeTree) => T): T {
    if (!session.alive) throw new StoreError('SessionExpired', '/');
    const replica = this.#replicaOf(session);
    replica.catchUp(this.log, session.seen);
    session.seen = replica.applied;
    return read(replica.tree);
  }

  sync(session: ServerSession): void {
    if (!session.alive) throw new StoreError('SessionExpired', '/');
    session.seen = this.log.length;
    this.#replicaOf(session).catchUp(this.log, session.seen);
  }

  /** The client is connected, to any of the servers. */
  attach(session: ServerSession, notify: ServerSession['notify']): void {
    this.contact(session);
    session.replica = this.#random.int(this.replicas.length);
    this.#replicaOf(session).catchUp(this.log, session.seen);
    session.notify = notify;
  }

  /** It is heard of again. */
  contact(session: ServerSession): void {
    if (session.expiry !== undefined) session.expiry.cancelled = true;
    session.expiry = undefined;
  }

  /** Nothing is heard of it from now on; it ends when that has lasted for the timeout. */
  silence(session: ServerSession): void {
    if (!session.alive || session.expiry !== undefined) return;
    session.expiry = this.#kernel.after(session.timeoutMs, undefined, `session ${session.id} expires`, () => {
      session.expiry = undefined;
      this.end(session);
    });
  }

  end(session: ServerSession): void {
    if (!session.alive) return;
    session.alive = false;
    session.notify = undefined;
    this.contact(session);
    const owned = this.leader.ephemeralsOf(session.id);
    if (owned.length > 0)
      this.#commit(
        session.id,
        session.process,
        owned.map(path => remove(path)),
        true,
      );
    this.#kernel.note(`session ${session.id} of ${session.process} is over`);
  }

  setLag(index: number, ms: number): void {
    const replica = this.replicas[index];
    if (replica === undefined) return;
    replica.lag = ms;
    if (ms === 0) replica.catchUp(this.log, this.log.length);
  }

  #replicaOf(session: ServerSession): Replica {
    const replica = this.replicas[session.replica];
    if (replica === undefined) throw new RangeError(`replica ${session.replica}`);
    return replica;
  }

  #commit(
    session: string,
    process: string,
    operations: readonly Operation[],
    ending: boolean,
  ): readonly OperationResult[] {
    const before = new Map<string, Uint8Array>();
    for (const operation of operations) {
      const node =
        operation.kind === 'set' || operation.kind === 'delete'
          ? this.leader.find(operation.path)
          : undefined;
      if (node !== undefined) before.set(operation.path, node.data);
    }
    const number = this.log.length + 1;
    const { results } = this.leader.apply(operations, session, number);
    const committed: Committed = { number, session, operations };
    this.log.push(committed);
    for (const replica of this.replicas) {
      if (replica.lag === 0) replica.catchUp(this.log, number);
      else
        this.#kernel.after(this.#random.range(0, replica.lag), undefined, 'replica', () =>
          replica.catchUp(this.log, number),
        );
    }
    const transaction = { ...committed, at: this.#kernel.now, process, results, before, ending };
    for (const observer of this.observers) observer(transaction);
    return results;
  }

  #announce(replica: number, changes: readonly TreeChange[]): void {
    for (const session of this.sessions.values()) {
      if (session.replica !== replica || session.notify === undefined || session.watches.size === 0) continue;
      const heard = changes.filter(change => isWatched(change.path, session.watches));
      if (heard.length > 0) session.notify(heard);
    }
  }
}

function isWatched(path: string, watches: ReadonlyMap<string, number>): boolean {
  for (let at = path; at !== ''; at = at.slice(0, at.lastIndexOf('/'))) if (watches.has(at)) return true;
  return false;
}

/** What a client is handed: its own copy. */
export function storedNode(node: TreeNode | undefined): StoredNode | undefined {
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

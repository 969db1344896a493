/**
 * The embedded store: ZooKeeper's tree in this process, for the all-in-one mode, trials and tests.
 *
 * Life of a write: `multi` queues it; once per turn of the event loop everything queued is applied to the tree in order,
 * the net effect goes to the journal as *one* SQLite transaction (group commit), and only after the disk has it are watches
 * notified and promises settled, in that order. While the disk is at it, the loop goes on: reads wait, so that no reader can
 * see what is not durable yet, and what is written meanwhile is the next batch. When the journal fails, the whole batch is undone
 * and its calls reject with `ConnectionLoss`: not even SQLite knows the outcome, so callers find out as they would with an
 * ensemble, by `sync` and a read. That `sync` first forces a marker to disk, which settles the outcome.
 *
 *     await using server = openEmbeddedStore({ file: 'state/store.db' });
 *     const store = server.connect();               // one session; open a second one for a second scheduler
 */
import { type OperationResult, type Store, StoreError } from '../port.ts';
import { type Journal, openJournal } from './journal.ts';
import { EmbeddedSession, type Task } from './session.ts';
import { type AppliedTransaction, type NodeChange, NodeTree, type TreeNode } from './tree.ts';
import { Watches } from './watches.ts';

/** Passed by `src/cmd` with the file of the settings; tests use `:memory:`. */
export interface EmbeddedStoreOptions {
  /** Path of the SQLite file, made when missing; `:memory:` keeps nothing. */
  readonly file: string;
  /** Runs the flush later in this process, once per call; default `setImmediate`. The simulator passes its own. */
  readonly defer?: (flush: () => void) => void;
  /** For tests of failing disks: opens another journal in place of the file's. */
  readonly openJournal?: (file: string, tree: NodeTree) => Journal;
}

/** The server side; each component of the process gets a session of its own. */
export interface EmbeddedStore extends AsyncDisposable {
  /** Opens a session. */
  connect(): Store;
  /** Ends a session as a server does after the session timeout: its ephemerals vanish, its object turns `lost`. */
  expire(sessionId: string): Promise<void>;
  /** Flushes, ends all sessions (without touching persistent nodes) and unlocks the file. Idempotent. */
  close(): Promise<void>;
}

/** Transactions per boot before numbers of the next boot begin: ZooKeeper's split of epoch and counter. */
const BOOT_SPAN = 2 ** 32;

const MEMORY_JOURNAL: Journal = { boot: 1, commit: () => undefined, close: () => {} };

/** @throws StoreFileError when the file is locked by another process or is not a store. */
export function openEmbeddedStore(options: EmbeddedStoreOptions): EmbeddedStore {
  const tree = new NodeTree();
  const open = options.openJournal ?? (options.file === ':memory:' ? () => MEMORY_JOURNAL : openJournal);
  return new EmbeddedServer(tree, open(options.file, tree), options.defer ?? (flush => setImmediate(flush)));
}

class EmbeddedServer implements EmbeddedStore {
  readonly #tree: NodeTree;
  readonly #journal: Journal;
  readonly #defer: (flush: () => void) => void;
  readonly #sessions = new Map<string, EmbeddedSession>();
  readonly #watches = new Watches();
  #queue: Task[] = [];
  /** A flush of the queue will come by itself. */
  #scheduled = false;
  /** What reads want to do once the batch under way is durable; undefined: none is under way. */
  #readers: (() => void)[] | undefined;
  #lastSession = 0;
  #lastTransaction: number;
  /** A commit failed: what is on disk is unknown until the next one succeeds. */
  #doubtful = false;
  #closing: Promise<void> | undefined;

  constructor(tree: NodeTree, journal: Journal, defer: (flush: () => void) => void) {
    this.#tree = tree;
    this.#journal = journal;
    this.#defer = defer;
    this.#lastTransaction = journal.boot * BOOT_SPAN;
  }

  connect(): Store {
    if (this.#closing !== undefined) throw new StoreError('Closed', '/');
    const id = `${this.#journal.boot.toString(16)}-${(++this.#lastSession).toString(16)}`;
    const session = new EmbeddedSession(id, {
      tree: this.#tree,
      watches: this.#watches,
      enqueue: task => this.#enqueue(task),
      whenDurable: read => (this.#readers === undefined ? read() : void this.#readers.push(read)),
    });
    this.#sessions.set(id, session);
    return session;
  }

  async expire(sessionId: string): Promise<void> {
    await this.#sessions.get(sessionId)?.end('SessionExpired');
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #close(): Promise<void> {
    try {
      await Promise.all([...this.#sessions.values()].map(session => session.close()));
    } finally {
      this.#journal.close();
    }
  }

  #enqueue(task: Task): void {
    this.#queue.push(task);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled || this.#readers !== undefined || this.#queue.length === 0) return;
    this.#scheduled = true;
    this.#defer(() => this.#flush());
  }

  #flush(): void {
    this.#scheduled = false;
    const tasks = this.#queue;
    this.#queue = [];
    const applied: AppliedTransaction[] = [];
    for (const task of tasks) task.run(operations => this.#apply(operations, task.session, applied));
    const isBarrier = tasks.some(task => task.barrier);
    const committing = this.#commit(applied, isBarrier);
    if (committing instanceof Promise) {
      this.#readers = [];
      void committing.then(failure => this.#settle(tasks, applied, failure));
    } else this.#settle(tasks, applied, committing);
  }

  /** @param failure of the journal. */
  #settle(tasks: readonly Task[], applied: readonly AppliedTransaction[], failure: Error | undefined): void {
    if (failure === undefined) this.#announce(applied);
    else {
      this.#doubtful = true;
      for (const outcome of applied.toReversed()) outcome.undo();
    }
    const readers = this.#readers ?? [];
    this.#readers = undefined;
    for (const read of readers) read();
    for (const task of tasks) {
      // A session that ends must end even if the disk fails: dropping ephemerals needs no journal.
      if (task.ends && failure !== undefined) {
        this.#queue.push(task);
        continue;
      }
      if (task.ends) this.#sessions.delete(task.session);
      task.settle(failure);
    }
    this.#schedule();
  }

  #apply(
    operations: Parameters<NodeTree['apply']>[0],
    session: string,
    applied: AppliedTransaction[],
  ): readonly OperationResult[] {
    const outcome = this.#tree.apply(operations, session, this.#lastTransaction + 1);
    this.#lastTransaction += 1;
    applied.push(outcome);
    return outcome.results;
  }

  /** @returns why it failed; undefined: it is durable, or there was nothing to write. */
  #commit(
    applied: readonly AppliedTransaction[],
    isBarrier: boolean,
  ): Promise<Error | undefined> | Error | undefined {
    const batch = netEffect(this.#tree, applied);
    if (batch.nodes.size === 0 && batch.sequences.size === 0 && !(isBarrier && this.#doubtful))
      return undefined;
    const committed = (): undefined => {
      this.#doubtful = false;
    };
    try {
      return this.#journal.commit(batch)?.then(committed, errorOf) ?? committed();
    } catch (error) {
      return errorOf(error);
    }
  }

  #announce(applied: readonly AppliedTransaction[]): void {
    for (const { changes } of applied) {
      for (const { kind, node } of changes) this.#watches.announce({ kind, path: node.path });
    }
  }
}

function errorOf(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

function netEffect(tree: NodeTree, applied: readonly AppliedTransaction[]): Parameters<Journal['commit']>[0] {
  const nodes = new Map<number, TreeNode | undefined>();
  const sequences = new Set<TreeNode>();
  const note = ({ kind, node }: NodeChange): void => {
    if (node.owner === undefined) nodes.set(node.id, kind === 'deleted' ? undefined : node);
    const parent = kind === 'created' ? tree.parentOf(node) : undefined;
    if (parent !== undefined) sequences.add(parent);
  };
  for (const { changes } of applied) changes.forEach(note);
  return { nodes, sequences };
}

/**
 * One session with an ensemble, as the port wants it.
 *
 *     connect ──▶ connected ──── no proof for T/2, or no connection ───▶ suspended
 *                  ▲    │                                                  │  │
 *                  └────┼───────────── proof of life, again in contact ────┘  │ no proof for T, or the server says "expired"
 *                       └──────────────── close ──────────▶ lost ◀────────────┘
 *
 * The state is computed from the lease (lease.ts) each time it is read; listeners are notified when it has changed. heartbeat.ts
 * asks for proofs and cuts connections without them, so that every call ends.
 *
 * On every new connection the first requests are, in this order: authentication, the watches (in pieces), a proof of life.
 * Callers' requests come behind them, and each watch gets `resync`. Without a connection calls fail with `ConnectionLoss`
 * immediately, having sent nothing: retries wait for `connected` anyway (connection.ts), and nothing old is written late. With
 * a connection but a doubtful lease they are sent: the check in a fenced multi decides, and reads need no lease.
 */
import type { Log } from '../../lib/log.ts';
import { requireNodePath } from '../node-path.ts';
import {
  type Operation,
  type OperationResult,
  type SessionState,
  type Store,
  type StoredNode,
  StoreError,
  type StoreErrorCode,
  type WatchEvent,
} from '../port.ts';
import { requireMultiSize } from '../size.ts';
import type { Recipe } from './call.ts';
import { Heartbeat } from './heartbeat.ts';
import { Lease } from './lease.ts';
import { Link } from './link.ts';
import type { ZooKeeperOptions } from './options.ts';
import { sessionName } from './replies.ts';
import {
  type Access,
  addWatch,
  authenticate,
  getChildren,
  getNode,
  getNodes,
  removeWatch,
  setWatches,
  sync,
  transaction,
} from './requests.ts';
import { ServerRefusal } from './server-errors.ts';
import type { Dialer } from './sockets.ts';
import { WatchTable } from './watch-table.ts';

/** Passed by source.ts; options and dialer are shared by all sessions of the process. */
export interface ZooKeeperSessionDeps {
  readonly options: ZooKeeperOptions;
  readonly dialer: Dialer;
  /** Names the component. */
  readonly log: Log;
}

/** Proves to a server that a client owns this session. */
export interface SessionCredentials {
  readonly id: bigint;
  readonly password: Buffer;
}

type Ending = Extract<StoreErrorCode, 'Closed' | 'SessionExpired' | 'Auth'>;

/** Paths per request of getMany: keeps an answer in the low megabytes. */
const NODES_PER_READ = 200;

/** The port's methods; once it is `lost` it stays so, and a new session is a new object. */
export class ZooKeeperSession implements Store {
  readonly #deps: ZooKeeperSessionDeps;
  readonly #link: Link;
  readonly #heartbeat: Heartbeat;
  readonly #access: Access;
  readonly #watches = new WatchTable();
  readonly #listeners = new Set<(state: SessionState) => void>();
  readonly #ready = Promise.withResolvers<void>();
  #isReady = false;
  #lease: Lease | undefined;
  #notifiedState: SessionState = 'suspended';
  #ended: Ending | undefined;
  #closing: Promise<void> = Promise.resolve();

  /** Not usable before `open` has returned; see source.ts. */
  constructor(deps: ZooKeeperSessionDeps) {
    this.#deps = deps;
    this.#access = deps.options.auth === undefined ? 'open' : 'creator';
    this.#link = new Link({
      options: deps.options,
      dialer: deps.dialer,
      log: deps.log,
      listener: {
        attached: (timeoutMs, sentAt) => this.#attached(timeoutMs, sentAt),
        detached: () => this.#detached(),
        expired: () => this.#expired(),
        refused: error => this.#refused(error),
        proved: sentAt => this.#proved(sentAt),
        changed: event => this.#watches.announce(event),
      },
    });
    this.#heartbeat = new Heartbeat({
      link: this.#link,
      now: () => deps.options.clock.monotonic(),
      goesOn: () => this.#observe() !== 'lost',
    });
  }

  /**
   * Waits until a server has accepted and authenticated us.
   *
   * @throws StoreError `Auth` when refused permanently, `SessionExpired` when the session ended before it was ready.
   */
  async open(): Promise<void> {
    this.#link.open();
    await this.#ready.promise;
  }

  get sessionId(): string {
    return sessionName(this.#link.sessionId);
  }

  get sessionState(): SessionState {
    return this.#observe();
  }

  /** With these another client can take over or close the session: tests use that to let a session expire. */
  credentials(): SessionCredentials {
    return { id: this.#link.sessionId, password: Buffer.from(this.#link.sessionPassword) };
  }

  onSessionState(listener: (state: SessionState) => void): Disposable {
    const entry = (state: SessionState): void => listener(state);
    this.#listeners.add(entry);
    return { [Symbol.dispose]: () => this.#listeners.delete(entry) };
  }

  async multi(operations: readonly Operation[]): Promise<readonly OperationResult[]> {
    this.#requireOpen('/');
    requireMultiSize(operations);
    for (const operation of operations)
      requireNodePath(operation.path, operation.kind === 'create' && operation.sequential);
    return operations.length === 0 ? [] : await this.#call(transaction(operations, this.#access));
  }

  async get(path: string): Promise<StoredNode | undefined> {
    requireNodePath(path);
    return await this.#call(getNode(path));
  }

  async children(path: string): Promise<readonly string[] | undefined> {
    requireNodePath(path);
    return await this.#call(getChildren(path));
  }

  async getMany(paths: readonly string[]): Promise<readonly (StoredNode | undefined)[]> {
    for (const path of paths) requireNodePath(path);
    this.#requireOpen(paths[0] ?? '/');
    const pieces: Promise<readonly (StoredNode | undefined)[]>[] = [];
    for (let at = 0; at < paths.length; at += NODES_PER_READ)
      pieces.push(this.#call(getNodes(paths.slice(at, at + NODES_PER_READ))));
    return (await Promise.all(pieces)).flat();
  }

  async sync(): Promise<void> {
    await this.#call(sync());
  }

  watch(path: string, listener: (event: WatchEvent) => void): Disposable {
    this.#requireOpen(path);
    requireNodePath(path);
    const watch = this.#watches.add(path, listener, () => this.#tend(removeWatch(path)));
    if (watch.isFirst) this.#tend(addWatch(path));
    return { [Symbol.dispose]: () => watch.end() };
  }

  async close(): Promise<void> {
    if (this.#ended === undefined) {
      this.#finish('Closed');
      this.#closing = this.#link.close(this.#timeoutMs / 2);
    }
    await this.#closing;
  }

  get #timeoutMs(): number {
    return this.#lease?.timeoutMs ?? this.#deps.options.sessionTimeoutMs;
  }

  async #call<T>(recipe: Recipe<T>): Promise<T> {
    this.#requireOpen(recipe.path);
    return await this.#link.send(recipe);
  }

  #requireOpen(path: string): void {
    if (this.#observe() === 'lost') throw new StoreError(this.#ended ?? 'SessionExpired', path);
  }

  /** The current state. Notifies listeners when it differs from the last one they received. */
  #observe(): SessionState {
    if (this.#ended !== undefined) return 'lost';
    const standing = this.#lease?.standing(this.#deps.options.clock.monotonic()) ?? 'doubtful';
    if (standing === 'over') {
      this.#deps.log.warn(
        { session: this.sessionId },
        'The ZooKeeper session is over: no contact for its timeout.',
      );
      this.#end('SessionExpired');
      return 'lost';
    }
    const state = standing === 'held' && this.#link.isAttached ? 'connected' : 'suspended';
    if (state !== this.#notifiedState) this.#notify(state);
    return state;
  }

  #notify(state: SessionState): void {
    this.#notifiedState = state;
    for (const listener of this.#listeners) {
      queueMicrotask(() => {
        if (this.#listeners.has(listener)) listener(state);
      });
    }
  }

  #attached(timeoutMs: number, sentAt: number): void {
    // Our own clock decides, even when a server accepts us again.
    if (this.#observe() === 'lost') return;
    const isFirst = this.#lease === undefined;
    if (this.#lease === undefined) this.#lease = new Lease(timeoutMs, sentAt);
    else this.#lease.renew(timeoutMs, sentAt);
    this.#deps.log.info({ session: this.sessionId, timeoutMs }, 'Connected to ZooKeeper.');
    this.#greet(this.#lease);
    this.#observe();
    if (!isFirst) this.#watches.announceResync();
  }

  /** The first requests on a connection. */
  #greet(lease: Lease): void {
    const { auth, root } = this.#deps.options;
    // `refused`, or the end of the connection, reports a failure.
    if (auth !== undefined)
      this.#link.authenticate(authenticate(auth.user, auth.password.reveal())).catch(() => {});
    for (const piece of setWatches(this.#watches.paths)) this.#tend(piece);
    this.#heartbeat.start(lease);
    if (!this.#isReady) this.#probe(root ?? '/').catch(() => {}); // fails with the connection
  }

  /** Checks that we may read the root of the installation. */
  async #probe(root: string): Promise<void> {
    try {
      await this.#link.send(getNode(root));
      this.#isReady = true;
      this.#ready.resolve();
    } catch (error) {
      if (!(error instanceof StoreError && (error.code === 'Auth' || error.code === 'Refused'))) throw error;
      this.#refused(error);
    }
  }

  /** Sends a change of the watches. Losing it with the connection is fine: the next connection sets all of them. */
  #tend(recipe: Recipe<void>): void {
    this.#link.send(recipe).catch((error: unknown) => {
      if (this.#ended !== undefined) return;
      if (error instanceof StoreError && error.code === 'ConnectionLoss') {
        // The server is up but too busy: the watch must be set again.
        if (error.cause instanceof ServerRefusal) this.#link.cut('a watch was put off');
        return;
      }
      // Without its watches a session would wait for ever: better to end it.
      this.#deps.log.error(
        { error, path: recipe.path },
        'ZooKeeper refuses a watch; it must be 3.6 or newer.',
      );
      this.#end('SessionExpired');
    });
  }

  #proved(sentAt: number): void {
    this.#lease?.prove(sentAt);
    this.#observe();
  }

  #detached(): void {
    this.#observe();
  }

  #expired(): void {
    if (this.#ended === undefined)
      this.#deps.log.warn(
        { session: this.sessionId },
        'The ZooKeeper session is over: the server has expired it.',
      );
    this.#end('SessionExpired');
  }

  #refused(error: StoreError): void {
    this.#deps.log.error({ error: error.cause ?? error }, 'ZooKeeper refuses us.');
    this.#ready.reject(error);
    this.#end('Auth');
  }

  /** Ends the session for a reason other than `close`. */
  #end(ending: Ending): void {
    if (this.#ended !== undefined) return;
    this.#finish(ending);
    this.#link.destroy(ending);
  }

  #finish(ending: Ending): void {
    this.#ended = ending;
    this.#heartbeat.stop();
    this.#watches.clear();
    this.#notify('lost');
    this.#ready.reject(new StoreError(ending, '/'));
  }
}

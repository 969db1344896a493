/**
 * A store that outlives its sessions: for a view or an intake that must stay open while the store is away.
 *
 *     const renewing = createRenewingStore();
 *     renewing.store.watch('/gatehouse/tenants', refresh);        // before there is any session
 *     renewing.attach(await source.connect('web', signal));       // watches are set, each gets `resync`
 *     …that session is lost: renewing.store is `suspended`…
 *     renewing.attach(await source.connect('web', signal));       // another session: `resync` again
 *
 * Between two sessions it is `suspended` and every call fails with `ConnectionLoss`, as it does when a session is merely out of
 * contact; so code written for one session (`settle`, `wakeUps`, refreshers) works over many. Not for locks and other
 * ephemeral nodes: those end with the session that made them.
 */
import {
  type Operation,
  type OperationResult,
  type SessionState,
  type Store,
  type StoredNode,
  StoreError,
  type WatchEvent,
} from './port.ts';

/** A store for views, and the means to give it the next session. */
export interface RenewingStore {
  readonly store: Store;
  /** Uses this session from now on; the previous one is released, not closed. */
  attach(session: Store): void;
}

/** Suspended until the first `attach`. */
export function createRenewingStore(): RenewingStore {
  const store = new Renewing();
  return { store, attach: session => store.attach(session) };
}

interface Watch {
  readonly path: string;
  readonly listener: (event: WatchEvent) => void;
  inner: Disposable | undefined;
}

class Renewing implements Store {
  #session: Store | undefined;
  #sessionState: Disposable | undefined;
  #closed = false;
  /** The state the listeners were last notified of. */
  #notifiedState: SessionState = 'suspended';
  readonly #watches = new Set<Watch>();
  readonly #listeners = new Set<(state: SessionState) => void>();

  /** Of the session in use; empty before the first. */
  get sessionId(): string {
    return this.#session?.sessionId ?? '';
  }

  get sessionState(): SessionState {
    if (this.#closed) return 'lost';
    return this.#session?.sessionState === 'connected' ? 'connected' : 'suspended';
  }

  onSessionState(listener: (state: SessionState) => void): Disposable {
    const entry = (state: SessionState): void => listener(state);
    this.#listeners.add(entry);
    return { [Symbol.dispose]: () => this.#listeners.delete(entry) };
  }

  attach(session: Store): void {
    if (this.#closed) return;
    this.#letGo();
    this.#session = session;
    this.#sessionState = session.onSessionState(() => this.#notify());
    for (const watch of this.#watches) {
      arm(watch, session);
      queueMicrotask(() => {
        if (this.#watches.has(watch)) watch.listener({ kind: 'resync', path: watch.path });
      });
    }
    this.#notify();
  }

  multi(operations: readonly Operation[], operationId?: string): Promise<readonly OperationResult[]> {
    return this.#call(session => session.multi(operations, operationId));
  }

  get(path: string): Promise<StoredNode | undefined> {
    return this.#call(session => session.get(path));
  }

  children(path: string): Promise<readonly string[] | undefined> {
    return this.#call(session => session.children(path));
  }

  getMany(paths: readonly string[]): Promise<readonly (StoredNode | undefined)[]> {
    return this.#call(session => session.getMany(paths));
  }

  sync(): Promise<void> {
    return this.#call(session => session.sync());
  }

  watch(path: string, listener: (event: WatchEvent) => void): Disposable {
    if (this.#closed) throw new StoreError('Closed', path);
    const watch: Watch = { path, listener, inner: undefined };
    this.#watches.add(watch);
    if (this.#session !== undefined) arm(watch, this.#session);
    return {
      [Symbol.dispose]: () => {
        this.#watches.delete(watch);
        watch.inner?.[Symbol.dispose]();
      },
    };
  }

  /** Permanent. The session in use is for its owner to close. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#letGo();
    this.#closed = true;
    this.#watches.clear();
    this.#notify();
    this.#listeners.clear();
  }

  async #call<T>(ask: (session: Store) => Promise<T>): Promise<T> {
    if (this.#closed) throw new StoreError('Closed', '/');
    if (this.#session === undefined) throw new StoreError('ConnectionLoss', '/');
    try {
      return await ask(this.#session);
    } catch (error) {
      // The session is over, this store is not: whether a call in flight was applied is as unknown as after a cut.
      if (error instanceof StoreError && (error.code === 'SessionExpired' || error.code === 'Closed'))
        throw new StoreError(this.#closed ? 'Closed' : 'ConnectionLoss', error.path, undefined, {
          cause: error,
        });
      throw error;
    }
  }

  #letGo(): void {
    this.#sessionState?.[Symbol.dispose]();
    for (const watch of this.#watches) {
      watch.inner?.[Symbol.dispose]();
      watch.inner = undefined;
    }
    this.#session = undefined;
  }

  #notify(): void {
    const state = this.sessionState;
    if (state === this.#notifiedState) return;
    this.#notifiedState = state;
    for (const listener of this.#listeners) queueMicrotask(() => listener(state));
  }
}

function arm(watch: Watch, session: Store): void {
  // A session that has ended meanwhile accepts no watches; the next one will.
  if (session.sessionState !== 'lost') watch.inner = session.watch(watch.path, watch.listener);
}

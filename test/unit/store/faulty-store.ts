/**
 * A store between the code under test and a real one that can lose requests, lose replies and go out of contact, on
 * command. What was sent before a loss is in the store behind; nothing else is made up.
 */
import {
  type Operation,
  type OperationResult,
  type SessionState,
  type Store,
  type StoredNode,
  StoreError,
  type WatchEvent,
} from '../../../src/store/port.ts';

export type Fault =
  /** The store never sees the call. */
  | 'lose-request'
  /** The store does it, the caller gets no answer. */
  | 'lose-reply';

export class FaultyStore implements Store {
  readonly sessionId: string;
  readonly #behind: Store;
  readonly #listeners = new Set<(state: SessionState) => void>();
  readonly #watchers = new Set<{ readonly path: string; listener(event: WatchEvent): void }>();
  /** Faults of the next multis, in order; none: they pass. */
  readonly faults: (Fault | undefined)[] = [];
  /** Called before each multi is sent on. */
  beforeMulti: (operations: readonly Operation[]) => Promise<void> | void = () => {};
  /** Called after each multi that was applied, before its caller hears of it (or of its loss). */
  afterMulti: () => Promise<void> | void = () => {};
  /** How often each call was made. */
  readonly calls = { multi: 0, get: 0, children: 0, sync: 0 };
  #suspended = false;
  #lost = false;

  constructor(behind: Store) {
    this.#behind = behind;
    this.sessionId = behind.sessionId;
    behind.onSessionState(state => this.#notify(state));
  }

  get sessionState(): SessionState {
    if (this.#lost) return 'lost';
    // A session that was closed is lost, whether it had contact or not.
    return this.#suspended && this.#behind.sessionState === 'connected'
      ? 'suspended'
      : this.#behind.sessionState;
  }

  onSessionState(listener: (state: SessionState) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }

  /** Out of contact: calls fail with ConnectionLoss, watches are silent. */
  suspend(): void {
    this.#suspended = true;
    this.#notify('suspended');
  }

  /** In contact again, with the same session; watches learn that they may have missed something. */
  resume(): void {
    this.#suspended = false;
    this.#notify('connected');
    for (const { path, listener } of this.#watchers) listener({ kind: 'resync', path });
  }

  /** The client gives its session up by its own clock, before the server does. */
  giveUp(): void {
    this.#lost = true;
    this.#notify('lost');
  }

  async multi(operations: readonly Operation[]): Promise<readonly OperationResult[]> {
    this.calls.multi += 1;
    this.#requireContact();
    const fault = this.faults.shift();
    if (fault === 'lose-request') throw new StoreError('ConnectionLoss', '/');
    await this.beforeMulti(operations);
    const results = await this.#behind.multi(operations);
    await this.afterMulti();
    if (fault === 'lose-reply') throw new StoreError('ConnectionLoss', '/');
    return results;
  }

  async get(path: string): Promise<StoredNode | undefined> {
    this.calls.get += 1;
    this.#requireContact();
    return await this.#behind.get(path);
  }

  async children(path: string): Promise<readonly string[] | undefined> {
    this.calls.children += 1;
    this.#requireContact();
    return await this.#behind.children(path);
  }

  async getMany(paths: readonly string[]): Promise<readonly (StoredNode | undefined)[]> {
    this.calls.get += paths.length;
    this.#requireContact();
    return await this.#behind.getMany(paths);
  }

  async sync(): Promise<void> {
    this.calls.sync += 1;
    this.#requireContact();
    await this.#behind.sync();
  }

  watch(path: string, listener: (event: WatchEvent) => void): Disposable {
    const entry = { path, listener };
    this.#watchers.add(entry);
    const behind = this.#behind.watch(path, event => {
      if (!this.#suspended && !this.#lost) listener(event);
    });
    return {
      [Symbol.dispose]: () => {
        this.#watchers.delete(entry);
        behind[Symbol.dispose]();
      },
    };
  }

  async close(): Promise<void> {
    await this.#behind.close();
  }

  #requireContact(): void {
    if (this.#lost) throw new StoreError('SessionExpired', '/');
    if (this.#suspended) throw new StoreError('ConnectionLoss', '/');
  }

  #notify(state: SessionState): void {
    for (const listener of [...this.#listeners]) listener(state);
  }
}

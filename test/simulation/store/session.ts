/**
 * A client's session, as the real client has it: `suspended` once nothing was heard for half the timeout, `lost` when the
 * server says so (or long after), every call with a known outcome or `ConnectionLoss`, watches called again (`resync`) after
 * each reconnect.
 *
 * The line to the server is a pair of queues: what is sent arrives in order, what is answered comes back in order. When the
 * line breaks, what is on it is gone; what had arrived has been done.
 */
import { requireNodePath } from '../../../src/store/node-path.ts';
import {
  type Operation,
  type OperationResult,
  type SessionState,
  type Store,
  type StoredNode,
  StoreError,
  type StoreErrorCode,
  type WatchEvent,
} from '../../../src/store/port.ts';
import type { Incarnation } from '../kernel/incarnation.ts';
import type { Kernel } from '../kernel/kernel.ts';
import type { Random } from '../kernel/random.ts';
import { attempt, labelOf, ownCopy, requireSize } from './calls.ts';
import type { TreeChange } from './replica.ts';
import { type ServerSession, type StoreServer, storedNode } from './server.ts';

/** What may go wrong on the line; asked at each call. */
export interface LineFaults {
  /** Milliseconds one way. */
  delay(process: string): number;
  /** The line breaks with this call: before it arrives, or before its answer leaves. */
  breakWith(process: string, label: string): 'request' | 'reply' | undefined;
}

export interface SessionDeps {
  readonly kernel: Kernel;
  readonly server: StoreServer;
  readonly random: Random;
  readonly faults: LineFaults;
  readonly timeoutMs: number;
  /** Counts calls that met a failure. */
  reached(name: string): void;
}

interface Call {
  fail(error: StoreError): void;
}

interface Watcher {
  readonly path: string;
  readonly listener: (event: WatchEvent) => void;
}

type Ended = Extract<StoreErrorCode, 'Closed' | 'SessionExpired'>;

export class SimSession implements Store {
  readonly sessionId: string;
  readonly #deps: SessionDeps;
  readonly #life: Incarnation;
  readonly #session: ServerSession;
  readonly #calls = new Set<Call>();
  readonly #watchers = new Set<Watcher>();
  readonly #listeners = new Set<(state: SessionState) => void>();
  /** Of the line: grows when it breaks. */
  #line = 0;
  #state: SessionState = 'connected';
  #ended: Ended | undefined;
  /** Nothing was heard since; undefined: in contact. */
  #silentSince: number | undefined;
  /** Nothing arrives before: the network is cut. */
  #cutUntil = 0;
  /** Answers do not arrive before. */
  #deafUntil = 0;
  #lastArrival = 0;
  #lastReply = 0;

  constructor(life: Incarnation, deps: SessionDeps) {
    this.#life = life;
    this.#deps = deps;
    this.#session = deps.server.open(life.name, deps.timeoutMs);
    this.sessionId = this.#session.id;
    deps.server.attach(this.#session, changes => this.#notified(changes));
  }

  get sessionState(): SessionState {
    if (this.#state !== 'connected' || this.#silentSince === undefined) return this.#state;
    // By the clock, not by the timer: a process that was paused finds out before doing anything.
    const silence = this.#deps.kernel.now - this.#silentSince;
    return silence >= this.#deps.timeoutMs / 2 ? 'suspended' : 'connected';
  }

  /** The server still counts it as alive: for the checks. */
  get isAliveAtServer(): boolean {
    return this.#session.alive;
  }

  onSessionState(listener: (state: SessionState) => void): Disposable {
    const entry = (state: SessionState): void => listener(state);
    this.#listeners.add(entry);
    return { [Symbol.dispose]: () => this.#listeners.delete(entry) };
  }

  async multi(operations: readonly Operation[]): Promise<readonly OperationResult[]> {
    requireSize(operations);
    const own = operations.map(ownCopy);
    return await this.#call(labelOf(own), () => this.#deps.server.write(this.#session, own));
  }

  async get(path: string): Promise<StoredNode | undefined> {
    requireNodePath(path);
    return await this.#call(`get ${path}`, () =>
      this.#deps.server.read(this.#session, tree => storedNode(tree.find(path))),
    );
  }

  async children(path: string): Promise<readonly string[] | undefined> {
    requireNodePath(path);
    return await this.#call(`children ${path}`, () =>
      this.#deps.server.read(this.#session, tree => {
        const node = tree.find(path);
        return node === undefined ? undefined : [...node.children].sort();
      }),
    );
  }

  async getMany(paths: readonly string[]): Promise<readonly (StoredNode | undefined)[]> {
    for (const path of paths) requireNodePath(path);
    if (paths.length === 0) return [];
    return await this.#call(`getMany ${paths[0]} …${paths.length}`, () =>
      this.#deps.server.read(this.#session, tree => paths.map(path => storedNode(tree.find(path)))),
    );
  }

  async sync(): Promise<void> {
    await this.#call('sync', () => this.#deps.server.sync(this.#session));
  }

  watch(path: string, listener: (event: WatchEvent) => void): Disposable {
    requireNodePath(path);
    if (this.#ended !== undefined) throw new StoreError(this.#ended, path);
    const watcher: Watcher = { path, listener: event => listener(event) };
    this.#watchers.add(watcher);
    const { watches } = this.#session;
    // Taken at once: earlier than the real one, which takes it before any later read.
    watches.set(path, (watches.get(path) ?? 0) + 1);
    return {
      [Symbol.dispose]: () => {
        if (!this.#watchers.delete(watcher)) return;
        const left = (watches.get(path) ?? 1) - 1;
        if (left === 0) watches.delete(path);
        else watches.set(path, left);
      },
    };
  }

  async close(): Promise<void> {
    if (this.#ended !== undefined) return;
    const { kernel, server } = this.#deps;
    if (this.sessionState === 'connected') {
      const said = this.#call('close', () => server.end(this.#session));
      this.#end('Closed');
      await said;
    } else {
      this.#end('Closed');
      if (this.#session.alive) server.silence(this.#session);
      kernel.note(`${this.#life.name} closes its session without a word`);
    }
  }

  // ---- what the world does to it ----

  /** Its process was killed or stopped: the server hears nothing any more. */
  silence(): void {
    this.#silentSince ??= this.#deps.kernel.now;
    this.#deps.server.silence(this.#session);
  }

  /** Its process goes on after a stop. */
  resume(): void {
    if (this.#ended !== undefined || this.#silentSince === undefined) return;
    const isLate = this.#deps.kernel.now - this.#silentSince >= this.#deps.timeoutMs / 2;
    if (
      this.#state === 'connected' &&
      !isLate &&
      this.#session.alive &&
      this.#cutUntil <= this.#deps.kernel.now
    ) {
      this.#heard();
      return;
    }
    this.break('the client was silent for too long');
  }

  /** Cut off for so long, both ways or only for what comes back; what is under way is late, not lost, unless either side gives up. */
  cut(ms: number, direction: 'both' | 'replies'): void {
    const { kernel, server, timeoutMs } = this.#deps;
    if (this.#ended !== undefined || this.#state !== 'connected') return;
    const until = kernel.now + ms;
    this.#deafUntil = Math.max(this.#deafUntil, until);
    if (direction === 'both') {
      this.#cutUntil = Math.max(this.#cutUntil, until);
      server.silence(this.#session);
    }
    this.#silentSince ??= kernel.now;
    const line = this.#line;
    if (ms >= timeoutMs / 2) {
      kernel.after(timeoutMs / 2, this.#life.process, `${this.#life.name} watchdog`, () => {
        if (this.#line === line) this.break('nothing was heard for half the timeout');
      });
    }
    kernel.after(ms, undefined, `${this.#life.name} line heals`, () => {
      if (this.#line === line && this.#life.alive() && !this.#life.process.paused) this.#heard();
    });
  }

  /** The line is gone; the client notices after a moment. */
  break(why: string): void {
    const { kernel, server } = this.#deps;
    if (this.#ended !== undefined || !this.#life.alive()) return;
    this.#line += 1;
    this.#session.notify = undefined;
    this.#silentSince ??= kernel.now;
    server.silence(this.#session);
    kernel.after(0.1, this.#life.process, `${this.#life.name} line broken`, () => this.#broken(why));
  }

  /** The server ends it, for any reason. */
  expire(): void {
    this.#deps.server.end(this.#session);
    this.break('the server ended the session');
  }

  // ---- the client ----

  #broken(why: string): void {
    if (this.#ended !== undefined) return;
    this.#deps.kernel.note(`${this.#life.name} is out of contact: ${why}`);
    this.#state = 'suspended';
    this.#failCalls(() => new StoreError('ConnectionLoss', '/'));
    this.#report('suspended');
    this.#reconnectLater();
  }

  #reconnectLater(): void {
    const { kernel, random, timeoutMs } = this.#deps;
    const line = this.#line;
    const again = () => {
      if (this.#ended !== undefined || this.#line !== line) return;
      const silence = kernel.now - (this.#silentSince ?? kernel.now);
      if (this.#cutUntil > kernel.now || this.#deafUntil > kernel.now) {
        // Long after the server must have given it up, the client does so, too.
        if (silence > timeoutMs * 1.5) this.#end('SessionExpired');
        else kernel.after(random.range(50, 400), this.#life.process, `${this.#life.name} reconnect`, again);
        return;
      }
      this.#reconnect(line);
    };
    kernel.after(random.range(5, 500), this.#life.process, `${this.#life.name} reconnect`, again);
  }

  #reconnect(line: number): void {
    const { kernel, server, faults } = this.#deps;
    kernel.after(faults.delay(this.#life.name), undefined, `${this.#life.name} reconnects`, () => {
      if (this.#line !== line || !this.#life.alive()) return;
      const isAlive = this.#session.alive;
      // It has its watches again before anything else is served.
      if (isAlive) server.attach(this.#session, changes => this.#notified(changes));
      this.#lastArrival = this.#lastReply = kernel.now;
      this.#reply(() => {
        if (this.#ended !== undefined) return;
        if (!isAlive) {
          this.#end('SessionExpired');
          return;
        }
        this.#silentSince = undefined;
        this.#state = 'connected';
        this.#deps.reached('reconnected');
        this.#report('connected');
        for (const watcher of [...this.#watchers]) {
          if (this.#watchers.has(watcher)) watcher.listener({ kind: 'resync', path: watcher.path });
        }
      });
    });
  }

  #heard(): void {
    this.#silentSince = undefined;
    if (this.#session.alive) this.#deps.server.contact(this.#session);
    else this.break('the server ended the session');
  }

  #call<T>(label: string, serve: () => T): Promise<T> {
    const { kernel, faults } = this.#deps;
    const { process } = this.#life;
    const never = new Promise<T>(() => {});
    if (!this.#life.alive()) return never;
    if (this.#ended !== undefined) return Promise.reject(new StoreError(this.#ended, '/'));
    if (this.sessionState !== 'connected') {
      this.#deps.reached('call while suspended');
      return Promise.reject(new StoreError('ConnectionLoss', '/'));
    }
    const line = this.#line;
    const point = kernel.point(process, label);
    if (point === undefined) return never;
    const fault = faults.breakWith(process.name, label);
    return new Promise<T>((resolve, reject) => {
      const call: Call = { fail: reject };
      this.#calls.add(call);
      // Where the line broke just before, it is sent into the line that is gone.
      this.#arrive(line, `${process.name} ${label}`, () => {
        if (fault === 'request') {
          this.#deps.reached('request lost');
          this.break('the request was lost');
          return;
        }
        const outcome = attempt(serve);
        kernel.story?.(
          `#${point.index} ${process.name} ${label}${'error' in outcome ? ` → ${String(outcome.error)}` : ''}`,
        );
        kernel.onPoint(point, 'effect');
        if (fault === 'reply') {
          this.#deps.reached('reply lost');
          this.break('the reply was lost');
          return;
        }
        this.#reply(() => {
          if (this.#calls.delete(call)) {
            if ('error' in outcome) reject(outcome.error);
            else resolve(outcome.value);
          }
          kernel.answered(point);
        });
      });
    });
  }

  /** Behind everything sent before. */
  #arrive(line: number, label: string, run: () => void): void {
    const { kernel, faults } = this.#deps;
    this.#lastArrival = Math.max(
      this.#lastArrival,
      this.#cutUntil,
      kernel.now + faults.delay(this.#life.name),
    );
    kernel.at(this.#lastArrival, undefined, label, () => {
      if (this.#line === line) run();
    });
  }

  /** Behind everything answered before. */
  #reply(run: () => void): void {
    const { kernel, faults } = this.#deps;
    const line = this.#line;
    this.#lastReply = Math.max(this.#lastReply, this.#deafUntil, kernel.now + faults.delay(this.#life.name));
    kernel.at(this.#lastReply, this.#life.process, `→ ${this.#life.name}`, () => {
      if (this.#line === line && this.#life.alive()) run();
    });
  }

  #notified(changes: readonly TreeChange[]): void {
    this.#reply(() => {
      for (const { kind, path } of changes) {
        for (const watcher of [...this.#watchers]) {
          const concerns = path === watcher.path || path.startsWith(`${watcher.path}/`);
          if (concerns && this.#watchers.has(watcher)) watcher.listener({ kind, path });
        }
      }
    });
  }

  #end(ended: Ended): void {
    if (this.#ended !== undefined) return;
    this.#ended = ended;
    this.#state = 'lost';
    if (ended === 'SessionExpired') this.#failCalls(() => new StoreError('SessionExpired', '/'));
    this.#watchers.clear();
    this.#session.watches.clear();
    this.#report('lost');
    this.#listeners.clear();
  }

  #failCalls(error: () => StoreError): void {
    const calls = [...this.#calls];
    this.#calls.clear();
    for (const call of calls) call.fail(error());
  }

  #report(state: SessionState): void {
    for (const listener of [...this.#listeners]) listener(state);
  }
}

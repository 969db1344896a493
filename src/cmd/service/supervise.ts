/**
 * Restarts one part of the process when its session with the store is lost.
 *
 *     connect → start → … → session lost → close what was started → wait a little → connect → …
 *
 * A part is anything that uses one session: a component, a delivery. Losing a session loses only what it held (locks, claims, running
 * builds); the process continues. Any other failure ends the part permanently and rejects `ended`.
 *
 *     const merger = supervise({ name: 'merger', connect, start: session => startMerger(session), log, … });
 *     merger.current()?.pause();
 *     await merger.close();
 */
import { aborted } from '../../lib/aborted.ts';
import { type Backoff, backoffDelay } from '../../lib/backoff.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { pause } from '../../lib/pause.ts';
import { isOutOfContact } from '../../store/connection.ts';
import { type Store, StoreError } from '../../store/port.ts';

/** Works in one session with the store, which the supervisor closes after it. */
export interface Part {
  /** Resolves when it was closed, rejects when it cannot continue. */
  readonly ended: Promise<void>;
  /** Idempotent, also after the loss of the session. */
  close(): Promise<void>;
}

/** What to start in each session, and which of its failures to outlast. */
export interface Supervision<P extends Part> {
  /** For the log and the reasons of {@link Supervised.notReady}. */
  readonly name: string;
  /** Name of the store for people: `ZooKeeper at zk1:2281`. */
  readonly storeName: string;
  /** Opens a new session; waits without limit. */
  readonly connect: (signal: AbortSignal) => Promise<Store>;
  /** Called once per session. On failure it closes what it opened; the supervisor closes the session. */
  readonly start: (session: Store) => Promise<P>;
  /** Failures after which the part is started again. Default: only loss of session or contact. */
  readonly isRetryable?: (error: unknown) => boolean;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly log: Log;
  /** Uniform in [0, 1), for jitter. */
  readonly random: () => number;
  readonly backoff?: Backoff;
  /** Default {@link CLOSE_GRACE}. */
  readonly closeGraceMs?: number;
}

/** A part over all its sessions. */
export interface Supervised<P extends Part> {
  /** Undefined between two sessions. */
  current(): P | undefined;
  /** Resolves with the first started part; rejects when supervision ends before. */
  readonly begun: Promise<P>;
  /** Resolves when it was closed or its part ended by itself; rejects with a permanent failure. */
  readonly ended: Promise<void>;
  /** Why the part has no working session, for people; undefined: it has one, or it was closed. */
  notReady(): string | undefined;
  /** Ends the part, or the wait for a session. Idempotent. */
  close(): Promise<void>;
}

const BACKOFF: Backoff = { firstMs: 100, maxMs: 15_000 };
/** Milliseconds of a session's life after which the backoff starts over. */
const GOOD_LIFE = 60_000;
/** Milliseconds a closing part may wait for contact with the store, to release its locks; then its session is closed. */
const CLOSE_GRACE = 2_000;
/** Milliseconds of waiting for a session after which a warning is logged. */
const LONG_WAIT = 1_000;

/**
 * Begins at once and never throws; failures are in `begun` and `ended`. After repeated failures it waits longer before the next
 * session, up to 15 s.
 */
export function supervise<P extends Part>(deps: Supervision<P>): Supervised<P> {
  return new Supervisor(deps);
}

class Supervisor<P extends Part> implements Supervised<P> {
  readonly begun: Promise<P>;
  readonly ended: Promise<void>;
  readonly #deps: Supervision<P>;
  readonly #stop = new AbortController();
  readonly #begin: (part: P) => void;
  #current: P | undefined;
  #session: Store | undefined;
  #doing: string;
  #over = false;

  constructor(deps: Supervision<P>) {
    this.#deps = deps;
    this.#doing = `waiting for ${deps.storeName}`;
    const begun = Promise.withResolvers<P>();
    begun.promise.catch(() => {}); // also reported by `ended`
    this.begun = begun.promise;
    this.#begin = begun.resolve;
    this.ended = this.#run().catch(error => {
      if (!this.#stop.signal.aborted) throw error;
    });
    this.ended.then(
      () => {
        this.#over = true;
        begun.reject(new Error(`${deps.name} was closed before it began`));
      },
      error => begun.reject(error),
    );
  }

  current(): P | undefined {
    return this.#current;
  }

  notReady(): string | undefined {
    if (this.#over) return undefined;
    if (this.#current === undefined) return this.#doing;
    const isConnected = this.#session?.sessionState === 'connected';
    return isConnected ? undefined : `no contact with ${this.#deps.storeName}`;
  }

  async close(): Promise<void> {
    this.#stop.abort(new StoreError('Closed', '/'));
    // Closing the session ends a start in progress.
    if (this.#current === undefined) await this.#session?.close();
    await this.ended.catch(() => {}); // reported by `ended`
  }

  async #run(): Promise<void> {
    const { clock, backoff = BACKOFF, random } = this.#deps;
    let losses = 0;
    while (!this.#stop.signal.aborted) {
      this.#session = await this.#connect();
      const startedAt = clock.monotonic();
      const failure = await this.#live(this.#session);
      this.#session = undefined;
      if (failure === undefined) return;
      losses = clock.monotonic() - startedAt > GOOD_LIFE ? 1 : losses + 1;
      this.#doing = 'reconnecting';
      this.#logFailure(failure);
      await pause(backoffDelay(backoff, losses, random()), this.#stop.signal);
    }
  }

  async #connect(): Promise<Store> {
    const { name, storeName, log, connect } = this.#deps;
    this.#doing = `waiting for ${storeName}`;
    const warning = setTimeout(
      () => log.warn({ component: name }, `${name} waits for ${storeName}, which does not answer yet`),
      LONG_WAIT,
    );
    try {
      return await connect(this.#stop.signal);
    } finally {
      clearTimeout(warning);
    }
  }

  /** @returns a retryable failure; undefined when the part has ended. */
  async #live(on: Store): Promise<unknown> {
    const { start, isRetryable, closeGraceMs = CLOSE_GRACE } = this.#deps;
    const { signal } = this.#stop;
    this.#doing = 'starting';
    let patience: NodeJS.Timeout | undefined;
    await using opened = new AsyncDisposableStack();
    opened.defer(() => clearTimeout(patience));
    opened.defer(() => on.close());
    using loss = lossOf(on);
    try {
      const part = await start(on);
      opened.defer(() => part.close().catch(error => this.#logCloseFailure(error)));
      this.#current = part;
      this.#begin(part);
      await Promise.race([part.ended, loss.lost, aborted(signal)]);
      return undefined;
    } catch (error) {
      if (signal.aborted) return undefined;
      if (!isOutOfContact(error) && isRetryable?.(error) !== true) throw error;
      return error;
    } finally {
      this.#current = undefined;
      patience = setTimeout(() => {
        if (on.sessionState !== 'connected') void on.close();
      }, closeGraceMs);
    }
  }

  #logFailure(failure: unknown): void {
    const { name, log } = this.#deps;
    if (isOutOfContact(failure))
      log.warn(
        { component: name, reason: String(failure) },
        `${name} lost its session with the store and reconnects`,
      );
    else log.error({ component: name, err: failure }, `${name} failed and restarts`);
  }

  #logCloseFailure(error: unknown): void {
    const { name, log } = this.#deps;
    if (isOutOfContact(error))
      log.debug({ component: name, err: error }, `${name} was closed without contact with the store`);
    else log.error({ component: name, err: error }, `${name} could not be closed cleanly`);
  }
}

function lossOf(session: Store): Disposable & { readonly lost: Promise<never> } {
  const { promise, reject } = Promise.withResolvers<never>();
  promise.catch(() => {}); // the race may be over
  const lose = () => reject(new StoreError('SessionExpired', '/'));
  const listener = session.onSessionState(state => {
    if (state === 'lost') lose();
  });
  if (session.sessionState === 'lost') lose();
  return { lost: promise, [Symbol.dispose]: () => listener[Symbol.dispose]() };
}

/**
 * Sessions with a ZooKeeper ensemble: the port on top of `node-zookeeper-client`, which is wrapped from outside and only keeps
 * queues and numbers (link.ts lists what is replaced).
 *
 *     await using source = openZooKeeper({ hosts, sessionTimeoutMs: 10_000, auth, tls, clock, log, random: Math.random });
 *     const store = await source.connect('scheduler', signal);
 *
 * A session's life, for T = 10 s and two servers, one of which is stopped with SIGSTOP at 100 s:
 *
 *     98.4   proof of life asked for and answered        connected, lease counts from 98.4
 *     100.1  the next one is sent, no answer             connected
 *     103.4  T/2 since the last proof                    suspended: nothing outside the store is done any more
 *     105.0  silent for T/2: connection cut              calls in flight fail with ConnectionLoss: they may have been applied
 *     105.1  the other server takes the session over     connected; auth, watches, proof; every watch gets `resync`
 *     …      or none does, until 108.4                   lost, by our own clock; the server removes the ephemerals
 *
 * Files: options · jute, frames, wire (bytes) · call, requests, replies, handshake, server-errors (meaning) · sockets, server-rotation,
 * connector (one connection after the other) · connection-manager, link (the package) · lease, heartbeat, watch-table, session (the port).
 */
import type { Log } from '../../lib/log.ts';
import { pause } from '../../lib/pause.ts';
import { type Store, StoreError, type StoreSource } from '../port.ts';
import type { ZooKeeperOptions } from './options.ts';
import { ZooKeeperSession } from './session.ts';
import { createDialer, type Dialer } from './sockets.ts';

/** @throws Error when TLS material cannot be used. */
export function openZooKeeper(options: ZooKeeperOptions): StoreSource {
  return new ZooKeeperSource(options);
}

class ZooKeeperSource implements StoreSource {
  readonly #options: ZooKeeperOptions;
  readonly #dialer: Dialer;
  readonly #sessions = new Set<ZooKeeperSession>();
  readonly #disposed = new AbortController();

  constructor(options: ZooKeeperOptions) {
    this.#options = options;
    this.#dialer = createDialer(options.tls);
  }

  async connect(name: string, signal?: AbortSignal): Promise<Store> {
    const log = this.#options.log.child({ component: name });
    const given =
      signal === undefined ? this.#disposed.signal : AbortSignal.any([signal, this.#disposed.signal]);
    for (;;) {
      given.throwIfAborted();
      const session = await this.#open(log, given);
      if (session !== undefined) return session;
      await pause(RETRY_MS, given);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed.abort(new StoreError('Closed', '/'));
    await Promise.all([...this.#sessions].map(async session => await session.close()));
  }

  /** Forgets the session once it has been closed at the server. */
  async #forget(session: ZooKeeperSession): Promise<void> {
    await session.close();
    this.#sessions.delete(session);
  }

  /** @returns undefined when the session expired before it was ready. */
  async #open(log: Log, signal: AbortSignal): Promise<ZooKeeperSession | undefined> {
    const session = new ZooKeeperSession({ options: this.#options, dialer: this.#dialer, log });
    const abort = (): unknown => session.close();
    signal.addEventListener('abort', abort, { once: true });
    this.#sessions.add(session);
    session.onSessionState(state => {
      if (state === 'lost') void this.#forget(session);
    });
    try {
      await session.open();
      return session;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof StoreError && error.code === 'SessionExpired') return undefined;
      throw error;
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }
}

/** Between sessions that failed to start; each of them has already waited with back-off. */
const RETRY_MS = 500;

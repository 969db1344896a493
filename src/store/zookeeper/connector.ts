/**
 * Finds a server and keeps one connection to it: hosts in, frames out. Knows nothing of sessions.
 *
 *     connect ─▶ pause (ServerRotation) ─▶ dial, TLS ─▶ hello ─▶ welcomed ─▶ frames … ─▶ dropped ─▶ connect …
 *                                            └─── within one share of the timeout ───┘
 *
 * An error is logged once until a connection has proved good: repeating the same one every second adds nothing.
 */
import type { Socket } from 'node:net';
import type { Log } from '../../lib/log.ts';
import { FrameSplitter } from './frames.ts';
import type { ZooKeeperHost, ZooKeeperOptions } from './options.ts';
import { ServerRotation } from './server-rotation.ts';
import { type Dialer, isTlsRefusal } from './sockets.ts';

interface ConnectorListener {
  /** A server accepted the connection. @returns the first bytes to send. */
  hello(socket: Socket): Buffer;
  /**
   * @param helloAt when this connection's hello was written, monotonic milliseconds.
   * @throws Error when this is not what a server sends: the connection is dropped.
   */
  received(frame: Buffer, helloAt: number): void;
  /** There may be room for more. */
  writable(): void;
  /** The connection, or the attempt at one, has ended. Not called after `stop`. */
  dropped(): void;
  /** TLS failed with every server, and has never worked. */
  refused(cause: Error): void;
}

/** Passed by link.ts, which is the listener. */
export interface ConnectorDeps {
  readonly options: ZooKeeperOptions;
  readonly dialer: Dialer;
  readonly log: Log;
  readonly listener: ConnectorListener;
}

/** One per session, for any number of connections, one after the other. */
export class Connector {
  readonly #deps: ConnectorDeps;
  readonly #rotation: ServerRotation;
  /** Since the last good connection. */
  readonly #complaints = new Set<string>();
  /** The current connection or attempt. */
  #socket: Socket | undefined;
  /** Timer of the pause before an attempt, the limit of an attempt, or the limit of a shutdown. */
  #timer: NodeJS.Timeout | undefined;
  #phase: 'dialling' | 'welcomed' | 'ending' = 'dialling';
  #wasEverWelcomed = false;
  /** Servers in a row with which TLS failed. */
  #refusals = 0;
  #lastReadAt = 0;

  constructor(deps: ConnectorDeps) {
    this.#deps = deps;
    this.#rotation = new ServerRotation(deps.options.hosts, deps.options.random);
  }

  /** Undefined between two attempts. */
  get socket(): Socket | undefined {
    return this.#socket;
  }

  /** Monotonic milliseconds at which a server was last heard of. */
  get lastReadAt(): number {
    return this.#lastReadAt;
  }

  /** Begins an attempt, after the pause that the rotation wants. Call it again after each `dropped`. */
  connect(): void {
    const { server, delayMs } = this.#rotation.next();
    this.#phase = 'dialling';
    this.#setTimer(delayMs, () => this.#dial(server));
  }

  /** The server has accepted the session: the attempt is no longer limited. */
  welcomed(): void {
    clearTimeout(this.#timer);
    this.#phase = 'welcomed';
    this.#wasEverWelcomed = true;
  }

  /** The connection works: the next error counts, and is logged, as new. */
  proved(): void {
    this.#rotation.succeeded();
    this.#complaints.clear();
  }

  /** The server is to close the connection now; after a limit we do. */
  end(deadlineMs: number): void {
    this.#phase = 'ending';
    this.#setTimer(deadlineMs, () => this.drop());
  }

  /** Takes effect immediately, not with the socket's event: a connection we dropped must not pass for a good one. */
  drop(): void {
    if (this.#socket === undefined) return;
    this.stop();
    this.#deps.listener.dropped();
  }

  /** Drops the connection or the attempt, without notifying the listener. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  #dial(server: ZooKeeperHost): void {
    const { dialer, listener, options } = this.#deps;
    const socket = dialer.dial(server).setNoDelay();
    this.#socket = socket;
    const ifCurrent = (act: () => void): void => {
      if (this.#socket === socket) act();
    };
    const fail = (error: Error): void => {
      this.#noteFailure(server, error);
      this.drop();
    };
    this.#setTimer(options.sessionTimeoutMs / (options.hosts.length + 1), () =>
      fail(new Error('no answer in time')),
    );
    const splitter = new FrameSplitter();
    let helloAt = 0;
    socket.on(dialer.readyEvent, () =>
      ifCurrent(() => {
        helloAt = options.clock.monotonic();
        socket.write(listener.hello(socket));
      }),
    );
    socket.on('data', (chunk: Buffer) => {
      this.#lastReadAt = options.clock.monotonic();
      try {
        // A frame may be the one that ends the connection.
        for (const frame of splitter.push(chunk)) ifCurrent(() => listener.received(frame, helloAt));
      } catch (error) {
        ifCurrent(() => fail(error instanceof Error ? error : new Error(String(error))));
      }
      ifCurrent(() => listener.writable());
    });
    socket.on('drain', () => ifCurrent(() => listener.writable()));
    socket.on('error', error => ifCurrent(() => this.#noteFailure(server, error)));
    socket.on('close', hadError =>
      ifCurrent(() => {
        // Servers without a quorum do this, and servers that speak TLS when we do not, or the other way round.
        if (!hadError && this.#phase !== 'ending')
          this.#noteFailure(server, new Error('closed by the server'));
        this.drop();
      }),
    );
  }

  #noteFailure(server: ZooKeeperHost, error: Error): void {
    const { listener, log, options } = this.#deps;
    const facts = { server: `${server.host}:${server.port}`, error: error.message };
    const text =
      this.#phase === 'dialling' ? 'Could not connect to ZooKeeper.' : 'The connection to ZooKeeper broke.';
    const complaint = JSON.stringify(facts);
    if (this.#complaints.has(complaint)) log.debug(facts, text);
    else log.warn(facts, text);
    this.#complaints.add(complaint);
    this.#refusals = isTlsRefusal(error) ? this.#refusals + 1 : 0;
    if (!this.#wasEverWelcomed && this.#refusals >= options.hosts.length) listener.refused(error);
  }

  #setTimer(ms: number, then: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(then, ms);
  }
}

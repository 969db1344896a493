/**
 * Wraps one client object of `node-zookeeper-client`: keeps a session across connections, and settles every call.
 *
 * The package keeps its queues, numbers the requests, writes them and holds the session's identity. Replaced from outside, on
 * the instance, is what measurements showed to be unsafe:
 *
 *     its own                                              ours
 *     sockets: hosts split at ":", spins, no TLS           Connector
 *     parser that throws on error numbers it knows not     one recipe per request
 *     silence is never noticed, idle timer as ping         session.ts asks `lastReadAt` and `oldestCall`, and cuts
 *     requests wait for a connection without bound         a call without a connection fails at once; a cut fails all there are
 *     all requests go into the socket's buffers            a window, so that "sent at" says when the server may have heard of us
 *     one write per request                                one write per turn of the event loop
 *
 * How calls are settled: answered calls by their answer. Calls that were sent and lost with the connection by `ConnectionLoss`,
 * since they may have been applied; so are those that were still queued, except when the session is over (see `destroy`).
 */
import type { Socket } from 'node:net';
import { createClient } from 'node-zookeeper-client';
import type { Log } from '../../lib/log.ts';
import { StoreError, type StoreErrorCode, type WatchEvent } from '../port.ts';
import { Call, type QueuedCall, type Recipe } from './call.ts';
import type { ConnectionManager, Packet } from './connection-manager.ts';
import { Connector } from './connector.ts';
import { connectFrame, readConnectAnswer, readNotification } from './handshake.ts';
import { JuteReader } from './jute.ts';
import type { ZooKeeperOptions } from './options.ts';
import { endSession } from './requests.ts';
import { isSessionProof, SERVER_ERROR, storeErrorOf } from './server-errors.ts';
import type { Dialer } from './sockets.ts';
import { LINK, XID } from './wire.ts';

interface LinkListener {
  /** A server accepted us, as a new session or the existing one. Calls made in here are the first on this connection. */
  attached(timeoutMs: number, sentAt: number): void;
  /** The connection is gone; the connector looks for another one. */
  detached(): void;
  /** The servers have ended the session. */
  expired(): void;
  /** The servers, or we, refuse permanently. */
  refused(error: StoreError): void;
  /** An answer proves that the session was alive when the request was sent: monotonic milliseconds. */
  proved(sentAt: number): void;
  changed(event: WatchEvent): void;
}

/** Passed by the session, which is the listener. */
export interface LinkDeps {
  readonly options: ZooKeeperOptions;
  readonly dialer: Dialer;
  readonly log: Log;
  readonly listener: LinkListener;
}

/** Limits of the requests in flight; a server needs less than half a second for them. */
const WINDOW = { calls: 1000, bytes: 4 * 1024 * 1024 };

/** One per session; it finds connections until `close` or `destroy`. */
export class Link {
  readonly #deps: LinkDeps;
  readonly #manager: ConnectionManager;
  readonly #connector: Connector;
  readonly #now: () => number;
  readonly #closed = Promise.withResolvers<void>();
  #flushQueued = false;
  /** Bytes of the requests in flight. */
  #bytesInFlight = 0;
  #attached = false;
  #destroyed = false;
  #lastTransaction = 0n;
  #authentication: QueuedCall | undefined;

  constructor(deps: LinkDeps) {
    const { options } = deps;
    this.#deps = deps;
    this.#now = () => options.clock.monotonic();
    this.#connector = new Connector({
      ...deps,
      listener: {
        hello: socket => this.#hello(socket),
        received: (frame, helloAt) => this.#received(new JuteReader(frame), helloAt),
        writable: () => this.#queueFlush(),
        dropped: () => this.#dropped(),
        refused: cause => deps.listener.refused(new StoreError('Auth', '/', undefined, { cause })),
      },
    });
    // The package's own host list is never used.
    this.#manager = createClient('unused:1').connectionManager;
    this.#manager.connect = () => {
      this.#manager.setState(LINK.connecting);
      this.#connector.connect();
    };
    const { packetQueue } = this.#manager;
    packetQueue.removeAllListeners('readable').on('readable', () => this.#queueFlush());
    packetQueue.shift = () => this.#nextToSend();
  }

  get isAttached(): boolean {
    return this.#attached;
  }

  /** 0 before the first session. */
  get sessionId(): bigint {
    return this.#manager.sessionId.readBigInt64BE();
  }

  get sessionPassword(): Buffer {
    return this.#manager.sessionPassword;
  }

  /** Monotonic milliseconds at which the server was last heard of. */
  get lastReadAt(): number {
    return this.#connector.lastReadAt;
  }

  /** The call that has waited longest. */
  get oldestCall(): Pick<QueuedCall, 'madeAt' | 'sentAt'> | undefined {
    return (this.#manager.pendingQueue[0] ?? this.#manager.packetQueue.queue[0])?.request;
  }

  open(): void {
    this.#manager.connect();
  }

  /**
   * @param place `first`: before everything that is not sent yet.
   * @throws StoreError `ConnectionLoss` immediately when there is no connection.
   */
  async send<T>(recipe: Recipe<T>, place: 'first' | 'last' = 'last'): Promise<T> {
    if (!this.#attached || this.#manager.state !== LINK.connected)
      throw new StoreError('ConnectionLoss', recipe.path);
    const call = new Call(recipe, this.#now);
    if (place === 'last') this.#manager.queue(call);
    else this.#jumpQueue(call);
    return await call.promise;
  }

  /** Answered out of turn, so not by `send`. */
  async authenticate(recipe: Recipe<void>): Promise<void> {
    const call = new Call(recipe, this.#now, XID.auth);
    this.#authentication = call;
    this.#manager.queue(call);
    await call.promise;
  }

  /** Drops the connection and looks for another one. */
  cut(reason: string): void {
    this.#deps.log.warn({ reason }, 'Cutting the connection to ZooKeeper.');
    this.#connector.drop();
  }

  /** Ends the session at the server, after all calls made before; without a connection it times out there. */
  async close(deadlineMs: number): Promise<void> {
    if (!this.#attached || this.#manager.state !== LINK.connected) {
      this.destroy('Closed');
      return;
    }
    this.#manager.setState(LINK.closing);
    const call = new Call(endSession(), this.#now);
    call.promise.catch(() => {}); // the connection was lost first: same result
    this.#manager.queue(call);
    this.#connector.end(deadlineMs);
    await this.#closed.promise;
  }

  /**
   * Never connects again. Calls in flight fail with `ConnectionLoss`, because they may have been applied; queued ones with `code`.
   */
  destroy(code: StoreErrorCode): void {
    if (this.#destroyed) return;
    this.#destroyed = true;
    this.#attached = false;
    this.#connector.stop();
    this.#failAll(code);
    this.#manager.setState(LINK.closed);
    this.#closed.resolve();
  }

  #hello(socket: Socket): Buffer {
    this.#manager.socket = socket;
    return connectFrame({
      lastTransaction: this.#lastTransaction,
      timeoutMs: this.#deps.options.sessionTimeoutMs,
      sessionId: this.sessionId,
      password: this.#manager.sessionPassword,
    });
  }

  #jumpQueue(call: QueuedCall): void {
    this.#manager.packetQueue.queue.unshift({ request: call });
    this.#queueFlush();
  }

  /** For the package's loop that writes what is queued. */
  #nextToSend(): Packet | undefined {
    const { pendingQueue, packetQueue } = this.#manager;
    const isFull = pendingQueue.length >= WINDOW.calls || this.#bytesInFlight >= WINDOW.bytes;
    const packet = isFull ? undefined : packetQueue.queue.shift();
    this.#bytesInFlight += packet?.request.byteLength ?? 0;
    return packet;
  }

  #received(body: JuteReader, helloAt: number): void {
    if (!this.#attached) {
      this.#attach(body, helloAt);
      return;
    }
    const xid = body.int();
    const transaction = body.long();
    const error = body.int();
    if (xid === XID.ping) return;
    if (xid === XID.notification) this.#notify(body);
    else if (xid === XID.auth) this.#answerAuthentication(error, body);
    else this.#answer(xid, transaction, error, body);
  }

  #attach(body: JuteReader, sentAt: number): void {
    const answer = readConnectAnswer(body);
    if (answer.timeoutMs <= 0) {
      this.#deps.listener.expired();
      return;
    }
    this.#connector.welcomed();
    this.#manager.sessionId.writeBigInt64BE(answer.sessionId);
    this.#manager.sessionPassword = answer.password;
    this.#manager.setState(LINK.connected);
    this.#attached = true;
    this.#deps.listener.attached(answer.timeoutMs, sentAt);
  }

  #notify(body: JuteReader): void {
    const event = readNotification(body);
    if (event !== undefined) this.#deps.listener.changed(event);
  }

  #answerAuthentication(error: number, body: JuteReader): void {
    this.#bytesInFlight -= this.#authentication?.byteLength ?? 0;
    this.#authentication?.answer(error, body);
    this.#authentication = undefined;
    if (error !== SERVER_ERROR.none) this.#deps.listener.refused(storeErrorOf(error, '/'));
  }

  #answer(xid: number, transaction: bigint, error: number, body: JuteReader): void {
    const call = this.#manager.pendingQueue.shift()?.request;
    if (call === undefined || call.header.xid !== xid) {
      call?.fail(lost(call));
      throw new Error(`an answer to request ${xid}, but ${call?.header.xid ?? 'none'} is next`);
    }
    this.#bytesInFlight -= call.byteLength;
    if (transaction > 0n) this.#lastTransaction = transaction;
    if (call.provesSession && call.sentAt !== undefined && isSessionProof(error)) {
      this.#connector.proved();
      this.#deps.listener.proved(call.sentAt);
    }
    try {
      call.answer(error, body);
    } catch (failure) {
      call.fail(lost(call, failure));
      throw failure;
    }
    if (error === SERVER_ERROR.sessionExpired) this.#deps.listener.expired();
    if (error === SERVER_ERROR.sessionMoved) this.cut('this server says the session has moved');
  }

  #dropped(): void {
    const wasClosing = this.#manager.state === LINK.closing;
    this.#attached = false;
    this.#failAll('ConnectionLoss');
    if (wasClosing) {
      this.destroy('Closed');
      return;
    }
    this.#manager.setState(LINK.disconnected);
    this.#deps.listener.detached();
    // The listener may have ended us.
    if (!this.#destroyed) this.#manager.connect();
  }

  #failAll(codeOfUnsent: StoreErrorCode): void {
    const { pendingQueue, packetQueue } = this.#manager;
    const sent = pendingQueue.splice(0);
    const unsent = packetQueue.queue.splice(0);
    this.#bytesInFlight = 0;
    this.#authentication?.fail(new StoreError('ConnectionLoss', '/'));
    this.#authentication = undefined;
    for (const { request } of sent) request.fail(lost(request));
    for (const { request } of unsent) request.fail(new StoreError(codeOfUnsent, request.path));
  }

  #queueFlush(): void {
    if (this.#flushQueued || this.#manager.packetQueue.queue.length === 0) return;
    this.#flushQueued = true;
    process.nextTick(() => this.#flush());
  }

  /** Everything requested in this turn of the event loop is written together. */
  #flush(): void {
    this.#flushQueued = false;
    const { socket } = this.#connector;
    if (socket === undefined || !this.#attached || socket.writableNeedDrain) return;
    socket.cork();
    this.#manager.onPacketQueueReadable();
    socket.uncork();
  }
}

function lost(call: QueuedCall, cause?: unknown): StoreError {
  return new StoreError('ConnectionLoss', call.path, undefined, { cause });
}

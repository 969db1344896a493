/**
 * One request and the promise of its answer.
 *
 * A call is encoded when it is made, so that the caller may reuse its bytes immediately; its number (xid) is written into the
 * frame when the package's connection manager takes it from the queue. A lease may count from that moment on.
 */
import { StoreError } from '../port.ts';
import { type JuteReader, JuteWriter } from './jute.ts';

/** What the package's packet queue needs of a request, and what our connection needs to settle it. */
export interface QueuedCall {
  /** `xid` is set by the package. */
  readonly header: { xid: number; readonly type: number };
  /** For errors. */
  readonly path: string;
  /** Called by the package just before it writes to the socket. */
  toBuffer(): Buffer;
  readonly byteLength: number;
  /** The answer comes from the leader of a quorum, so that it proves that the session is alive. */
  readonly provesSession: boolean;
  /** Monotonic milliseconds. */
  readonly madeAt: number;
  /** Monotonic milliseconds; undefined as long as it waits in the queue. */
  readonly sentAt: number | undefined;
  /** @throws Error when the answer cannot be read: the connection is then unusable. */
  answer(error: number, body: JuteReader): void;
  fail(error: StoreError): void;
}

/** The encoding of one kind of request and the meaning of its answer. */
export interface Recipe<T> {
  readonly type: number;
  /** For errors. */
  readonly path: string;
  /** Size of the body in bytes, estimated. */
  readonly size: number;
  readonly provesSession?: boolean;
  write(body: JuteWriter): void;
  /**
   * @param error 0, or the server's number.
   * @throws StoreError for the caller.
   */
  read(error: number, body: JuteReader): T;
}

const XID_AT = 4;

/** @param xid only for what has a number of its own (`XID`); any other call gets its number when it is sent. */
export class Call<T> implements QueuedCall {
  readonly header: { xid: number; readonly type: number };
  readonly path: string;
  readonly provesSession: boolean;
  readonly madeAt: number;
  readonly promise: Promise<T>;
  sentAt: number | undefined;
  readonly #recipe: Recipe<T>;
  readonly #now: () => number;
  readonly #frame: Buffer;
  readonly #settle: PromiseWithResolvers<T>;

  constructor(recipe: Recipe<T>, now: () => number, xid = 0) {
    this.#recipe = recipe;
    this.#now = now;
    this.path = recipe.path;
    this.madeAt = now();
    this.header = { xid, type: recipe.type };
    this.provesSession = recipe.provesSession ?? false;
    this.#settle = Promise.withResolvers<T>();
    this.promise = this.#settle.promise;
    const frame = new JuteWriter(recipe.size + 16).int(0).int(xid).int(recipe.type);
    recipe.write(frame);
    this.#frame = frame.finish();
    this.#frame.writeInt32BE(this.#frame.byteLength - 4, 0);
  }

  get byteLength(): number {
    return this.#frame.byteLength;
  }

  toBuffer(): Buffer {
    this.sentAt = this.#now();
    this.#frame.writeInt32BE(this.header.xid, XID_AT);
    return this.#frame;
  }

  answer(error: number, body: JuteReader): void {
    let value: T;
    try {
      value = this.#recipe.read(error, body);
    } catch (failure) {
      if (!(failure instanceof StoreError)) throw failure;
      this.#settle.reject(failure);
      return;
    }
    this.#settle.resolve(value);
  }

  fail(error: StoreError): void {
    this.#settle.reject(error);
  }
}

/**
 * A server that does what a test prescribes, which a real one would do once in a year: keep silent, refuse with strange numbers,
 * close what it has just accepted. Knows no tree: every request succeeds with an empty answer unless the script says otherwise.
 */
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { FrameSplitter } from '../../../../src/store/zookeeper/frames.ts';
import { JuteReader, JuteWriter } from '../../../../src/store/zookeeper/jute.ts';
import { OP, XID } from '../../../../src/store/zookeeper/wire.ts';

/** Long enough for a machine that is busy with other tests. */
export const TIMEOUT_MS = 1500;

export interface Script {
  /** Milliseconds granted to sessions; 0: there is no such session. Default: {@link TIMEOUT_MS}. */
  timeoutMs?: number;
  /** Bytes are read and nothing is answered. */
  silent?: boolean;
  /** Connections are closed as soon as they are there, as by a server without quorum. */
  closesAtOnce?: boolean;
  /** Error numbers by kind of request. */
  readonly errors?: Map<number, number>;
  /** Kinds of requests that get no answer. */
  readonly unanswered?: Set<number>;
  /** Sent in place of an answer to a get. */
  readonly notAnAnswer?: Buffer;
  /** Sent in one piece with the answer to a get, behind it. */
  readonly behindAnswer?: Buffer;
}

export interface SeenRequest {
  /** Which connection, from 0. */
  readonly connection: number;
  /** One of `OP`, or `connect`. */
  readonly kind: number | 'connect';
  readonly body: JuteReader;
}

export class ScriptedServer implements AsyncDisposable {
  readonly script: Script;
  readonly seen: SeenRequest[] = [];
  connections = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  constructor(script: Script = {}) {
    this.script = script;
    this.#server = createServer({ noDelay: true }, socket => this.#serve(socket));
  }

  async listen(): Promise<{ readonly host: string; readonly port: number }> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    return { host: '127.0.0.1', port: address.port };
  }

  /** Kinds of the requests of one connection, in order. */
  kinds(connection: number): (number | 'connect')[] {
    return this.seen.filter(request => request.connection === connection).map(({ kind }) => kind);
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** To all sessions. */
  notify(type: number, path: string): void {
    const event = new JuteWriter(64)
      .int(0)
      .int(XID.notification)
      .long(-1n)
      .int(0)
      .int(type)
      .int(3)
      .string(path);
    const frame = framed(event);
    for (const socket of this.#sockets) socket.write(frame);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #serve(socket: Socket): void {
    const connection = this.connections++;
    socket.on('error', () => {});
    if (this.script.closesAtOnce) {
      socket.destroy();
      return;
    }
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    const splitter = new FrameSplitter();
    let greeted = false;
    socket.on('data', chunk => {
      for (const frame of splitter.push(chunk)) {
        if (greeted) this.#answer(socket, connection, new JuteReader(frame));
        else this.#greet(socket, connection, new JuteReader(frame));
        greeted = true;
      }
    });
  }

  #greet(socket: Socket, connection: number, body: JuteReader): void {
    this.seen.push({ connection, kind: 'connect', body });
    if (this.script.silent) return;
    const { timeoutMs = TIMEOUT_MS } = this.script;
    const answer = new JuteWriter(64)
      .int(0)
      .int(0)
      .int(timeoutMs)
      .long(77n)
      .bytes(new Uint8Array(16))
      .bool(false);
    socket.write(framed(answer));
  }

  #answer(socket: Socket, connection: number, body: JuteReader): void {
    const xid = body.int();
    const kind = body.int();
    this.seen.push({ connection, kind, body });
    if (this.script.silent || this.script.unanswered?.has(kind)) return;
    if (kind === OP.get && this.script.notAnAnswer !== undefined) {
      socket.write(this.script.notAnAnswer);
      return;
    }
    const error = this.script.errors?.get(kind) ?? 0;
    const answer = framed(
      new JuteWriter(128).int(0).int(xid).long(1n).int(error),
      error === 0 ? bodyOf(kind) : undefined,
    );
    const { behindAnswer } = this.script;
    socket.write(
      kind === OP.get && behindAnswer !== undefined ? Buffer.concat([answer, behindAnswer]) : answer,
    );
    if (kind === OP.closeSession) socket.end();
  }
}

function bodyOf(kind: number): Buffer | undefined {
  if (kind === OP.get) return Buffer.alloc(4 + 68);
  if (kind === OP.set) return Buffer.alloc(68);
  if (kind === OP.create || kind === OP.sync) return new JuteWriter(16).string('/made').finish();
  if (kind === OP.children) return Buffer.alloc(4);
  return undefined;
}

/** The first four bytes of `frame` are kept for its length. */
function framed(frame: JuteWriter, body: Buffer = Buffer.alloc(0)): Buffer {
  const whole = Buffer.concat([frame.finish(), body]);
  whole.writeInt32BE(whole.byteLength - 4);
  return whole;
}

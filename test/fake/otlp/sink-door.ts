/** Where requests come in: a listener on loopback, its connections, and who decides on the answers. */
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { SinkAnswer } from './sink-answer.ts';
import type { SinkSpan } from './sink-span.ts';

interface ArrivedRequest {
  readonly method: string;
  readonly path: string;
  /** Names in lower case. */
  readonly headers: { readonly [name: string]: string };
  /** Without its compression. */
  readonly body: Buffer;
  readonly decode: (body: Buffer) => readonly SinkSpan[];
}

/** Called with each whole request. */
export type Receive = (request: ArrivedRequest, refusal?: SinkAnswer) => SinkAnswer;

export interface DoorOptions {
  /** Default: a free one. */
  readonly port?: number;
  /** With `clientCa`, only clients it signed get in. */
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer; readonly clientCa?: Buffer };
  /** Largest message taken. */
  readonly maxBytes: number;
  readonly receive: Receive;
}

export interface Door {
  readonly port: number;
  /** Connections made so far. */
  connections(): number;
  /** Read from all of them, as it came over the wire. */
  bytesRead(): number;
  /** Cuts every connection at once and listens no more. */
  stop(): void;
}

export interface Listener extends Door {
  /** Ends the connection from that port of the other side without a word. */
  reset(remotePort: number | undefined): void;
}

/** @param take is handed each connection before anything was read from it. */
export async function listenForConnections(port: number, take: (socket: Socket) => void): Promise<Listener> {
  const sockets = new Set<Socket>();
  let connections = 0;
  let finished = 0;
  const server: Server = createServer(socket => {
    connections += 1;
    sockets.add(socket);
    socket.once('close', () => {
      sockets.delete(socket);
      finished += socket.bytesRead;
    });
    // The other side may be killed at any time, which is none of the sink's troubles.
    socket.on('error', () => {});
    take(socket);
  });
  const listening = Promise.withResolvers<void>();
  server.once('error', listening.reject);
  server.listen(port, '127.0.0.1', listening.resolve);
  await listening.promise;
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    bytesRead: () => [...sockets].reduce((sum, socket) => sum + socket.bytesRead, finished),
    reset(remotePort) {
      for (const socket of sockets) if (socket.remotePort === remotePort) socket.resetAndDestroy();
    },
    stop() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

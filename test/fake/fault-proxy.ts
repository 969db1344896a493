/**
 * A TCP proxy that misbehaves on command, between a client and a server that both do not know it is there.
 *
 *     await using proxy = await startFaultProxy({ port: server.port });
 *     connect to proxy.port ...
 *     proxy.set({ kind: 'dropReplies' });   // requests arrive and are carried out, answers are lost
 *     proxy.set({ kind: 'pass' });          // from now on; what was dropped stays lost
 *
 * Modes may be set at any time, for both directions or one, also for live connections. What `hang` holds back is delivered
 * when the direction passes again, unlike what the drops swallow: a stream with a hole is of no use, so such a
 * connection is reset as soon as it passes again, as a network that lost packets for too long would.
 */
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { Lane, type LaneEvents, type LaneMode } from './fault-lane.ts';
import { freePort } from './zookeeper/free-port.ts';

type ProxyMode =
  | LaneMode
  /** Answers of the server are read and thrown away. */
  | { readonly kind: 'dropReplies' }
  /** What the client says is read and thrown away. */
  | { readonly kind: 'dropRequests' }
  /** Live connections are reset, and each new one as soon as it is made. */
  | { readonly kind: 'reset' }
  /** Live connections are reset; new ones are refused, as with no server there. */
  | { readonly kind: 'refuse' };

interface Counters {
  /** Connections taken so far. */
  readonly connections: number;
  /** Bytes that reached the other side. */
  readonly toServer: number;
  readonly toClient: number;
  /** Bytes thrown away. */
  readonly dropped: number;
}

export interface FaultProxy extends AsyncDisposable {
  readonly host: '127.0.0.1';
  readonly port: number;
  /** Live connections now. */
  readonly live: number;
  readonly counters: Counters;
  set(mode: ProxyMode): void;
  /** One direction alone; the other stays as it is. */
  setToServer(mode: LaneMode): void;
  setToClient(mode: LaneMode): void;
  /** Resets the live connections, once. */
  cut(): void;
  /** Resolves when the next bytes are thrown away. */
  nextDrop(): Promise<void>;
  /** Calls `listener` with each piece of a request just before it goes on: a mode set then decides about its answer. */
  onRequest(listener: (piece: Buffer) => void): Disposable;
  /** Another server for new connections; live ones stay where they are. */
  retarget(port: number): void;
}

interface Pair {
  readonly sockets: readonly [Socket, Socket];
  readonly toServer: Lane;
  readonly toClient: Lane;
}

const PASS: LaneMode = { kind: 'pass' };
const DROP: LaneMode = { kind: 'drop' };

export async function startFaultProxy(target: {
  readonly port: number;
  readonly host?: string;
}): Promise<FaultProxy> {
  const pairs = new Set<Pair>();
  const listeners = new Set<(piece: Buffer) => void>();
  const count = { connections: 0, toServer: 0, toClient: 0, dropped: 0 };
  const port = await freePort();
  let targetPort = target.port;
  let resetting = false;
  let modes = { toServer: PASS, toClient: PASS };
  let drop = Promise.withResolvers<void>();
  let listener: Server | undefined = await listen(port, accept);

  function accept(client: Socket): void {
    count.connections += 1;
    if (resetting) {
      client.resetAndDestroy();
      return;
    }
    const server = connect({ host: target.host ?? '127.0.0.1', port: targetPort, allowHalfOpen: true });
    server.setNoDelay();
    const pair: Pair = {
      sockets: [client, server],
      toServer: new Lane(
        client,
        server,
        modes.toServer,
        events('toServer', () => end(pair)),
      ),
      toClient: new Lane(
        server,
        client,
        modes.toClient,
        events('toClient', () => end(pair)),
      ),
    };
    pairs.add(pair);
    for (const socket of pair.sockets) {
      // `close` follows, and the lanes hand it on.
      socket.on('error', () => {});
      socket.on('close', () => {
        if (pair.sockets.every(each => each.closed)) end(pair);
      });
    }
  }

  function events(direction: 'toServer' | 'toClient', spent: () => void): LaneEvents {
    return {
      passing(piece) {
        if (direction === 'toServer') for (const listener of [...listeners]) listener(piece);
      },
      passed: bytes => (count[direction] += bytes),
      dropped(bytes) {
        count.dropped += bytes;
        drop.resolve();
        drop = Promise.withResolvers();
      },
      spent,
    };
  }

  function end(pair: Pair): void {
    if (!pairs.delete(pair)) return;
    pair.toServer.close();
    pair.toClient.close();
    for (const socket of pair.sockets) socket.resetAndDestroy();
  }

  function cut(): void {
    for (const pair of [...pairs]) end(pair);
  }

  function refuse(): void {
    listener?.close();
    listener = undefined;
    cut();
  }

  function apply(next: typeof modes): void {
    modes = next;
    resetting = false;
    if (listener === undefined) {
      listener = newListener(accept);
      listener.listen(port, '127.0.0.1');
    }
    for (const pair of [...pairs]) {
      pair.toServer.set(next.toServer);
      pair.toClient.set(next.toClient);
    }
  }

  return {
    host: '127.0.0.1',
    port,
    get live() {
      return pairs.size;
    },
    get counters() {
      return { ...count };
    },
    set(mode) {
      if (mode.kind === 'refuse') {
        refuse();
      } else if (mode.kind === 'reset') {
        apply({ toServer: PASS, toClient: PASS });
        resetting = true;
        cut();
      } else if (mode.kind === 'dropReplies') {
        apply({ toServer: PASS, toClient: DROP });
      } else if (mode.kind === 'dropRequests') {
        apply({ toServer: DROP, toClient: PASS });
      } else {
        apply({ toServer: mode, toClient: mode });
      }
    },
    setToServer: mode => apply({ ...modes, toServer: mode }),
    setToClient: mode => apply({ ...modes, toClient: mode }),
    cut,
    nextDrop: () => drop.promise,
    onRequest(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => listeners.delete(listener) };
    },
    retarget(to) {
      targetPort = to;
    },
    async [Symbol.asyncDispose]() {
      refuse();
    },
  };
}

function newListener(accept: (client: Socket) => void): Server {
  return createServer({ noDelay: true, allowHalfOpen: true }, accept);
}

async function listen(port: number, accept: (client: Socket) => void): Promise<Server> {
  const listener = newListener(accept);
  listener.listen(port, '127.0.0.1');
  await once(listener, 'listening');
  return listener;
}

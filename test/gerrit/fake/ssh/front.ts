/** The network in front of the SSH server: connections that break, are refused, or fall silent. */
import { connect, createServer, type Socket } from 'node:net';

export interface NetworkFront extends AsyncDisposable {
  readonly port: number;
  /** Connections that were accepted so far. */
  readonly accepted: () => number;
  /** Open now. */
  readonly open: () => number;
  /** Breaks all connections. */
  drop(): void;
  /** While true, connections are reset at once. */
  refuse(isRefusing: boolean): void;
  /** From now on nothing is passed on over the present connections, and neither side learns of it. */
  silence(): void;
}

/** On 127.0.0.1, in front of `target`. */
export async function openFront(target: number): Promise<NetworkFront> {
  const pairs = new Set<readonly [Socket, Socket]>();
  let accepted = 0;
  let isRefusing = false;
  const server = createServer({ noDelay: true }, outer => {
    accepted += 1;
    outer.on('error', () => {});
    if (isRefusing) return void outer.resetAndDestroy();
    const inner = connect({ port: target, host: '127.0.0.1', noDelay: true });
    inner.on('error', () => outer.destroy());
    const pair = [outer, inner] as const;
    pairs.add(pair);
    outer.pipe(inner).pipe(outer);
    for (const [one, other] of [pair, [inner, outer] as const])
      one.on('close', () => {
        pairs.delete(pair);
        other.destroy();
      });
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the front has no port');
  const drop = () => {
    for (const pair of pairs) for (const socket of pair) socket.destroy();
  };
  return {
    port: address.port,
    accepted: () => accepted,
    open: () => pairs.size,
    drop,
    refuse: value => {
      isRefusing = value;
    },
    silence() {
      for (const [outer, inner] of pairs) {
        outer.unpipe(inner).resume();
        inner.unpipe(outer).resume();
      }
    },
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>(resolve => server.close(() => resolve()));
      drop();
      await closed;
    },
  };
}

/**
 * The way of a build to its nodes: a socket for each, which leads to that node and nowhere else. So a job reaches its hosts
 * without a network of its own, and no other host.
 */
import { chmodSync, chownSync, closeSync, constants, openSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import type { Owner } from '../sandbox/stage.ts';
import type { ReachedHost } from './node-provider.ts';

/** To one host at a time; further ones are refused. */
const MOST_CONNECTIONS = 64;

/** In the folder of the build's ssh files. */
export function socketName({ name }: Pick<ReachedHost['host'], 'name'>): string {
  return `${name}.sock`;
}

/**
 * @param owner who alone may connect; null: the service's own user.
 * @returns ends them, with every connection.
 */
export async function openHostSockets(
  folder: string,
  hosts: readonly ReachedHost[],
  owner: Owner | null,
): Promise<() => Promise<void>> {
  await using opening = new AsyncDisposableStack();
  // The name of a socket has at most 107 bytes, and a build's directory may have a longer one.
  const descriptor = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  opening.defer(() => closeSync(descriptor));
  for (const { host, join: joinHost } of hosts) {
    const sockets = new Set<Socket>();
    const opened = (socket: Socket) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
    };
    const server = createServer(socket => {
      opened(socket);
      joinHost(socket, opened);
    });
    server.maxConnections = MOST_CONNECTIONS;
    opening.defer(() => closed(server, sockets));
    await listening(server, `/proc/self/fd/${descriptor}/${socketName(host)}`);
    const path = join(folder, socketName(host));
    if (owner !== null) chownSync(path, owner.uid, owner.gid);
    chmodSync(path, 0o600);
  }
  const lifetime = opening.move();
  return () => lifetime.disposeAsync();
}

async function listening(server: Server, path: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.listen(path, () => resolve());
  await promise;
  server.off('error', reject);
}

async function closed(server: Server, sockets: ReadonlySet<Socket>): Promise<void> {
  for (const socket of sockets) socket.destroy();
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  await promise;
}

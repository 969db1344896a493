/** Limits of open connections, in total and per client, so that no client can lock out the others. */
import type { Server } from 'node:http';
import type { AddressRanges } from '../lib/address-ranges.ts';
import { networkOf } from './client-address.ts';

/** From `[web]`. An IPv6 client counts by its network of 64 bits, not by its address. */
export interface ConnectionLimits {
  readonly maxConnections: number;
  readonly maxConnectionsPerAddress: number;
}

/**
 * Call it before `listen`. Connections over the limit are closed unread.
 *
 * @param proxies are not limited per address: each serves many clients.
 */
export function limitConnections(server: Server, limits: ConnectionLimits, proxies: AddressRanges): void {
  const open = new Map<string, number>();
  server.maxConnections = limits.maxConnections;
  server.on('connection', socket => {
    const address = socket.remoteAddress ?? '';
    if (proxies.has(address)) return;
    const client = networkOf(address);
    const count = open.get(client) ?? 0;
    if (count >= limits.maxConnectionsPerAddress) return void socket.destroy();
    open.set(client, count + 1);
    socket.once('close', () => {
      const left = (open.get(client) ?? 1) - 1;
      if (left > 0) open.set(client, left);
      else open.delete(client);
    });
  });
}

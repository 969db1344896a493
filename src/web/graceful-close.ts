/**
 * Stops an HTTP server without cutting an answer: pending requests may finish, all other connections end immediately, including
 * unused ones (browsers open them in advance, and Node counts them as busy).
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** Of one server; to be closed once. */
export interface GracefulClose {
  /** @param timeout milliseconds after which pending requests are cut. */
  close(timeout: number): Promise<void>;
}

/** Watches the server's connections; call it before `listen`. */
export function gracefulClose(server: Server): GracefulClose {
  /** Pending requests by connection. */
  const busy = new Map<Socket, number>();
  let closing = false;

  server.on('connection', socket => {
    busy.set(socket, 0);
    socket.on('close', () => busy.delete(socket));
  });
  server.on('request', ({ socket }, response) => {
    busy.set(socket, (busy.get(socket) ?? 0) + 1);
    response.on('close', () => {
      const left = (busy.get(socket) ?? 1) - 1;
      if (busy.has(socket)) busy.set(socket, left);
      if (closing && left === 0) socket.destroySoon();
    });
  });

  return {
    async close(timeout) {
      closing = true;
      const { promise, resolve } = Promise.withResolvers<void>();
      server.close(() => resolve());
      for (const [socket, requests] of busy) if (requests === 0) socket.destroy();
      const cut = setTimeout(() => server.closeAllConnections(), timeout);
      await promise;
      clearTimeout(cut);
    },
  };
}

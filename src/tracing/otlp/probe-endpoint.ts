/** Checks for a collector, once at start, when `[tracing] enabled` is `auto` and no endpoint is configured. */
import { connect } from 'node:net';

/** Whether something accepts connections at this address within `timeoutMs`. Never rejects. */
export function probeEndpoint(host: string, port: number, timeoutMs: number): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect({ host, port, timeout: timeoutMs });
    const settle = (listens: boolean) => {
      socket.destroy();
      resolve(listens);
    };
    socket.once('connect', () => settle(true));
    socket.once('timeout', () => settle(false));
    socket.once('error', () => settle(false));
  });
}

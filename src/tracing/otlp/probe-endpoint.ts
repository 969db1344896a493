/** Is a collector there? Asked once at start when `[tracing] enabled` is `auto` and nobody named an endpoint. */
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

/** Host and port of `http://host:4317`, `[::1]:4317` or `host:4317`; port 4317 when none is given. */
export function endpointAddress(
  endpoint: string,
): { readonly host: string; readonly port: number } | undefined {
  const text = /^[a-z]+:\/\//i.test(endpoint) ? endpoint : `http://${endpoint}`;
  const url = URL.parse(text);
  if (url === null || url.hostname === '') return undefined;
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port: url.port === '' ? 4317 : Number(url.port) };
}

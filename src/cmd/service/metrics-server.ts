/**
 * `/metrics`, `/health/live` and `/health/ready` on a port of their own (`[metrics]`): for processes without a web, or for a scraper
 * that must not reach the web. Read-only.
 *
 *     await using server = await openMetricsServer({ listenAddress: '127.0.0.1', port: 0 }, deps);
 *     server.url      // http://127.0.0.1:40123
 */
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { nodeHttp } from '../../lib/node-http.ts';
import type { Metrics } from '../../metrics/registry.ts';
import type { MetricsSettings } from '../../settings/metrics-section.ts';
import type { ComponentHealth } from '../../web/deps.ts';
import { gracefulClose } from '../../web/graceful-close.ts';
import { VERSION } from '../version.ts';

/** Milliseconds a pending answer may take when the process ends. */
const CLOSE_GRACE = 1_000;
/** Milliseconds a request may take to arrive. */
const REQUEST_TIMEOUT = 10_000;
const MAX_CONNECTIONS = 100;

/** Both are read for each request. */
export interface MetricsServerDeps {
  readonly metrics: Pick<Metrics, 'exposition'>;
  readonly health: () => readonly ComponentHealth[];
}

/** Listens until disposed; a pending answer then has one second. */
export interface MetricsServer extends AsyncDisposable {
  /** Without trailing slash. */
  readonly url: string;
}

/** The address cannot be bound; the message is ready to print. */
export class MetricsPortError extends Error {
  override readonly name = 'MetricsPortError';
}

/** @throws MetricsPortError */
export async function openMetricsServer(
  { listenAddress, port }: MetricsSettings,
  deps: MetricsServerDeps,
): Promise<MetricsServer> {
  const server = nodeHttp.createServer({ requestTimeout: REQUEST_TIMEOUT }, (request, response) => {
    answer(request, deps).then(
      each => send(response, each),
      error => send(response, { status: 500, contentType: TEXT, body: `${String(error)}\n` }),
    );
  });
  server.maxConnections = MAX_CONNECTIONS;
  const closing = gracefulClose(server);
  server.listen(port, listenAddress);
  try {
    await once(server, 'listening');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${error.code})` : '';
    throw new MetricsPortError(
      `cannot listen on ${listenAddress}:${port}${code}; set [metrics] listen_address and port`,
      { cause: error },
    );
  }
  const bound = server.address() as AddressInfo;
  const host = bound.family === 'IPv6' ? `[${bound.address}]` : bound.address;
  return {
    url: `http://${host}:${bound.port}`,
    [Symbol.asyncDispose]: () => closing.close(CLOSE_GRACE),
  };
}

interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

const TEXT = 'text/plain; charset=utf-8';

async function answer(
  { method, url = '/', headers }: IncomingMessage,
  { metrics, health }: MetricsServerDeps,
): Promise<Answer> {
  if (method !== 'GET' && method !== 'HEAD') return { status: 405, contentType: TEXT, body: 'GET only\n' };
  switch (url.split('?')[0]) {
    case '/metrics':
      return { status: 200, ...(await metrics.exposition(headers.accept)) };
    case '/health/live':
      return jsonAnswer(200, { status: 'alive', version: VERSION });
    case '/health/ready': {
      const components = health();
      const ready = components.every(component => component.ready);
      return jsonAnswer(ready ? 200 : 503, { status: ready ? 'ready' : 'not ready', components });
    }
    default:
      return { status: 404, contentType: TEXT, body: 'available: /metrics, /health/live, /health/ready\n' };
  }
}

function jsonAnswer(status: number, body: object): Answer {
  return { status, contentType: 'application/json; charset=utf-8', body: JSON.stringify(body) };
}

function send(response: ServerResponse, { status, contentType, body }: Answer): void {
  response.writeHead(status, { 'Content-Type': contentType, 'Cache-Control': 'no-store' });
  response.end(response.req.method === 'HEAD' ? undefined : body);
}

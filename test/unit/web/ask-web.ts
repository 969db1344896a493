/** Requests to the port, as any client sends them, and to the socket, as our command line does. */
import { type Endpoint, fetchFrom } from '../../../src/cmd/client/endpoint.ts';
import type { FakeWeb } from './fake-web.ts';

export interface Post {
  readonly headers?: Record<string, string>;
  /** JSON unless it is text. */
  readonly body?: unknown;
}

/** @param path below `/api/`. */
export function postBySocket(web: FakeWeb, path: string, post: Post = {}): Promise<Response> {
  return send({ kind: 'socket', path: web.socket }, path, post);
}

/** @param path below `/api/`. */
export function postByPort(web: FakeWeb, path: string, post: Post = {}): Promise<Response> {
  return send({ kind: 'http', root: web.url }, path, post);
}

function send(endpoint: Endpoint, path: string, { headers = {}, body = {} }: Post): Promise<Response> {
  return fetchFrom(endpoint, `/api/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    signal: AbortSignal.timeout(30_000),
  });
}

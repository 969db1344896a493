/**
 * How the command line reaches a service: HTTP at its address, or the Unix socket of a web on this machine, which grants
 * authority to change something without a token.
 */
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { nodeHttp } from '../../lib/node-http.ts';

/** Where a service listens. Only the socket allows changes without a token. */
export type Endpoint =
  /** @property root address without trailing slash, e.g. `http://127.0.0.1:9000`. */
  | { readonly kind: 'http'; readonly root: string }
  /** @property path absolute. */
  | { readonly kind: 'socket'; readonly path: string };

/** The options of `fetch` that both kinds of endpoint serve. A socket never follows a redirect. */
export interface EndpointRequest {
  /** Default GET. */
  readonly method?: string;
  readonly headers: { readonly [name: string]: string };
  readonly body?: string | Uint8Array<ArrayBuffer>;
  /** Also ends the body of the answer. */
  readonly signal: AbortSignal;
  readonly redirect?: 'error';
}

/** @throws what `fetch` throws, or an error with the code of the connection. */
export async function fetchFrom(endpoint: Endpoint, path: string, asked: EndpointRequest): Promise<Response> {
  if (endpoint.kind === 'http') return fetch(`${endpoint.root}${path}`, asked);
  return fetchOverSocket(endpoint.path, path, asked);
}

/** `fetch` does not support Unix sockets. */
async function fetchOverSocket(
  socketPath: string,
  path: string,
  { method = 'GET', headers, body, signal }: EndpointRequest,
): Promise<Response> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const sent = nodeHttp.request(
    { socketPath, path, method, headers: { ...headers, host: 'localhost' }, signal, agent: false },
    answer => {
      sent.on('error', error => answer.destroy(error));
      resolve(answer);
    },
  );
  // Like fetch: an abort rejects with its reason.
  sent.on('error', error => reject(signal.aborted ? signal.reason : error));
  sent.end(body);
  const answer = await promise;
  const status = answer.statusCode ?? 0;
  // A response with this status may have no body, not even an empty one.
  const isEmpty = status === 204;
  if (isEmpty) answer.resume();
  return new Response(isEmpty ? null : (Readable.toWeb(answer) as ReadableStream<Uint8Array>), {
    status,
    statusText: answer.statusMessage ?? '',
    headers: Object.entries(answer.headersDistinct).flatMap(([name, values = []]) =>
      values.map((value): [string, string] => [name, value]),
    ),
  });
}

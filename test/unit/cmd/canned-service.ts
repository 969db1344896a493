/** A small HTTP server that answers like the service, with what a test hands it. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface CannedService extends AsyncDisposable {
  readonly url: string;
  /** Paths with their questions, in the order they were asked. */
  readonly asked: readonly string[];
  /** The same requests, whole. */
  readonly requests: readonly CannedRequest[];
  /** Answers from now on; a path is looked for with its question first, then without. */
  answer(path: string, body: unknown): void;
  /** Sends an event to every open stream; later streams begin with the last one. */
  send(documents: { readonly [name: string]: unknown }, now: number): void;
}

export interface CannedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A body that never comes. */
export const NEVER = Symbol('never');

export async function cannedService(): Promise<CannedService> {
  const answers = new Map<string, unknown>();
  const asked: string[] = [];
  const requests: CannedRequest[] = [];
  const streams = new Set<ServerResponse>();
  let last: string | undefined;
  const server = createServer(async (request, response) => {
    const { url: path = '', method = '', headers } = request;
    asked.push(path);
    let sent = '';
    for await (const piece of request.setEncoding('utf8')) sent += String(piece);
    requests.push({ method, path, headers, body: sent });
    if (path.endsWith('/events')) {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      response.write('retry: 2000\n\n');
      if (last !== undefined) response.write(last);
      streams.add(response);
      response.on('close', () => streams.delete(response));
      return;
    }
    const body = answers.get(path) ?? answers.get(path.replace(/\?.*/, ''));
    if (body === NEVER) return;
    response.writeHead(body === undefined ? 404 : 200, { 'Content-Type': 'application/json' });
    if (typeof body === 'string') response.end(body);
    else response.end(JSON.stringify(body ?? { error: `there is nothing at ${path}`, place: 'path' }));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    requests,
    answer: (path, body) => {
      answers.set(path, body);
    },
    send(documents, now) {
      last = `id: 1\nevent: snapshot\ndata: ${JSON.stringify({ set: documents, gone: [], now })}\n\n`;
      for (const stream of streams) stream.write(last);
    },
    async [Symbol.asyncDispose]() {
      for (const stream of streams) stream.end();
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}

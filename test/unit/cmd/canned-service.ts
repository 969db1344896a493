/** A small HTTP server that answers like the service, with what a test hands it. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';

export interface CannedService extends AsyncDisposable {
  readonly url: string;
  /** It answers on a Unix socket too. */
  readonly socket: string;
  /** Settings that name the socket. */
  readonly config: string;
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
  readonly door: 'port' | 'socket';
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
  const answerRequest = async (
    door: CannedRequest['door'],
    request: IncomingMessage,
    response: ServerResponse,
  ) => {
    const { url = '', method = '', headers } = request;
    asked.push(url);
    let sent = '';
    for await (const piece of request.setEncoding('utf8')) sent += String(piece);
    requests.push({ door, method, path: url, headers, body: sent });
    if (url.endsWith('/events')) {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      response.write('retry: 2000\n\n');
      if (last !== undefined) response.write(last);
      streams.add(response);
      response.on('close', () => streams.delete(response));
      return;
    }
    const body = answers.get(url) ?? answers.get(url.replace(/\?.*/, ''));
    if (body === NEVER) return;
    response.writeHead(body === undefined ? 404 : 200, { 'Content-Type': 'application/json' });
    if (typeof body === 'string') response.end(body);
    else response.end(JSON.stringify(body ?? { error: `no such path: ${url}`, place: 'path' }));
  };
  const server = createServer((request, response) => void answerRequest('port', request, response));
  const local = createServer((request, response) => void answerRequest('socket', request, response));
  const directory = await mkdtemp(path.join(tmpdir(), 'gatehouse-canned-'));
  const socket = path.join(directory, 'web.sock');
  const config = path.join(directory, 'gatehouse.conf');
  await writeFile(config, '[web]\ncommand_socket = web.sock\n');
  await new Promise<void>(resolve => local.listen(socket, resolve));
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    socket,
    config,
    asked,
    requests,
    answer: (asked, body) => {
      answers.set(asked, body);
    },
    send(documents, now) {
      last = `id: 1\nevent: snapshot\ndata: ${JSON.stringify({ set: documents, gone: [], now })}\n\n`;
      for (const stream of streams) stream.write(last);
    },
    async [Symbol.asyncDispose]() {
      for (const stream of streams) stream.end();
      for (const each of [server, local]) {
        each.closeAllConnections();
        await new Promise(resolve => each.close(resolve));
      }
      await rm(directory, { recursive: true, force: true });
    },
  };
}

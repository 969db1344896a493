/**
 * A host that answers as a test says, over real HTTP, and remembers what it was asked.
 *
 *     await using host = await startScriptedHost();
 *     host.answer('GET /app', { body: { id: 1, slug: 'gatehouse' } });
 *     host.asked                        // [{ route: 'GET /app', headers, body }]
 */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface ScriptedAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON; a string as it is. */
  readonly body?: unknown;
  /** The connection ends without an answer. */
  readonly isReset?: true;
  /** No answer comes. */
  readonly hangs?: true;
}

interface AskedRequest {
  /** Method and path with query. */
  readonly route: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

/** Answers of one route are given in order, the last one for ever. What has none is answered with 404. */
export async function startScriptedHost() {
  const script = new Map<string, ScriptedAnswer[]>();
  const asked: AskedRequest[] = [];
  const waiters = new Set<() => void>();
  const server = createServer((request, response) => {
    void readBody(request).then(body => {
      const route = `${request.method} ${request.url}`;
      asked.push({ route, headers: request.headers, body });
      const queue = script.get(route) ?? script.get(route.replace(/\?.*/, '')) ?? [];
      const answer = (queue.length > 1 ? queue.shift() : queue[0]) ?? {
        status: 404,
        body: { message: 'Not Found' },
      };
      send(answer, request, response);
      for (const wake of waiters) wake();
    });
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    /** Routes asked so far, without repetition of what was before. */
    routes: () => asked.map(({ route }) => route),
    answer(route: string, ...answers: ScriptedAnswer[]) {
      script.set(route, answers);
    },
    /** Resolves when so many requests have come. */
    async count(most: number) {
      while (asked.length < most) await new Promise<void>(resolve => waiters.add(resolve));
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(Buffer.from(part));
  const text = Buffer.concat(parts).toString();
  return text === '' ? undefined : JSON.parse(text);
}

function send(
  { status = 200, headers = {}, body, isReset, hangs }: ScriptedAnswer,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  if (isReset) {
    request.socket.destroy();
    return;
  }
  if (hangs) return;
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'x-github-request-id': 'ABCD:1234',
    ...headers,
  });
  response.end(body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body));
}

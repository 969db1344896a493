/** An HTTP server that answers as a test says, and a client before it. */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type GerritClientDeps, openGerritClient } from '../../../../../drivers/gerrit/api/open-client.ts';
import type { GerritCall } from '../../../../../drivers/gerrit/api/port.ts';
import type { GerritAuth } from '../../../../../drivers/gerrit/options.ts';
import type { HostLater } from '../../../../../src/driver/host-later.ts';
import { systemClock } from '../../../../../src/lib/clock.ts';
import { Secret } from '../../../../../src/lib/secret.ts';
import type { Step } from '../../../../../src/model/step.ts';

export const PASSWORD = 'CanaryCanaryPassword';

/** Gets each request with its body. */
export type AnswerRequest = (request: IncomingMessage, response: ServerResponse, body: string) => void;

/** JSON as Gerrit sends it. */
export function answerJson(response: ServerResponse, json: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json;charset=utf-8' });
  response.end(`)]}'\n${JSON.stringify(json)}\n`);
}

export function answerText(
  response: ServerResponse,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'text/plain;charset=utf-8', ...headers });
  response.end(text);
}

interface AskedOfServer {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** @param answer may be changed while it runs: `server.answer = …`. */
export async function startGerritServer(
  answer: AnswerRequest,
  over: {
    readonly auth?: GerritAuth;
    readonly concurrency?: number;
    readonly deps?: Partial<GerritClientDeps>;
    /** After the address: `/r`. */
    readonly path?: string;
  } = {},
) {
  const asked: AskedOfServer[] = [];
  const waiters = new Set<() => void>();
  const connections = { count: 0 };
  const current = { answer };
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(Buffer.from(part));
    const body = Buffer.concat(parts).toString();
    const { method = '', url = '', headers } = request;
    asked.push({ method, url, headers, body });
    current.answer(request, response, body);
    for (const wake of waiters) wake();
  });
  server.on('connection', () => {
    connections.count += 1;
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const baseUrl = `http://127.0.0.1:${port}${over.path ?? ''}`;
  const steps: Step[] = [];
  const notes: (HostLater | undefined)[] = [];
  const client = openGerritClient(
    {
      baseUrl,
      auth: over.auth ?? { kind: 'basic', user: 'ci', password: new Secret(PASSWORD) },
      verifySsl: true,
      concurrency: over.concurrency ?? 8,
    },
    {
      connection: 'review',
      clock: systemClock(),
      pause: async () => {},
      random: () => 0,
      noted: (_project, later) => notes.push(later),
      asked: () => {},
      ...over.deps,
    },
  );
  const call = (changed: Partial<GerritCall> = {}): GerritCall => ({
    project: 'acme/app',
    signal: new AbortController().signal,
    steps: step => steps.push(step),
    ...changed,
  });
  return {
    baseUrl,
    asked,
    connections,
    steps,
    notes,
    client,
    call,
    answer(next: AnswerRequest) {
      current.answer = next;
    },
    get: (path = 'changes/12/detail', changed: Partial<GerritCall> = {}) =>
      client.api.ask({ operation: 'changes/detail', method: 'GET', path }, call(changed)),
    post: (changed: Partial<GerritCall> = {}) =>
      client.api.ask(
        { operation: 'changes/review', method: 'POST', path: 'changes/12/review', body: { labels: {} } },
        call(changed),
      ),
    /** Resolves when so many requests have come. */
    async count(most: number) {
      while (asked.length < most) await new Promise<void>(resolve => waiters.add(resolve));
    },
    async [Symbol.asyncDispose]() {
      client.close();
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}

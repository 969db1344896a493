/** HTTP of the fakes of code hosts: requests are taken, carried out one beside the other, and made to fail where a script says so. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Ailment, Faults } from './faults.ts';

export interface FakeHttp extends AsyncDisposable {
  readonly origin: string;
  /** Resolves when every request taken so far was carried out, also those whose sender is gone. */
  carriedOut(): Promise<void>;
}

/** Calls of a fake that hangs are cut when it is disposed. */
export async function startFakeHttp(deps: {
  readonly faults: Faults;
  /** Carries out one request, and answers it. */
  readonly serve: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  /** Of what went wrong in the fake itself: the client gets 500. */
  readonly failed: (text: string) => void;
}): Promise<FakeHttp> {
  const under = new Set<Promise<void>>();
  const server = createServer((request, response) => {
    const done = deps.serve(request, response).catch(error => {
      deps.failed(`${request.method} ${request.url}: ${error instanceof Error ? error.stack : error}`);
      if (!response.headersSent) response.writeHead(500);
      response.end('Internal server error');
    });
    under.add(done);
    void done.finally(() => under.delete(done));
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    async carriedOut() {
      while (under.size > 0) await Promise.all(under);
    },
    async [Symbol.asyncDispose]() {
      deps.faults.heal();
      const closed = new Promise(resolve => server.close(resolve));
      server.closeAllConnections();
      await closed;
      await Promise.all(under);
    },
  };
}

/** What becomes of a request in place of its answer. */
export type Ending = Exclude<Ailment, { readonly kind: 'late' | 'after' }>;

/** Waits where the request is only late. @returns undefined: it is served. */
export async function endingOf(ailment: Ailment | undefined): Promise<Ending | undefined> {
  switch (ailment?.kind) {
    case 'late':
      await delay(ailment.ms);
      return undefined;
    case 'after':
      await ailment.what();
      return undefined;
    default:
      return ailment;
  }
}

/** Ends a request without an answer: at once, or when the fake is healed or the client has gone. */
export async function endWithoutAnswer(
  response: ServerResponse,
  kind: Exclude<Ending['kind'], 'status'>,
  faults: Faults,
): Promise<void> {
  if (kind === 'hang') {
    const gone = Promise.withResolvers<void>();
    response.once('close', gone.resolve);
    await Promise.race([faults.healed(), gone.promise]);
  }
  response.destroy();
}

export async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

/** As JSON, or the text itself where it is none; undefined: there is no body. */
export function parsedBody(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

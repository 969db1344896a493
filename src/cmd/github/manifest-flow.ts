/**
 * GitHub's manifest flow, with a browser between us and GitHub:
 *
 *     browser ──GET /──────────────────► us        page with the permissions and a form
 *     browser ──POST manifest, state───► GitHub    the operator confirms
 *     browser ──GET /created?code&state► us        we exchange the code for key and secret
 *
 * The server listens on loopback and answers these two addresses only. `state` is a secret of this run: without it no other user of
 * the machine can hand us a code of another App.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { nodeHttp } from '../../lib/node-http.ts';
import { appManifest } from './app-manifest.ts';
import { askingPage, createdPage, pageHeaders, problemPage } from './app-pages.ts';
import { type CreatedApp, convertManifest } from './convert-manifest.ts';

/** What the operator asked for. */
export interface ManifestRequest {
  readonly name: string;
  readonly webhookUrl: string;
  /** Owner of the App; undefined: the operator's own account. */
  readonly organization: string | undefined;
  /** Pages of GitHub: `https://github.com`. */
  readonly web: string;
  /** API of GitHub: `https://api.github.com`. */
  readonly api: string;
  /** Of the local page; 0: any that is free. */
  readonly port: number;
}

/** A flow that waits for the operator's browser. */
export interface ManifestFlow extends AsyncDisposable {
  /** Local page to open. */
  readonly address: string;
  /** Resolves when GitHub has handed over the App. Rejects when the signal is aborted, or GitHub refused too often. */
  readonly created: Promise<CreatedApp>;
}

/** GitHub accepts a code once; a second page load after a failure needs a new one. */
const MOST_FAILURES = 5;

/** Starts the local page. @throws when the port is taken. */
export async function startManifestFlow(asked: ManifestRequest, signal: AbortSignal): Promise<ManifestFlow> {
  const state = randomBytes(24).toString('base64url');
  const { promise: created, resolve, reject } = Promise.withResolvers<CreatedApp>();
  // The caller may be still printing when the signal comes.
  created.catch(() => undefined);
  let address = '';
  let failures = 0;

  async function answer(url: URL): Promise<{ readonly status: number; readonly html: string }> {
    if (url.pathname === '/') {
      const manifest = appManifest({ ...asked, redirectUrl: `${address}created` });
      return { status: 200, html: askingPage(asked.name, formAction(asked, state), manifest) };
    }
    if (url.pathname !== '/created') return { status: 404, html: problemPage('There is no such page.') };
    const code = url.searchParams.get('code') ?? '';
    if (!isEqual(url.searchParams.get('state') ?? '', state) || code === '')
      return { status: 400, html: problemPage('This address belongs to another run of the command.') };
    const conversion = await convertManifest(asked.api, code, signal);
    if (conversion.kind === 'created') {
      resolve(conversion.app);
      return {
        status: 200,
        html: createdPage(conversion.app.slug, `${conversion.app.url}/installations/new`),
      };
    }
    failures += 1;
    if (failures >= MOST_FAILURES) reject(new Error(conversion.text));
    return { status: 502, html: problemPage(`${conversion.text}. Open ${address} to try again.`) };
  }

  const server = nodeHttp.createServer((request, response) => {
    const url = URL.parse(request.url ?? '', address);
    const isRead = request.method === 'GET' && url !== null;
    void (
      isRead ? answer(url) : Promise.resolve({ status: 400, html: problemPage('Only GET is answered.') })
    ).then(({ status, html }) => {
      response.writeHead(status, { ...pageHeaders(asked.web), connection: 'close' });
      response.end(html);
    });
  });
  server.listen(asked.port, '127.0.0.1');
  await once(server, 'listening');
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  return { address, created, [Symbol.asyncDispose]: () => closed(server) };
}

function formAction({ web, organization }: ManifestRequest, state: string): string {
  const owner = organization === undefined ? '' : `organizations/${encodeURIComponent(organization)}/`;
  return `${web}/${owner}settings/apps/new?state=${state}`;
}

function isEqual(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

async function closed(server: Server): Promise<void> {
  server.close();
  await once(server, 'close');
}

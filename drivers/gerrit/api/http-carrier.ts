/** Requests to Gerrit's REST API: where it is, and who asks. */
import type { GerritOptions, HttpAuth } from '../options.ts';
import { type Authorization, createAuthorization } from './authorize.ts';
import type { GerritBounds, GerritCarrier } from './carrier.ts';
import type { GerritRequest } from './port.ts';
import { createGerritSender, type GerritWireRequest } from './send.ts';

export function createHttpCarrier(
  { baseUrl, verifySsl }: Pick<GerritOptions, 'baseUrl' | 'verifySsl'>,
  auth: HttpAuth,
  { deadlinesMs, mostBytes }: GerritBounds,
): GerritCarrier {
  const sender = createGerritSender({ verifySsl, mostBytes });
  const authorization = createAuthorization(auth);
  const root = auth.kind === 'none' ? baseUrl : `${baseUrl}/a`;
  return {
    secrets: authorization.secrets,
    async carry(request, signal) {
      const { wire, credentials } = wireRequest(request, root, authorization, deadlinesMs);
      const raw = await sender.send(wire, signal);
      const isChallenged = raw.kind === 'answered' && raw.status === 401;
      const mayAskAgain =
        isChallenged && authorization.challenged(raw.headers['www-authenticate'], credentials);
      return { raw, mayAskAgain };
    },
    close: () => sender.close(),
  };
}

function wireRequest(
  { method, path, body }: GerritRequest,
  root: string,
  authorization: Authorization,
  deadlinesMs: GerritBounds['deadlinesMs'],
): { readonly wire: GerritWireRequest; readonly credentials: { readonly [name: string]: string } } {
  const url = new URL(`${root}/${path}`);
  const credentials = authorization.headers(method, `${url.pathname}${url.search}`);
  const text = body === undefined ? undefined : JSON.stringify(body);
  const headers = {
    ...credentials,
    accept: 'application/json',
    'accept-encoding': 'gzip',
    'user-agent': 'gatehouse',
    ...(text === undefined ? {} : { 'content-type': 'application/json; charset=UTF-8' }),
    ...(method === 'GET' ? {} : { 'content-length': String(Buffer.byteLength(text ?? '')) }),
  };
  const deadlineMs = method === 'GET' ? deadlinesMs.read : deadlinesMs.write;
  return { wire: { method, url, headers, body: text, deadlineMs }, credentials };
}

/**
 * `POST /api/connection/<name>/payload`: a code host says that something happened.
 *
 * Size → time (the server's request timeout) → UTF-8 and depth → the driver's `verify` (signature over the raw bytes, then
 * shape) → stored → answered. The host hears 2xx only when the event is durable, and what it says is a hint: the driver
 * reads the host again before anything is done about it.
 *
 *     200 stored, or a delivery we have already    202 of no interest    400 not JSON or of the wrong shape
 *     401 signature      404 no such connection    413 over 25 MB        415 encoded or of another type    503 not durable: send it again
 */
import { isUtf8 } from 'node:buffer';
import type { RequestHandler } from 'express';
import { isNestedDeeperThan } from '../lib/json-depth.ts';
import { readBody } from '../lib/read-body.ts';
import { type Answer, badRequest, json, notFound, send } from './answer.ts';
import type { WebConnection, WebDeps, WebhookOutcome } from './deps.ts';

export const MAX_BODY = 25_000_000;
const MAX_DEPTH = 64;

type WebhookDeps = Pick<WebDeps, 'connections' | 'storeEvent' | 'countWebhook' | 'log'>;

export function webhookRoute(deps: WebhookDeps): RequestHandler {
  return async (request, response) => {
    const name = String(request.params.name);
    const connection = deps.connections().find(candidate => candidate.name === name);
    if (connection?.webhook === undefined) {
      response.setHeader('Connection', 'close');
      send(
        response,
        notFound(`there is no connection ${JSON.stringify(name)} that takes webhooks`, 'path: connection'),
      );
      return;
    }
    const encoding = request.headers['content-encoding'] ?? 'identity';
    if (encoding !== 'identity') {
      const error = `the signature covers the body as sent: send it without Content-Encoding ${JSON.stringify(encoding)}`;
      send(response, {
        kind: 'refused',
        status: 415,
        error,
        place: 'header content-encoding',
        headers: { Connection: 'close' },
      });
      return;
    }
    const body = await readBody(request, MAX_BODY);
    if (body.kind === 'broken-off') return;
    const answer =
      body.kind === 'read' ? await receive(deps, connection, request.headers, body.bytes) : TOO_LARGE;
    // What could not be stored has been told already, with its cause.
    if (answer.kind === 'refused' && answer.status !== 503)
      deps.log.warn(
        { connection: name, status: answer.status, error: answer.error },
        'a webhook was refused',
      );
    const outcome = outcomeOf(answer);
    deps.countWebhook(name, outcome);
    if (outcome === 'ignored') response.status(202);
    send(response, answer);
  };
}

const TOO_LARGE: Answer = {
  kind: 'refused',
  status: 413,
  error: `the body is larger than ${MAX_BODY} bytes`,
  place: 'body',
  headers: { Connection: 'close' },
};

async function receive(
  deps: WebhookDeps,
  connection: WebConnection,
  headers: { readonly [name: string]: string | readonly string[] | undefined },
  body: Uint8Array,
): Promise<Answer> {
  if (!isUtf8(body)) return badRequest('the body is not UTF-8', 'body');
  if (isNestedDeeperThan(body, MAX_DEPTH))
    return badRequest(`the body nests deeper than ${MAX_DEPTH} levels`, 'body');
  const verdict = connection.webhook?.verify(headers, body);
  switch (verdict?.kind) {
    case undefined:
      return notFound('this connection takes no webhooks', 'path: connection');
    case 'ignored':
      return json({ outcome: 'ignored', reason: verdict.reason });
    case 'refused':
      return { kind: 'refused', status: verdict.status, error: verdict.reason, place: 'webhook' };
    case 'accepted':
      return store(deps, connection.name, verdict.event);
  }
}

async function store(
  deps: WebhookDeps,
  connection: string,
  event: Parameters<WebDeps['storeEvent']>[1],
): Promise<Answer> {
  try {
    return json({ outcome: await deps.storeEvent(connection, event), delivery: event.deliveryId });
  } catch (error) {
    // The edge: whatever kept it from being durable, the host must send it again, and people must see why.
    deps.log.warn({ connection, delivery: event.deliveryId, err: error }, 'a webhook could not be stored');
    const reason = 'the event could not be stored; send it again later';
    return { kind: 'refused', status: 503, error: reason, place: 'store', headers: { 'Retry-After': '10' } };
  }
}

function outcomeOf(answer: Answer): WebhookOutcome {
  if (answer.kind !== 'json')
    return answer.kind === 'refused' && answer.status === 503 ? 'failed' : 'refused';
  const { body } = answer;
  const outcome = typeof body === 'object' && body !== null && 'outcome' in body ? body.outcome : undefined;
  return outcome === 'ignored' || outcome === 'duplicate' ? outcome : 'stored';
}

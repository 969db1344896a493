/**
 * `POST /api/connection/<name>/payload`: a code host reports an event.
 *
 * Size (the driver's limit) → time (the server's request timeout) → UTF-8 and depth → the driver's `verify` (signature over the
 * raw bytes, then shape) → rate → stored → answered. Webhooks without a valid signature do not count for the rate. The host gets 2xx
 * only when the event is durable. Its content is a hint: the driver reads the host before anything is done about it.
 *
 *     200 stored, or a delivery we have already    202 of no interest    400 not JSON or of the wrong shape
 *     401 signature      404 no such connection    413 over the driver's limit
 *     415 encoded or of another type    429 too many: send it again later    503 not durable: send it again
 */
import { isUtf8 } from 'node:buffer';
import type { Request, RequestHandler } from 'express';
import { isNestedDeeperThan } from '../lib/json-depth.ts';
import { readBody } from '../lib/read-body.ts';
import { Secret } from '../lib/secret.ts';
import { createTokenBucket, type TokenBucket } from '../lib/token-bucket.ts';
import { type Answer, badRequest, jsonAnswer, notFound, send } from './answer.ts';
import type { WebConnection, WebDeps, WebhookOutcome } from './deps.ts';

const MAX_DEPTH = 64;

/** Webhooks accepted in one burst, in seconds of the rate. */
const BURST_SECONDS = 10;

type WebhookDeps = Pick<WebDeps, 'connections' | 'storeEvent' | 'countWebhook' | 'log' | 'clock'>;
type Taking = WebConnection & Required<Pick<WebConnection, 'webhook'>>;

/** Handles the POST; the caller restricts the method. The rate is per connection; each listener of each web counts by itself. */
export function webhookRoute(deps: WebhookDeps): RequestHandler {
  const buckets = new Map<string, TokenBucket>();
  const bucketOf = ({ name, webhook: { ratePerSecond } }: Taking): TokenBucket => {
    const known = buckets.get(name);
    if (known !== undefined) return known;
    const bucket = createTokenBucket(ratePerSecond * BURST_SECONDS, ratePerSecond, deps.clock);
    buckets.set(name, bucket);
    return bucket;
  };
  return async (request, response) => {
    const name = String(request.params.name);
    const connection = deps.connections().find(candidate => candidate.name === name);
    if (connection === undefined || !takesWebhooks(connection)) {
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
    const { maxBytes } = connection.webhook;
    const body = await readBody(request, maxBytes);
    if (body.kind === 'broken-off') return;
    const answer =
      body.kind === 'read'
        ? await receive(deps, connection, bucketOf(connection), request, body.bytes)
        : tooLarge(maxBytes);
    // 503 is already logged with its cause. 429 is only counted by the metric, so that a flood does not fill the log.
    if (answer.kind === 'refused' && answer.status !== 503 && answer.status !== 429)
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

function takesWebhooks(connection: WebConnection): connection is Taking {
  return connection.webhook !== undefined;
}

function tooLarge(maxBytes: number): Answer {
  return {
    kind: 'refused',
    status: 413,
    error: `the body is larger than ${maxBytes} bytes`,
    place: 'body',
    headers: { Connection: 'close' },
  };
}

function tooMany(seconds: number, { name, webhook }: Taking): Answer {
  return {
    kind: 'refused',
    status: 429,
    error: `connection ${name} takes ${webhook.ratePerSecond} webhooks per second; send it again later`,
    place: 'rate',
    headers: { 'Retry-After': String(Math.ceil(seconds)) },
  };
}

async function receive(
  deps: WebhookDeps,
  connection: Taking,
  bucket: TokenBucket,
  request: Request,
  body: Uint8Array,
): Promise<Answer> {
  if (!isUtf8(body)) return badRequest('the body is not UTF-8', 'body');
  if (isNestedDeeperThan(body, MAX_DEPTH))
    return badRequest(`the body nests deeper than ${MAX_DEPTH} levels`, 'body');
  const verdict = await connection.webhook.verify(request.headers, body, queryTokenOf(request));
  switch (verdict.kind) {
    case 'ignored':
      return jsonAnswer({ outcome: 'ignored', reason: verdict.reason });
    case 'refused':
      return { kind: 'refused', status: verdict.status, error: verdict.reason, place: 'webhook' };
    case 'accepted': {
      const seconds = bucket.take();
      return seconds > 0 ? tooMany(seconds, connection) : store(deps, connection.name, verdict.event);
    }
  }
}

/** Hidden at once: URLs are easily logged. One that is there twice counts as missing. */
function queryTokenOf({ originalUrl }: Request): Secret | undefined {
  const [token, ...others] = new URL(originalUrl, 'http://local').searchParams.getAll('token');
  return token === undefined || others.length > 0 ? undefined : new Secret(token);
}

async function store(
  deps: WebhookDeps,
  connection: string,
  event: Parameters<WebDeps['storeEvent']>[1],
): Promise<Answer> {
  try {
    return jsonAnswer({ outcome: await deps.storeEvent(connection, event), delivery: event.deliveryId });
  } catch (error) {
    // On any failure the host must send the event again, and the log has the cause.
    deps.log.warn({ connection, delivery: event.deliveryId, err: error }, 'cannot store a webhook');
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

/**
 * `POST /<token>/v1/traces`, for jobs:
 *
 *     200 accepted, or in part: with what was rejected     401 unknown token     404 405 not this     400 413 415 unreadable
 *     403 the limit of bytes read for the build is reached     429 too many requests at a time
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { readBody } from '../../lib/read-body.ts';
import { readTraceRequest } from '../../tracing/otlp-in/read-trace-request.ts';
import { REQUEST_LIMITS } from '../../tracing/otlp-in/request-limits.ts';
import { refusalAnswer, type TraceAnswer, traceAnswer } from '../../tracing/otlp-in/trace-answer.ts';
import type { RequestLimiter } from './request-limiter.ts';

/** @param limiterOf the build with this token, while it runs. */
export function relayHandler(limiterOf: (token: string) => RequestLimiter | undefined): RequestListener {
  return (request, response) => {
    handle(limiterOf, request, response).catch(error => {
      // An internal error: the job may try again.
      send(response, 500, refusalAnswer('json', error instanceof Error ? error.message : String(error)));
    });
  };
}

async function handle(
  limiterOf: (token: string) => RequestLimiter | undefined,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  // Requests that had arrived behind one after which we closed the connection.
  if (request.socket.destroyed) return;
  const [, token = '', ...path] = (request.url ?? '').split('/');
  const limiter = limiterOf(token);
  if (limiter === undefined) return refuse(response, 401, 'this address belongs to no build that runs');
  if (path.join('/') !== 'v1/traces')
    return refuse(response, 404, 'only spans are taken here, at …/v1/traces');
  if (request.method !== 'POST') return refuse(response, 405, 'spans are sent with POST');
  const turn = limiter.enter(request.socket, () => takeSpans(limiter, request, response));
  switch (turn) {
    case 'crowded':
      return refuse(response, 429, 'too many requests of this build wait; send it again later');
    case 'spent':
      return refuse(response, 403, 'this build has sent more than the limit; nothing more of it is read');
    case 'flooded':
      // An answer would queue behind those not written yet, and the requests behind it would keep coming.
      request.socket.destroy();
      return;
    default:
      await turn;
  }
}

async function takeSpans(
  limiter: RequestLimiter,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await readBody(request, REQUEST_LIMITS.bodyBytes);
  if (body.kind === 'broken-off') return;
  if (body.kind === 'too-large') return refuse(response, 413, `more than ${REQUEST_LIMITS.bodyBytes} bytes`);
  const read = await readTraceRequest({
    body: body.bytes,
    contentType: request.headers['content-type'],
    contentEncoding: request.headers['content-encoding'],
  });
  limiter.charge(read.unpacked);
  if (read.kind === 'refused') return send(response, read.status, refusalAnswer(read.encoding, read.reason));
  send(response, 200, traceAnswer(read.encoding, limiter.intake.take(read)));
}

/** Does not wait for the unread rest of the request. */
function refuse(response: ServerResponse, status: number, reason: string): void {
  response.setHeader('connection', 'close');
  send(response, status, refusalAnswer('json', reason));
}

function send(response: ServerResponse, status: number, { contentType, body }: TraceAnswer): void {
  if (response.destroyed) return;
  response.writeHead(status, { 'content-type': contentType, 'content-length': body.byteLength }).end(body);
}

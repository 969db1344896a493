/**
 * `POST /<token>/v1/traces`, for jobs:
 *
 *     200 taken, or in part: what was rejected is told     401 nobody's token     404 405 not this     400 413 415 unreadable
 *     403 so much was read of the build that nothing more will be     429 too many requests at a time
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { readBody } from '../../lib/read-body.ts';
import { readTraceRequest } from '../../tracing/otlp-in/read-trace-request.ts';
import { REQUEST_LIMITS } from '../../tracing/otlp-in/request-limits.ts';
import { refusalAnswer, type TraceAnswer, traceAnswer } from '../../tracing/otlp-in/trace-answer.ts';
import type { BuildDoor } from './build-door.ts';

export function relayHandler(doorOf: (token: string) => BuildDoor | undefined): RequestListener {
  return (request, response) => {
    handle(doorOf, request, response).catch(error => {
      // A fault of ours: the job is told so, and may try again.
      send(response, 500, refusalAnswer('json', error instanceof Error ? error.message : String(error)));
    });
  };
}

async function handle(
  doorOf: (token: string) => BuildDoor | undefined,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  // Requests that had come with others behind which we hung up.
  if (request.socket.destroyed) return;
  const [, token = '', ...path] = (request.url ?? '').split('/');
  const door = doorOf(token);
  if (door === undefined) return refuse(response, 401, 'this address belongs to no build that runs');
  if (path.join('/') !== 'v1/traces')
    return refuse(response, 404, 'only spans are taken here, at …/v1/traces');
  if (request.method !== 'POST') return refuse(response, 405, 'spans are posted');
  const turn = door.enter(request.socket, () => takeSpans(door, request, response));
  switch (turn) {
    case 'crowded':
      return refuse(response, 429, 'too many requests of this build wait; send it again later');
    case 'spent':
      return refuse(response, 403, 'this build has sent more than will ever be read of it');
    case 'flooded':
      // An answer would wait behind those that are not written yet, and the requests behind it would go on coming.
      request.socket.destroy();
      return;
    default:
      await turn;
  }
}

async function takeSpans(door: BuildDoor, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await readBody(request, REQUEST_LIMITS.bodyBytes);
  if (body.kind === 'broken-off') return;
  if (body.kind === 'too-large') return refuse(response, 413, `more than ${REQUEST_LIMITS.bodyBytes} bytes`);
  const read = await readTraceRequest({
    body: body.bytes,
    contentType: request.headers['content-type'],
    contentEncoding: request.headers['content-encoding'],
  });
  door.charge(read.unpacked);
  if (read.kind === 'refused') return send(response, read.status, refusalAnswer(read.encoding, read.reason));
  send(response, 200, traceAnswer(read.encoding, door.intake.take(read)));
}

/** What was not read of the request is not waited for. */
function refuse(response: ServerResponse, status: number, reason: string): void {
  response.setHeader('connection', 'close');
  send(response, status, refusalAnswer('json', reason));
}

function send(response: ServerResponse, status: number, { contentType, body }: TraceAnswer): void {
  if (response.destroyed) return;
  response.writeHead(status, { 'content-type': contentType, 'content-length': body.byteLength }).end(body);
}

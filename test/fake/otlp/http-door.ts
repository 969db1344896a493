/** The sink's HTTP side: http/protobuf and http/json, distinguished by the content type; any path will do. */
import { createServer as createPlain, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecure } from 'node:https';
import { gunzipSync } from 'node:zlib';
import { decodeJsonRequest } from './decode-json.ts';
import { decodeExportRequest } from './decode-protobuf.ts';
import { partialResponse, type SinkAnswer, statusBody } from './sink-answer.ts';
import { type Door, type DoorOptions, listenForConnections } from './sink-door.ts';

export async function openHttpDoor(options: DoorOptions): Promise<Door> {
  const handle = (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    request.on('data', chunk => chunks.push(chunk));
    // A request that is cut short never was one.
    request.on('error', () => {});
    request.on('end', () => {
      const answer = receive(request, Buffer.concat(chunks), options);
      respond(answer, isJson(request), response, () => listener.reset(request.socket.remotePort));
    });
  };
  const { tls } = options;
  const server =
    tls === undefined
      ? createPlain(handle)
      : createSecure(
          {
            cert: tls.cert,
            key: tls.key,
            ...(tls.clientCa === undefined
              ? {}
              : { ca: tls.clientCa, requestCert: true, rejectUnauthorized: true }),
          },
          handle,
        );
  // A collector keeps connections as long as the client does: the test closes them here.
  server.keepAliveTimeout = 0;
  const listener = await listenForConnections(
    options.port ?? 0,
    socket => void server.emit('connection', socket),
  );
  return listener;
}

function receive(request: IncomingMessage, sent: Buffer, options: DoorOptions): SinkAnswer {
  const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent;
  const refusal: SinkAnswer | undefined =
    body.length > options.maxBytes ? { kind: 'status', code: 413 } : undefined;
  const arrived = {
    method: request.method ?? '',
    path: request.url ?? '',
    headers: Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    ),
    body,
    decode: isJson(request) ? decodeJsonRequest : decodeExportRequest,
  };
  return options.receive(arrived, refusal);
}

function isJson(request: IncomingMessage): boolean {
  return request.headers['content-type']?.startsWith('application/json') === true;
}

function respond(answer: SinkAnswer, json: boolean, response: ServerResponse, reset: () => void): void {
  const type = json ? 'application/json' : 'application/x-protobuf';
  const reply = (status: number, body: Uint8Array | string, headers: Record<string, string> = {}) => {
    response.writeHead(status, { 'content-type': type, ...headers });
    response.end(body);
  };
  switch (answer.kind) {
    case 'ok':
      reply(200, json ? '{}' : '');
      return;
    case 'partial': {
      const { rejected, message } = answer;
      const partialSuccess = { rejectedSpans: String(rejected), errorMessage: message };
      reply(200, json ? JSON.stringify({ partialSuccess }) : partialResponse(rejected, message));
      return;
    }
    case 'body':
      if (answer.unfinished === true) response.write(answer.body, () => response.destroy());
      else reply(200, answer.body);
      return;
    case 'take-then-fail':
      reply(answer.code, '');
      return;
    case 'status': {
      const { code, message = `status ${answer.code}`, retryAfterMs, headers } = answer;
      const body = json ? JSON.stringify({ message }) : statusBody(message);
      const wait =
        retryAfterMs === undefined ? {} : { 'retry-after': String(Math.ceil(retryAfterMs / 1000)) };
      reply(code, body, { ...wait, ...headers });
      return;
    }
    case 'hang':
      return;
    case 'reset':
      reset();
      return;
    case 'slow':
      void answer.until.then(() => respond(answer.answer, json, response, reset));
  }
}

/** The sink's gRPC side: the real server of grpc-js, behind a listener that can cut single connections. */
import {
  Metadata,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type sendUnaryData,
  status,
} from '@grpc/grpc-js';
import { decodeExportRequest } from './decode-protobuf.ts';
import { partialResponse, retryInfo, type SinkAnswer } from './sink-answer.ts';
import { type Door, type DoorOptions, listenForConnections } from './sink-door.ts';

const METHOD = '/opentelemetry.proto.collector.trace.v1.TraceService/Export';

export async function openGrpcDoor(options: DoorOptions): Promise<Door> {
  const server = new Server({ 'grpc.max_receive_message_length': options.maxBytes });
  const handle = (call: ServerUnaryCall<Buffer, Buffer>, reply: sendUnaryData<Buffer>) => {
    const headers = Object.fromEntries(
      Object.entries(call.metadata.getMap()).map(([name, value]) => [name, String(value)]),
    );
    const arrived = {
      method: 'POST',
      path: METHOD,
      headers,
      body: call.request,
      decode: decodeExportRequest,
    };
    const reset = () => listener.reset(Number(call.getPeer().split(':').at(-1)));
    respond(options.receive(arrived), reply, reset);
  };
  const plain = {
    requestSerialize: same,
    requestDeserialize: same,
    responseSerialize: same,
    responseDeserialize: same,
  };
  const Export = { path: METHOD, requestStream: false, responseStream: false, ...plain } as const;
  server.addService({ Export }, { Export: handle });
  const injector = server.createConnectionInjector(credentialsOf(options));
  const listener = await listenForConnections(options.port ?? 0, socket => injector.injectConnection(socket));
  return {
    ...listener,
    stop() {
      listener.stop();
      server.forceShutdown();
    },
  };
}

function same(bytes: Buffer): Buffer {
  return bytes;
}

function credentialsOf({ tls }: DoorOptions): ServerCredentials {
  if (tls === undefined) return ServerCredentials.createInsecure();
  const pair = [{ cert_chain: tls.cert, private_key: tls.key }];
  return ServerCredentials.createSsl(tls.clientCa ?? null, pair, tls.clientCa !== undefined);
}

function respond(answer: SinkAnswer, reply: sendUnaryData<Buffer>, reset: () => void): void {
  switch (answer.kind) {
    case 'ok':
      reply(null, Buffer.alloc(0));
      return;
    case 'partial':
      reply(null, partialResponse(answer.rejected, answer.message));
      return;
    case 'body':
      reply(null, Buffer.from(answer.body));
      return;
    case 'take-then-fail':
      reply({ code: answer.code, details: 'answer lost' });
      return;
    case 'status': {
      const metadata = new Metadata();
      if (answer.retryAfterMs !== undefined)
        metadata.set('grpc-status-details-bin', retryInfo(answer.code, answer.retryAfterMs));
      reply({
        code: answer.code,
        details: answer.message ?? status[answer.code] ?? 'failed',
        metadata,
      });
      return;
    }
    case 'hang':
      return;
    case 'reset':
      reset();
      return;
    case 'slow':
      void answer.until.then(() => respond(answer.answer, reply, reset));
  }
}

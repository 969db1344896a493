/** OTLP over gRPC: one unary call per request, over one connection that grpc-js keeps. */
import {
  type ChannelCredentials,
  Client,
  type ClientUnaryCall,
  compressionAlgorithms,
  credentials,
  Metadata,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import type { Wire, WireOptions } from './collector-wire.ts';
import type { ExportOutcome } from './export-outcome.ts';
import { outcomeOfStatus } from './grpc-outcome.ts';
import { refusalIn } from './partial-success.ts';

const METHOD = '/opentelemetry.proto.collector.trace.v1.TraceService/Export';
/** The sender decides when to try again; the channel must not be slower than that. */
const RECONNECT_MS = { 'grpc.initial_reconnect_backoff_ms': 100, 'grpc.max_reconnect_backoff_ms': 1000 };

/** @throws Error when the TLS files do not hold what they should. */
export function grpcWire(options: WireOptions): Wire {
  const metadata = new Metadata();
  for (const [name, value] of options.headers ?? []) metadata.set(name, value.reveal());
  const connect = clientMaker(options);
  const calls = new Set<ClientUnaryCall>();
  let client = connect();

  /** A connection over which no answer comes may be dead without saying so: the next request takes a new one. */
  function renew(silent: Client): void {
    if (silent !== client) return;
    silent.close();
    client = connect();
  }

  return {
    send: body =>
      new Promise<ExportOutcome>(resolve => {
        const used = client;
        const deadline = Date.now() + options.timeoutMs;
        const settle = (error: ServiceError | null, answer?: Buffer) => {
          calls.delete(call);
          if (error?.code === status.DEADLINE_EXCEEDED) renew(used);
          resolve(
            error === null
              ? { kind: 'delivered', refused: refusalIn(answer ?? Buffer.of()) }
              : outcomeOfStatus(error),
          );
        };
        const call = used.makeUnaryRequest(METHOD, asBuffer, same, body, metadata, { deadline }, settle);
        calls.add(call);
      }),
    close() {
      for (const call of calls) call.cancel();
      client.close();
    },
  };
}

function clientMaker(options: WireOptions): () => Client {
  const { protocol, hostname, port } = new URL(options.url);
  const secure = protocol === 'https:';
  const address = `${hostname}:${port === '' ? (secure ? 443 : 80) : port}`;
  const channel = credentialsOf(options, secure);
  const compression =
    options.compression === 'gzip' ? compressionAlgorithms.gzip : compressionAlgorithms.identity;
  return () =>
    new Client(address, channel, {
      ...RECONNECT_MS,
      'grpc.default_compression_algorithm': compression,
      'grpc.primary_user_agent': options.userAgent,
      // Clients share connections by address otherwise, and a new one would get the silent one again.
      'grpc.use_local_subchannel_pool': 1,
    });
}

function credentialsOf({ tls }: WireOptions, secure: boolean): ChannelCredentials {
  if (!secure) return credentials.createInsecure();
  return credentials.createSsl(tls?.ca ?? null, tls?.key ?? null, tls?.cert ?? null);
}

function asBuffer(body: Uint8Array): Buffer {
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
}

function same(bytes: Buffer): Buffer {
  return bytes;
}

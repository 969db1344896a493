/**
 * OTLP over gRPC: `OTLPTraceExporter` carries the requests, one call each. It makes no second try and we want none from it;
 * what it does not do by itself is done here:
 *
 * - After a request without an answer a new exporter, with a connection of its own, takes its place. A connection that is dead
 *   without saying so is not used again, and one that could not be made is tried anew at our pace, not at the channel's.
 * - Complaints of the collector come from its diagnostics (sdk-complaints.ts).
 * - Closing gives up the requests under way; it would wait for them. Their calls end with their timeout.
 * - Headers in the environment are not its business.
 */
import { type ChannelCredentials, credentials, Metadata } from '@grpc/grpc-js';
import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-grpc';
import { CompressionAlgorithm } from '@opentelemetry/otlp-exporter-base';
import type { Installation } from '../resource.ts';
import { type CollectorOptions, MOST_REQUESTS_AT_ONCE } from './collector-options.ts';
import type { ExportOutcome } from './export-outcome.ts';
import { outcomeOfError, spoilsConnection } from './grpc-outcome.ts';
import { readableSpans } from './readable-spans.ts';
import { hearing, listenToSdk } from './sdk-complaints.ts';
import type { SpanExporter } from './span-exporter.ts';

const CLOSED: ExportOutcome = { kind: 'again', afterMs: undefined, text: 'the connection was closed' };

/** @throws Error when the TLS files do not hold what they should. */
export function grpcExporter(options: CollectorOptions, own: Installation): SpanExporter {
  listenToSdk();
  const connect = exporterMaker(options);
  const giveUp = new Set<() => void>();
  let exporter = connect();

  /** Only the first request that fails over a connection ends it; the others over it are still answered, or not. */
  function renew(spoilt: OTLPTraceExporter): void {
    if (spoilt !== exporter) return;
    exporter = connect();
    void spoilt.shutdown();
  }

  return {
    send: spans =>
      new Promise(resolve => {
        const used = exporter;
        const heard = hearing();
        const settle = (outcome: ExportOutcome) => {
          giveUp.delete(abandon);
          resolve(outcome);
        };
        const abandon = () => settle(CLOSED);
        giveUp.add(abandon);
        const onResult = ({ code, error }: ExportResult) => {
          if (!giveUp.has(abandon)) return;
          if (code === ExportResultCode.SUCCESS) {
            settle({ kind: 'delivered', refused: heard.refusal() });
            return;
          }
          const failure = error ?? new Error('the exporter failed without saying why');
          if (spoilsConnection(failure)) renew(used);
          settle(outcomeOfError(failure));
        };
        heard.during(() => used.export(readableSpans(spans, own), onResult));
      }),
    close() {
      for (const abandon of giveUp) abandon();
      void exporter.shutdown();
    },
  };
}

function exporterMaker(options: CollectorOptions): () => OTLPTraceExporter {
  const { protocol, hostname, port } = new URL(options.url);
  const secure = protocol === 'https:';
  const metadata = new Metadata();
  for (const [name, value] of options.headers ?? []) metadata.set(name, value.reveal());
  const config = {
    // Without a scheme, which would swallow the port that is its default; what it decides, the credentials say.
    url: `${hostname}:${port === '' ? (secure ? 443 : 80) : port}`,
    credentials: credentialsOf(options, secure),
    metadata,
    timeoutMillis: options.timeoutMs,
    compression: options.compression === 'gzip' ? CompressionAlgorithm.GZIP : CompressionAlgorithm.NONE,
    // It still counts a request whose answer we just had.
    concurrencyLimit: 2 * MOST_REQUESTS_AT_ONCE,
  };
  let made = 0;
  return () => {
    made += 1;
    // grpc-js lets clients with equal options share a connection: one that is to be new must differ in something.
    const userAgent = made === 1 ? options.userAgent : `${options.userAgent} (connection ${made})`;
    return withoutHeadersOf(process.env, () => new OTLPTraceExporter({ ...config, userAgent }));
  };
}

function credentialsOf({ tls }: CollectorOptions, secure: boolean): ChannelCredentials {
  if (!secure) return credentials.createInsecure();
  return credentials.createSsl(tls?.ca ?? null, tls?.key ?? null, tls?.cert ?? null);
}

/**
 * The package adds what these hold to the headers it is given, while it is constructed. The settings have read them already;
 * where they were overruled, they may hold a secret that is not for this collector.
 */
const HEADER_VARIABLES = ['OTEL_EXPORTER_OTLP_HEADERS', 'OTEL_EXPORTER_OTLP_TRACES_HEADERS'] as const;

function withoutHeadersOf<T>(environment: NodeJS.ProcessEnv, make: () => T): T {
  const kept = HEADER_VARIABLES.map(name => [name, environment[name]] as const);
  for (const name of HEADER_VARIABLES) delete environment[name];
  try {
    return make();
  } finally {
    for (const [name, value] of kept) if (value !== undefined) environment[name] = value;
  }
}

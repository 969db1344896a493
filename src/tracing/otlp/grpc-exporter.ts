/**
 * OTLP over gRPC: `OTLPTraceExporter` sends the requests, one call each, without retry. Added here:
 *
 * - After a request without an answer, a new exporter with a connection of its own replaces it. A half-open connection is not used
 *   again, and a failed one is retried with our back-off, not the channel's.
 * - Partial successes are read from its diagnostics (sdk-complaints.ts).
 * - Closing abandons the requests in flight; the exporter would wait for them. Their calls end with their timeout.
 * - Headers from the environment are kept from it.
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
import { captureSdkDiagnostics, exportDiagnostics } from './sdk-complaints.ts';
import type { SpanExporter } from './span-exporter.ts';

const CLOSED: ExportOutcome = { kind: 'again', afterMs: undefined, text: 'the connection was closed' };

/** @throws Error when the TLS files are invalid. */
export function grpcExporter(options: CollectorOptions, own: Installation): SpanExporter {
  captureSdkDiagnostics();
  const connect = exporterMaker(options);
  const giveUp = new Set<() => void>();
  let exporter = connect();

  /** Only the first failed request over a connection replaces it; the others in flight go on. */
  function renew(spoilt: OTLPTraceExporter): void {
    if (spoilt !== exporter) return;
    exporter = connect();
    void spoilt.shutdown();
  }

  return {
    send: spans =>
      new Promise(resolve => {
        const used = exporter;
        const diagnostics = exportDiagnostics();
        const settle = (outcome: ExportOutcome) => {
          giveUp.delete(abandon);
          resolve(outcome);
        };
        const abandon = () => settle(CLOSED);
        giveUp.add(abandon);
        const onResult = ({ code, error }: ExportResult) => {
          if (!giveUp.has(abandon)) return;
          if (code === ExportResultCode.SUCCESS) {
            settle({ kind: 'delivered', refused: diagnostics.refusal() });
            return;
          }
          const failure = error ?? new Error('the exporter failed without saying why');
          if (spoilsConnection(failure)) renew(used);
          settle(outcomeOfError(failure));
        };
        diagnostics.during(() => used.export(readableSpans(spans, own), onResult));
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
    // Without the scheme: with it, a default port would be dropped. The credentials decide about TLS.
    url: `${hostname}:${port === '' ? (secure ? 443 : 80) : port}`,
    credentials: credentialsOf(options, secure),
    metadata,
    timeoutMillis: options.timeoutMs,
    compression: options.compression === 'gzip' ? CompressionAlgorithm.GZIP : CompressionAlgorithm.NONE,
    // The exporter still counts the request that was just answered.
    concurrencyLimit: 2 * MOST_REQUESTS_AT_ONCE,
  };
  let made = 0;
  return () => {
    made += 1;
    // grpc-js shares a connection between clients with equal options: a new connection needs a different option.
    const userAgent = made === 1 ? options.userAgent : `${options.userAgent} (connection ${made})`;
    return withoutHeadersOf(process.env, () => new OTLPTraceExporter({ ...config, userAgent }));
  };
}

function credentialsOf({ tls }: CollectorOptions, secure: boolean): ChannelCredentials {
  if (!secure) return credentials.createInsecure();
  return credentials.createSsl(tls?.ca ?? null, tls?.key ?? null, tls?.cert ?? null);
}

/**
 * The package's constructor adds these variables to its headers. The settings have read them already; where the settings override
 * them, they may hold a secret for another collector.
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

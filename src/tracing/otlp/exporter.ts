/**
 * The wire to the collector: one request, one classified outcome. It never retries and keeps nothing; that is the sender's
 * business (sender.ts), since the SDK's gRPC exporter gives up at the first failure.
 */
import { credentials, Metadata } from '@grpc/grpc-js';
import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-grpc';
import { CompressionAlgorithm } from '@opentelemetry/otlp-exporter-base';
import type { Resource } from '@opentelemetry/resources';
import type { Secret } from '../../lib/secret.ts';
import type { SpanRecord } from '../../model/span.ts';
import { classifyFailure, type ExportOutcome } from './classify.ts';
import { readableSpan } from './readable-span.ts';
import type { SdkDiagnostics } from './sdk-diagnostics.ts';

export interface SpanExporter {
  /** Sends ended spans in one request; never rejects. */
  send(spans: readonly SpanRecord[]): Promise<ExportOutcome>;
  /** Closes the connection; requests under way are given up. */
  close(): void;
}

export interface ExporterOptions {
  /** `http://host:port`, `https://host:port` or `host:port`. */
  readonly endpoint: string;
  readonly insecure: boolean;
  /** PEM contents. */
  readonly tls?: { readonly ca?: Buffer; readonly cert?: Buffer; readonly key?: Buffer };
  readonly headers?: ReadonlyMap<string, Secret>;
  readonly timeoutMs: number;
  readonly compression: 'none' | 'gzip';
  readonly resource: Resource;
  /** Version of Gatehouse, as the instrumentation scope's. */
  readonly version: string;
}

/** More than one request at a time keeps a distant collector busy; the SDK refuses above 30. */
export const MOST_REQUESTS_AT_ONCE = 8;

/** @throws Error when the TLS files do not hold what they should. */
export function otlpExporter(options: ExporterOptions, diagnostics: SdkDiagnostics): SpanExporter {
  const envelope = { resource: options.resource, scope: { name: 'gatehouse', version: options.version } };
  const wire = new OTLPTraceExporter({
    url: urlOf(options),
    credentials: credentialsOf(options),
    metadata: metadataOf(options.headers),
    timeoutMillis: options.timeoutMs,
    compression: options.compression === 'gzip' ? CompressionAlgorithm.GZIP : CompressionAlgorithm.NONE,
    concurrencyLimit: MOST_REQUESTS_AT_ONCE + 2,
  });
  return {
    send: spans =>
      new Promise(resolve => {
        const readable = spans.map(span => readableSpan(span, envelope));
        wire.export(readable, result => resolve(outcomeOf(result, diagnostics)));
      }),
    // Rejections of a shutdown are those of the requests it waits for, which have their own outcome.
    close: () => void wire.shutdown().catch(() => undefined),
  };
}

function outcomeOf(result: ExportResult, diagnostics: SdkDiagnostics): ExportOutcome {
  return result.code === ExportResultCode.SUCCESS
    ? { kind: 'delivered', refused: diagnostics.takeRefusal() }
    : classifyFailure(result.error);
}

function urlOf({ endpoint, insecure }: ExporterOptions): string {
  return /^[a-z]+:\/\//i.test(endpoint) ? endpoint : `${insecure ? 'http' : 'https'}://${endpoint}`;
}

function credentialsOf({ insecure, tls }: ExporterOptions) {
  if (insecure) return credentials.createInsecure();
  return credentials.createSsl(tls?.ca ?? null, tls?.key ?? null, tls?.cert ?? null);
}

function metadataOf(headers: ReadonlyMap<string, Secret> | undefined): Metadata {
  const metadata = new Metadata();
  for (const [name, value] of headers ?? []) metadata.set(name, value.reveal());
  return metadata;
}

/**
 * Creates the exporter for the configured protocol.
 *
 *     gRPC:  spans ── OTLPTraceExporter ──────────────────> ExportOutcome      grpc-exporter.ts
 *     HTTP:  spans ── encode-request ──> bytes ── http-wire ──> ExportOutcome  http-exporter.ts
 */
import type { Installation } from '../resource.ts';
import type { CollectorOptions } from './collector-options.ts';
import { grpcExporter } from './grpc-exporter.ts';
import { httpExporter } from './http-exporter.ts';
import type { SpanExporter } from './span-exporter.ts';

/** `[tracing]` with the contents of its TLS files; made by `src/cmd/service/span-delivery.ts`. */
export interface ExporterOptions extends Omit<CollectorOptions, 'url' | 'userAgent'> {
  readonly protocol: 'grpc' | 'http/protobuf';
  /** `http://host:port`, `https://host:port` or `host:port`; with http/protobuf followed by the whole path. */
  readonly endpoint: string;
  /** For `host:port`: without TLS. */
  readonly insecure: boolean;
  /** Resource of our own spans. */
  readonly installation: Installation;
}

/** @throws Error when the TLS files are invalid. */
export function otlpExporter(options: ExporterOptions): SpanExporter {
  const { installation } = options;
  const collector = {
    ...options,
    url: urlOf(options),
    userAgent: `gatehouse/${installation.serviceVersion}`,
  };
  return options.protocol === 'grpc'
    ? grpcExporter(collector, installation)
    : httpExporter(collector, installation);
}

function urlOf({ endpoint, insecure }: ExporterOptions): string {
  return /^[a-z]+:\/\//i.test(endpoint) ? endpoint : `${insecure ? 'http' : 'https'}://${endpoint}`;
}

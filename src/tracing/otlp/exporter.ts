/**
 * Makes the exporter the settings ask for.
 *
 *     gRPC:  spans ── OTLPTraceExporter ──────────────────> ExportOutcome      grpc-exporter.ts
 *     HTTP:  spans ── encode-request ──> bytes ── http-wire ──> ExportOutcome  http-exporter.ts
 */
import type { Installation } from '../resource.ts';
import type { CollectorOptions } from './collector-options.ts';
import { grpcExporter } from './grpc-exporter.ts';
import { httpExporter } from './http-exporter.ts';
import type { SpanExporter } from './span-exporter.ts';

export interface ExporterOptions extends Omit<CollectorOptions, 'url' | 'userAgent'> {
  readonly protocol: 'grpc' | 'http/protobuf';
  /** `http://host:port`, `https://host:port` or `host:port`; with http/protobuf followed by the whole path. */
  readonly endpoint: string;
  /** Of a `host:port`: without TLS. */
  readonly insecure: boolean;
  /** Whose spans they are. */
  readonly installation: Installation;
}

/** @throws Error when the TLS files do not hold what they should. */
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

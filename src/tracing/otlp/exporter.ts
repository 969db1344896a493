/**
 * The way to the collector: one request, one classified outcome. It never retries on its own and keeps nothing; that is the
 * sender's business (sender.ts). The OpenTelemetry exporters would do both, by rules of their own: the gRPC one gives up at
 * the first failure, the HTTP one retries for ten seconds, and neither says how many spans a collector refused.
 *
 *     spans ── encode-request ──> bytes ── grpc-wire / http-wire ──> ExportOutcome
 */
import type { Resource } from '@opentelemetry/resources';
import type { SpanRecord } from '../../model/span.ts';
import type { WireOptions } from './collector-wire.ts';
import { encodeRequest } from './encode-request.ts';
import type { ExportOutcome } from './export-outcome.ts';
import { grpcWire } from './grpc-wire.ts';
import { httpWire } from './http-wire.ts';

export interface SpanExporter {
  /** Sends ended spans in one request; never rejects. */
  send(spans: readonly SpanRecord[]): Promise<ExportOutcome>;
  /** Closes the connection; requests under way are given up. */
  close(): void;
}

export interface ExporterOptions extends Omit<WireOptions, 'url' | 'userAgent'> {
  readonly protocol: 'grpc' | 'http/protobuf';
  /** `http://host:port`, `https://host:port` or `host:port`; with http/protobuf followed by the whole path. */
  readonly endpoint: string;
  /** Of a `host:port`: without TLS. */
  readonly insecure: boolean;
  readonly resource: Resource;
  /** Version of Gatehouse, as the instrumentation scope's. */
  readonly version: string;
}

/** What gRPC servers take unless told otherwise is 4 MiB. */
const MOST_REQUEST_BYTES = 4 * 1024 * 1024 - 1024;

/** @throws Error when the TLS files do not hold what they should. */
export function otlpExporter(options: ExporterOptions): SpanExporter {
  const own = { resource: options.resource, scope: { name: 'gatehouse', version: options.version } };
  const connect = options.protocol === 'grpc' ? grpcWire : httpWire;
  const wire = connect({ ...options, url: urlOf(options), userAgent: `gatehouse/${options.version}` });
  return {
    async send(spans) {
      const request = encodeRequest(spans, own);
      if (request.length > MOST_REQUEST_BYTES)
        return { kind: 'too-large', text: `${request.length} bytes in one request` };
      return wire.send(request);
    },
    close: () => wire.close(),
  };
}

function urlOf({ endpoint, insecure }: ExporterOptions): string {
  return /^[a-z]+:\/\//i.test(endpoint) ? endpoint : `${insecure ? 'http' : 'https'}://${endpoint}`;
}

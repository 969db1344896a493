/** OTLP over HTTP: encodes spans once, checks the size and posts them. */

import type { Installation } from '../resource.ts';
import type { CollectorOptions } from './collector-options.ts';
import { encodeRequest } from './encode-request.ts';
import { httpWire } from './http-wire.ts';
import type { SpanExporter } from './span-exporter.ts';

/** Collectors accept 4 MiB by default. */
const MOST_REQUEST_BYTES = 4 * 1024 * 1024 - 1024;

/** @throws Error when the TLS files are invalid. */
export function httpExporter(options: CollectorOptions, own: Installation): SpanExporter {
  const wire = httpWire(options);
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

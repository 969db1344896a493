/** Connection options of a collector, for both protocols. */
import type { Secret } from '../../lib/secret.ts';

/** Made by exporter.ts from its options, with a whole URL; the settings are checked before. */
export interface CollectorOptions {
  /** `http://…` or `https://…`; with gRPC only scheme, host and port count. */
  readonly url: string;
  /** PEM contents. */
  readonly tls?: { readonly ca?: Buffer; readonly cert?: Buffer; readonly key?: Buffer };
  /** Configured ones, e.g. for authentication. They cannot override headers that describe the body. */
  readonly headers?: ReadonlyMap<string, Secret>;
  /** Timeout of one request, its answer included. */
  readonly timeoutMs: number;
  readonly compression: 'none' | 'gzip';
  readonly userAgent: string;
}

/** More than one request at a time keeps a distant collector busy. */
export const MOST_REQUESTS_AT_ONCE = 8;

/**
 * The options of `[tracing]` for the address of the collector and access to it.
 *
 * With http/protobuf the endpoint is a whole URL in the end. Its source decides what is added:
 *
 * | given | sent to |
 * |---|---|
 * | the file, `http://c:4318` | `http://c:4318/v1/traces` |
 * | the file, `http://c:4318/otlp/v1/traces` | unchanged, as in zuul.conf |
 * | OTEL_EXPORTER_OTLP_ENDPOINT, `http://c:4318/otlp` | `http://c:4318/otlp/v1/traces`: it is a base, always |
 * | OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, `http://c:4318` | `http://c:4318/`: unchanged, always |
 */
import type { OptionReader, OptionValue } from '../lib/option-reader.ts';

/** Where spans are sent and how the connection is secured; defaults are applied. */
export interface CollectorSettings {
  /** Default gRPC. */
  readonly protocol: 'grpc' | 'http/protobuf';
  /**
   * `http://…`, `https://…` or, with gRPC, `host:port`; with http/protobuf the whole URL. Default `http://localhost:4317`, or
   * `http://localhost:4318/v1/traces`.
   */
  readonly endpoint: string;
  /** Without TLS. True for an `http://` endpoint or `insecure = true`. */
  readonly insecure: boolean;
  /** PEM files. */
  readonly tls: { readonly ca?: string; readonly cert?: string; readonly key?: string };
}

const DEFAULT_ENDPOINT = {
  grpc: 'http://localhost:4317',
  'http/protobuf': 'http://localhost:4318/v1/traces',
} as const;
const TRACES_PATH = '/v1/traces';
const TLS_FILES = ['tls_ca', 'tls_cert', 'tls_key', 'certificate_file'];

/** @param written the endpoint option, from the file or the environment. */
export function readCollector(read: OptionReader, written: OptionValue | undefined): CollectorSettings {
  const protocol = read.oneOf('protocol', ['grpc', 'http/protobuf'], 'grpc');
  const given = readEndpoint(read);
  const endpoint = given ?? DEFAULT_ENDPOINT[protocol];
  const insecure = read.boolean('insecure', false);
  const ca = readAuthority(read, protocol);
  const [cert, key] = [read.path('tls_cert'), read.path('tls_key')];
  checkTls(endpoint, insecure, read);
  const sendTo = {
    grpc: (text: string) => text.replace(/\/+$/, ''),
    'http/protobuf': (text: string) => tracesUrl(text, insecure, written?.at.file),
  };
  return {
    protocol,
    endpoint: given === undefined ? endpoint : sendTo[protocol](given),
    insecure: insecure || endpoint.startsWith('http://'),
    tls: {
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
    },
  };
}

function readEndpoint(read: OptionReader): string | undefined {
  const endpoint = read.string('endpoint');
  if (endpoint === undefined) return undefined;
  // Checked as a URL, kept as written: the last slash of a whole URL counts.
  if (/^https?:\/\//.test(endpoint)) return read.url('endpoint', ['http', 'https']) && endpoint;
  if (!/^(\[[0-9a-f:.]+\]|[\w.-]+):\d{1,5}$/i.test(endpoint)) {
    read.refuse('endpoint', `"${endpoint}" is neither host:port nor a URL such as http://collector:4317`);
  }
  return endpoint;
}

function tracesUrl(endpoint: string, insecure: boolean, source: string | undefined): string {
  const address = /^https?:\/\//.test(endpoint) ? endpoint : `${insecure ? 'http' : 'https'}://${endpoint}`;
  // Already refused, but the reader goes on.
  if (!URL.canParse(address)) return address;
  const url = new URL(address);
  const isBase = source === '$OTEL_EXPORTER_OTLP_ENDPOINT';
  const isWhole = source === '$OTEL_EXPORTER_OTLP_TRACES_ENDPOINT';
  if (isBase || (!isWhole && url.pathname === '/')) url.pathname = url.pathname.replace(/\/*$/, TRACES_PATH);
  return url.href;
}

function readAuthority(read: OptionReader, protocol: CollectorSettings['protocol']): string | undefined {
  const ca = read.path('tls_ca');
  const zuuls = read.path('certificate_file');
  if (zuuls === undefined) return ca;
  if (protocol === 'grpc')
    read.refuse('certificate_file', 'goes with protocol http/protobuf; with grpc write tls_ca');
  else if (ca !== undefined) read.refuse('certificate_file', 'means the same as tls_ca; drop one of them');
  return ca ?? zuuls;
}

function checkTls(endpoint: string, insecure: boolean, read: OptionReader): void {
  const first = TLS_FILES.find(option => read.has(option));
  if (insecure && first !== undefined)
    read.refuse('insecure', `true means no TLS, but ${first} is set; drop one of them`);
  if (insecure && endpoint.startsWith('https://')) {
    read.refuse('insecure', 'true means no TLS, but endpoint starts with https://; drop one of them');
  }
  if (first !== undefined && endpoint.startsWith('http://')) {
    read.refuse(first, 'needs TLS, but endpoint starts with http://; write https:// there');
  }
  if (read.has('tls_cert') && !read.has('tls_key')) read.refuse('tls_cert', 'needs tls_key as well');
  if (read.has('tls_key') && !read.has('tls_cert')) read.refuse('tls_key', 'needs tls_cert as well');
}

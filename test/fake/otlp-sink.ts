/**
 * A collector for tests: a real gRPC server on loopback that keeps what it is sent and answers as it is told.
 *
 *     await using sink = await startOtlpSink();
 *     sink.answerNext({ kind: 'status', code: status.UNAVAILABLE }, { kind: 'hang' });   // then ok again
 *     ... send to sink.url ...
 *     await sink.waitForSpans(3);
 *     expect(checkTraces(sink.spans)).toEqual([]);
 */
import { gunzipSync } from 'node:zlib';
import {
  Metadata,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type sendUnaryData,
  status,
} from '@grpc/grpc-js';
import { utf8, type WireField, wireFields } from '../../src/tracing/otlp/wire.ts';

export { checkTraces } from './check-traces.ts';

export type SinkValue = string | number | boolean | readonly SinkValue[];
export interface SinkSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | null;
  readonly name: string;
  /** OTLP's: 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  readonly kind: number;
  readonly start: bigint;
  readonly end: bigint;
  readonly attributes: { readonly [name: string]: SinkValue };
  readonly events: readonly {
    readonly at: bigint;
    readonly name: string;
    readonly attributes: { readonly [name: string]: SinkValue };
  }[];
  readonly links: readonly {
    readonly traceId: string;
    readonly spanId: string;
    readonly attributes: { readonly [name: string]: SinkValue };
  }[];
  /** 0 unset, 1 ok, 2 error. */
  readonly status: { readonly code: number; readonly message: string };
  readonly flags: number;
  readonly resource: { readonly [name: string]: SinkValue };
  readonly scope: string;
}

export type SinkAnswer =
  | { readonly kind: 'ok' }
  | { readonly kind: 'partial'; readonly rejected: number; readonly message: string }
  | {
      readonly kind: 'status';
      readonly code: number;
      readonly message?: string;
      readonly retryAfterMs?: number;
    }
  /** Never answers. */
  | { readonly kind: 'hang' }
  /** Takes the spans, then fails: the answer is lost. */
  | { readonly kind: 'take-then-fail'; readonly code: number };

export interface SinkRequest {
  readonly spans: readonly SinkSpan[];
  readonly answer: SinkAnswer;
  readonly bytes: number;
  readonly headers: { readonly [name: string]: string };
}

export interface OtlpSink extends AsyncDisposable {
  readonly port: number;
  /** `http://127.0.0.1:<port>` (`https` with TLS). */
  readonly url: string;
  /** Of requests that were taken (ok, partial, take-then-fail), in order of arrival. */
  readonly spans: readonly SinkSpan[];
  /** Every request, taken or not. */
  readonly requests: readonly SinkRequest[];
  /** Answers for the next requests; afterwards the default again. */
  answerNext(...answers: readonly SinkAnswer[]): void;
  /** The answer when none is queued. Default ok. */
  answerAlways(answer: SinkAnswer): void;
  /** Resolves when so many spans were taken. @throws Error after `deadlineMs`. */
  waitForSpans(count: number, deadlineMs?: number): Promise<void>;
  /** Cuts every connection at once, like a collector that is killed. */
  stop(): void;
}

export interface SinkOptions {
  /** Default: a free one. */
  readonly port?: number;
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer; readonly clientCa?: Buffer };
  /** Largest message taken; gRPC's own default is 4 MiB. */
  readonly maxBytes?: number;
}

const METHOD = '/opentelemetry.proto.collector.trace.v1.TraceService/Export';

export async function startOtlpSink(options: SinkOptions = {}): Promise<OtlpSink> {
  const spans: SinkSpan[] = [];
  let looked = 0;
  /** Decoded when somebody looks, so that a test of sending does not time the decoding. */
  const taken = () => {
    for (; looked < requests.length; looked++) {
      const request = requests[looked];
      if (request !== undefined && request.answer.kind !== 'status' && request.answer.kind !== 'hang')
        spans.push(...request.spans);
    }
    return spans;
  };
  const requests: SinkRequest[] = [];
  const answers: SinkAnswer[] = [];
  const waiters = new Set<() => void>();
  let always: SinkAnswer = { kind: 'ok' };
  const server = new Server({ 'grpc.max_receive_message_length': options.maxBytes ?? 4 * 1024 * 1024 });

  const handle = (call: ServerUnaryCall<Buffer, Buffer>, reply: sendUnaryData<Buffer>) => {
    const answer = answers.shift() ?? always;
    const request = call.request;
    let decoded: readonly SinkSpan[] | undefined;
    const headers = Object.fromEntries(
      Object.entries(call.metadata.getMap()).map(([name, value]) => [name, String(value)]),
    );
    requests.push({
      get spans() {
        decoded ??= decodeExportRequest(request);
        return decoded;
      },
      answer,
      bytes: request.length,
      headers,
    });
    for (const wake of waiters) wake();
    respond(answer, reply);
  };
  server.addService(
    {
      Export: {
        path: METHOD,
        requestStream: false,
        responseStream: false,
        requestSerialize: same,
        requestDeserialize: same,
        responseSerialize: same,
        responseDeserialize: same,
      },
    },
    { Export: handle },
  );
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  server.bindAsync(`127.0.0.1:${options.port ?? 0}`, serverCredentials(options), (error, bound) =>
    error === null ? resolve(bound) : reject(error),
  );
  const port = await promise;

  return {
    port,
    url: `${options.tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    get spans() {
      return taken();
    },
    requests,
    answerNext: (...next) => void answers.push(...next),
    answerAlways: answer => {
      always = answer;
    },
    waitForSpans: (count, deadlineMs = 10_000) =>
      new Promise((done, fail) => {
        const timer = setTimeout(() => {
          waiters.delete(look);
          fail(new Error(`${taken().length} of ${count} spans arrived within ${deadlineMs} ms`));
        }, deadlineMs);
        const look = () => {
          if (taken().length < count) return;
          clearTimeout(timer);
          waiters.delete(look);
          done();
        };
        waiters.add(look);
        look();
      }),
    stop: () => server.forceShutdown(),
    [Symbol.asyncDispose]: async () => server.forceShutdown(),
  };
}

function same(bytes: Buffer): Buffer {
  return bytes;
}

function serverCredentials({ tls }: SinkOptions): ServerCredentials {
  if (tls === undefined) return ServerCredentials.createInsecure();
  const pair = [{ cert_chain: tls.cert, private_key: tls.key }];
  return ServerCredentials.createSsl(tls.clientCa ?? null, pair, tls.clientCa !== undefined);
}

function respond(answer: SinkAnswer, reply: sendUnaryData<Buffer>): void {
  switch (answer.kind) {
    case 'ok':
      reply(null, Buffer.alloc(0));
      return;
    case 'partial': {
      const text = Buffer.from(answer.message);
      const partial = Buffer.concat([Buffer.from([0x08, answer.rejected, 0x12, text.length]), text]);
      reply(null, Buffer.concat([Buffer.from([0x0a, partial.length]), partial]));
      return;
    }
    case 'take-then-fail':
      reply({ code: answer.code, details: 'answer lost' });
      return;
    case 'status': {
      const metadata = new Metadata();
      if (answer.retryAfterMs !== undefined)
        metadata.set('grpc-status-details-bin', retryInfo(answer.code, answer.retryAfterMs));
      reply({ code: answer.code, details: answer.message ?? status[answer.code] ?? 'failed', metadata });
      return;
    }
    case 'hang':
      return;
  }
}

/** google.rpc.Status with one RetryInfo. */
export function retryInfo(code: number, ms: number): Buffer {
  const field = (tag: number, bytes: Buffer) => Buffer.concat([Buffer.from([tag, bytes.length]), bytes]);
  const duration = Buffer.concat([
    Buffer.from([0x08]),
    varint(Math.floor(ms / 1000)),
    Buffer.from([0x10]),
    varint(Math.round((ms % 1000) * 1e6)),
  ]);
  const any = Buffer.concat([
    field(0x0a, Buffer.from('type.googleapis.com/google.rpc.RetryInfo')),
    field(0x12, field(0x0a, duration)),
  ]);
  return Buffer.concat([Buffer.from([0x08, code]), field(0x1a, any)]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80);
  return Buffer.from([...bytes, rest]);
}

/** `ExportTraceServiceRequest`, gzipped or plain. */
export function decodeExportRequest(data: Uint8Array): readonly SinkSpan[] {
  const bytes = data[0] === 0x1f && data[1] === 0x8b ? gunzipSync(data) : data;
  return children(message(bytes), 1)
    .map(message)
    .flatMap(resourceSpans => {
      const resource = attributesIn(message(children(resourceSpans, 1)[0]), 1);
      return children(resourceSpans, 2)
        .map(message)
        .flatMap(scopeSpans => {
          const scope = text(message(children(scopeSpans, 1)[0]), 1);
          return children(scopeSpans, 2).map(span => decodeSpan(span, resource, scope));
        });
    });
}

function decodeSpan(bytes: Uint8Array, resource: SinkSpan['resource'], scope: string): SinkSpan {
  const span = message(bytes);
  const parent = hex(children(span, 4)[0]);
  const state = message(children(span, 15)[0]);
  return {
    traceId: hex(children(span, 1)[0]),
    spanId: hex(children(span, 2)[0]),
    parentSpanId: parent === '' ? null : parent,
    name: text(span, 5),
    kind: Number(number(span, 6)),
    start: number(span, 7),
    end: number(span, 8),
    attributes: attributesIn(span, 9),
    events: children(span, 11)
      .map(message)
      .map(event => ({
        at: number(event, 1),
        name: text(event, 2),
        attributes: attributesIn(event, 3),
      })),
    links: children(span, 13)
      .map(message)
      .map(link => ({
        traceId: hex(children(link, 1)[0]),
        spanId: hex(children(link, 2)[0]),
        attributes: attributesIn(link, 4),
      })),
    status: { code: Number(number(state, 3)), message: text(state, 2) },
    flags: Number(number(span, 16)),
    resource,
    scope,
  };
}

type Message = ReadonlyMap<number, readonly WireField[]>;

function message(bytes: Uint8Array | undefined): Message {
  const fields = new Map<number, WireField[]>();
  for (const field of wireFields(bytes ?? new Uint8Array())) {
    const same = fields.get(field.number);
    if (same === undefined) fields.set(field.number, [field]);
    else same.push(field);
  }
  return fields;
}

function children(parent: Message, wanted: number): readonly Uint8Array[] {
  return (parent.get(wanted) ?? []).flatMap(field => (field.bytes === undefined ? [] : [field.bytes]));
}

function number(parent: Message, wanted: number): bigint {
  return parent.get(wanted)?.[0]?.value ?? 0n;
}

function text(parent: Message, wanted: number): string {
  const bytes = children(parent, wanted)[0];
  return bytes === undefined ? '' : utf8(bytes);
}

function hex(bytes: Uint8Array | undefined): string {
  return bytes === undefined ? '' : Buffer.from(bytes).toString('hex');
}

function attributesIn(parent: Message, wanted: number): { readonly [name: string]: SinkValue } {
  return Object.fromEntries(
    children(parent, wanted)
      .map(message)
      .map(pair => [text(pair, 1), anyValue(children(pair, 2)[0])]),
  );
}

/** AnyValue; one of a kind nobody should send throws, so that a null or an object on the wire fails the test. */
function anyValue(any: Uint8Array | undefined): SinkValue {
  const field = any === undefined ? undefined : [...wireFields(any)][0];
  switch (field?.number) {
    case 1:
      return field.bytes === undefined ? '' : utf8(field.bytes);
    case 2:
      return field.value === 1n;
    case 3:
      return Number(BigInt.asIntN(64, field.value));
    case 4:
      return new Float64Array(BigUint64Array.of(field.value).buffer)[0] ?? Number.NaN;
    case 5:
      return field.bytes === undefined ? [] : children(message(field.bytes), 1).map(anyValue);
    default:
      throw new Error(`an attribute has no plain value (AnyValue field ${field?.number ?? 'missing'})`);
  }
}

/**
 * Reads what a client posts to one of our OTLP endpoints (`…/v1/traces`). The client is not trusted: it may be a job.
 *
 *     const read = await readTraceRequest({ body, contentType: 'application/x-protobuf', contentEncoding: undefined });
 *     if (read.kind === 'refused') answer(read.status, refusalAnswer(read.encoding, read.reason))
 *     else answer(200, traceAnswer(read.encoding, read))      // rejected spans are reported as partial success
 *
 * Spans come out as records with the resource and scope of their maker. The caller decides which to accept (whose
 * trace, whose name, how many).
 */
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { type CheckedSpan, checkedSpan, type WeighedSpan } from './checked-span.ts';
import { jsonSpans } from './json-spans.ts';
import { protobufSpans } from './protobuf-spans.ts';
import type { SpanInRequest } from './received-span.ts';
import { REQUEST_LIMITS, type RequestLimits } from './request-limits.ts';
import type { OtlpEncoding } from './trace-answer.ts';

/** Raw, as the HTTP server has it: headers undefined when they were not sent. */
export interface TraceRequest {
  /** Possibly compressed; more than {@link RequestLimits.bodyBytes} is refused. */
  readonly body: Uint8Array;
  readonly contentType: string | undefined;
  readonly contentEncoding: string | undefined;
}

/** `refused`: nothing of the request counts, and it is answered with `status`. `encoding` is that of the answer, too. */
export type ReadSpans = {
  /** Bytes read, after decompression; 0 when the body was refused unread. */
  readonly unpacked: number;
} & (
  | {
      readonly kind: 'spans';
      readonly encoding: OtlpEncoding;
      readonly spans: readonly WeighedSpan[];
      /** Number of unusable spans; `reason` is that of the first. */
      readonly rejected: number;
      readonly reason: string | undefined;
    }
  | {
      readonly kind: 'refused';
      readonly encoding: OtlpEncoding;
      readonly status: 400 | 413 | 415;
      readonly reason: string;
    }
);

const unpack = promisify(gunzip);

/** Never rejects for what a client sends: malformed, too large and of an unknown type are refusals. */
export async function readTraceRequest(
  request: TraceRequest,
  limits: RequestLimits = REQUEST_LIMITS,
): Promise<ReadSpans> {
  const type = (request.contentType ?? '').split(';')[0]?.trim().toLowerCase();
  const encoding = type === 'application/json' ? 'json' : 'protobuf';
  const refuse = (status: 400 | 413 | 415, reason: string, unpacked = 0): ReadSpans => ({
    kind: 'refused',
    ...{ encoding, status, reason, unpacked },
  });
  if (encoding === 'protobuf' && type !== 'application/x-protobuf')
    return refuse(415, 'send application/x-protobuf or application/json');
  const body = await unpacked(request, limits);
  switch (body.kind) {
    case 'unknown':
      return refuse(415, 'send it plain or with content-encoding gzip');
    case 'too-large':
      return refuse(413, `more than ${limits.bodyBytes} bytes`, limits.bodyBytes);
    case 'broken':
      return refuse(400, 'the body is not gzip', request.body.byteLength);
    case 'plain':
      break;
  }
  try {
    return decoded(encoding, body.bytes, limits);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return refuse(400, error.message, body.bytes.byteLength);
  }
}

type Unpacked =
  | { readonly kind: 'plain'; readonly bytes: Uint8Array }
  | { readonly kind: 'unknown' | 'too-large' | 'broken' };

async function unpacked(
  { body, contentEncoding }: TraceRequest,
  { bodyBytes }: RequestLimits,
): Promise<Unpacked> {
  const how = (contentEncoding ?? '').trim().toLowerCase();
  if (body.byteLength > bodyBytes) return { kind: 'too-large' };
  if (how === '' || how === 'identity') return { kind: 'plain', bytes: body };
  if (how !== 'gzip') return { kind: 'unknown' };
  try {
    return { kind: 'plain', bytes: await unpack(body, { maxOutputLength: bodyBytes }) };
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    return { kind: error.code === 'ERR_BUFFER_TOO_LARGE' ? 'too-large' : 'broken' };
  }
}

/** @throws RangeError when the body is malformed, or has more elements than the limit. */
function decoded(encoding: OtlpEncoding, body: Uint8Array, limits: RequestLimits): ReadSpans {
  const spans: WeighedSpan[] = [];
  const admit = admission(limits);
  let rejected = 0;
  let reason: string | undefined;
  for (const received of encoding === 'json' ? jsonSpans(body, limits) : protobufSpans(body, limits)) {
    const checked = admit(received);
    if (checked.kind === 'good') spans.push({ span: checked.span, bytes: checked.bytes });
    else {
      rejected += 1;
      reason ??= checked.reason;
    }
  }
  return { kind: 'spans', encoding, spans, rejected, reason, unpacked: body.byteLength };
}

/** Accepts spans one by one up to the limits of a request; those beyond are not read. */
function admission(limits: RequestLimits): (received: SpanInRequest) => CheckedSpan {
  let seen = 0;
  let bytes = 0;
  return received => {
    seen += 1;
    if (seen > limits.spans)
      return { kind: 'rejected', reason: `more than ${limits.spans} spans in one request` };
    if (bytes + received.resource.bytes > limits.storedBytes) return tooMuch(limits);
    const checked = checkedSpan(received, limits);
    if (checked.kind === 'rejected') return checked;
    if (bytes + checked.bytes > limits.storedBytes) return tooMuch(limits);
    bytes += checked.bytes;
    return checked;
  };
}

function tooMuch({ storedBytes }: RequestLimits): CheckedSpan {
  return {
    kind: 'rejected',
    reason: `spans of more than ${storedBytes} bytes in one request, counting their resource with each`,
  };
}

/** Responses of an OTLP endpoint, in the encoding of the request. */

/** Of a request, by its content type; the answer has the same. */
export type OtlpEncoding = 'protobuf' | 'json';

/** What the HTTP server sends, apart from the status. */
export interface TraceAnswer {
  readonly contentType: 'application/x-protobuf' | 'application/json';
  readonly body: Uint8Array;
}

/** The outcome of an accepted request. `reason` is that of the first rejected span; undefined: there is none. */
export interface Rejection {
  /** Number of spans not accepted. */
  readonly rejected: number;
  readonly reason: string | undefined;
}

/** `ExportTraceServiceResponse`: rejected spans are reported as partial success. */
export function traceAnswer(encoding: OtlpEncoding, { rejected, reason }: Rejection): TraceAnswer {
  const errorMessage = reason ?? '';
  if (encoding === 'json') {
    // OTLP/JSON writes 64-bit integers as text.
    return json(rejected === 0 ? {} : { partialSuccess: { rejectedSpans: String(rejected), errorMessage } });
  }
  if (rejected === 0) return protobuf(new Uint8Array());
  const count = Buffer.concat([Buffer.from([0x08]), varint(rejected)]);
  return protobuf(bytesField(1, Buffer.concat([count, textField(2, errorMessage)])));
}

/** `google.rpc.Status`, the body of every answer that is not 200. */
export function refusalAnswer(encoding: OtlpEncoding, reason: string): TraceAnswer {
  return encoding === 'json' ? json({ message: reason }) : protobuf(textField(2, reason));
}

function json(value: object): TraceAnswer {
  return { contentType: 'application/json', body: Buffer.from(JSON.stringify(value)) };
}

function protobuf(body: Uint8Array): TraceAnswer {
  return { contentType: 'application/x-protobuf', body };
}

function textField(number: number, text: string): Uint8Array {
  return bytesField(number, Buffer.from(text));
}

function bytesField(number: number, bytes: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from([(number << 3) | 2]), varint(bytes.length), bytes]);
}

/** @param value below 2^31: a count, a length. */
function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  return Uint8Array.from([...bytes, rest]);
}

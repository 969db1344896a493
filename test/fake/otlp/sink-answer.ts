/** What a test can let a sink answer, and the bytes of it that both protocols share. */
export type SinkAnswer =
  | { readonly kind: 'ok' }
  | { readonly kind: 'partial'; readonly rejected: number; readonly message: string }
  | {
      readonly kind: 'status';
      /** gRPC's, or the HTTP status. */
      readonly code: number;
      readonly message?: string;
      /** As RetryInfo, or as Retry-After in whole seconds. */
      readonly retryAfterMs?: number;
      /** More headers, HTTP only: `retry-after` as a date, `location`, ... */
      readonly headers?: { readonly [name: string]: string };
    }
  /** Never answers. */
  | { readonly kind: 'hang' }
  /** Takes the spans, then fails: the answer is lost. Code as with `status`. */
  | { readonly kind: 'take-then-fail'; readonly code: number }
  /** The connection is reset instead of an answer; `taken`: the spans have arrived all the same. */
  | { readonly kind: 'reset'; readonly taken?: boolean }
  /** Answers when the promise resolves. The spans count as taken before that. */
  | { readonly kind: 'slow'; readonly until: Promise<unknown>; readonly answer: SinkAnswer }
  /** Any body with a success; `unfinished` (HTTP only): more is announced and the connection ends. What no collector should say. */
  | { readonly kind: 'body'; readonly body: Uint8Array; readonly unfinished?: boolean };

export function takesSpans(answer: SinkAnswer): boolean {
  switch (answer.kind) {
    case 'ok':
    case 'partial':
    case 'take-then-fail':
    case 'body':
      return true;
    case 'status':
    case 'hang':
      return false;
    case 'reset':
      return answer.taken === true;
    case 'slow':
      return takesSpans(answer.answer);
  }
}

/** `ExportTraceServiceResponse` with a partial success. */
export function partialResponse(rejected: number, text: string): Buffer {
  return bytesField(1, Buffer.concat([Buffer.of(0x08), varint(rejected), bytesField(2, Buffer.from(text))]));
}

/** `google.rpc.Status` with one RetryInfo. */
export function retryInfo(code: number, ms: number): Buffer {
  const duration = Buffer.concat([
    Buffer.of(0x08),
    varint(Math.floor(ms / 1000)),
    Buffer.of(0x10),
    varint(Math.round((ms % 1000) * 1e6)),
  ]);
  const any = Buffer.concat([
    bytesField(1, Buffer.from('type.googleapis.com/google.rpc.RetryInfo')),
    bytesField(2, bytesField(1, duration)),
  ]);
  return Buffer.concat([Buffer.of(0x08, code), bytesField(3, any)]);
}

/** `google.rpc.Status` with a text, as collectors put it into the body of an HTTP error. */
export function statusBody(text: string): Buffer {
  return bytesField(2, Buffer.from(text));
}

function bytesField(number: number, bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.of(number * 8 + 2), varint(bytes.length), bytes]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80);
  return Buffer.from([...bytes, rest]);
}

/**
 * A collector for tests: a real server on loopback that keeps what it is sent and answers as the test sets it.
 *
 *     await using sink = await startOtlpSink();                    // gRPC
 *     await using sink = await startOtlpSink({ protocol: 'http' }) // http/protobuf and http/json
 *     sink.answerNext({ kind: 'status', code: status.UNAVAILABLE }, { kind: 'hang' });   // then ok again
 *     ... send to sink.url ...
 *     await sink.waitForSpans(3);
 *     expect(checkTraces(sink.spans)).toEqual([]);
 */
import { openGrpcDoor } from './otlp/grpc-door.ts';
import { openHttpDoor } from './otlp/http-door.ts';
import { type SinkAnswer, takesSpans } from './otlp/sink-answer.ts';
import type { DoorOptions, Receive } from './otlp/sink-door.ts';
import type { SinkSpan } from './otlp/sink-span.ts';

export { checkTraces } from './check-traces.ts';
export { decodeJsonRequest } from './otlp/decode-json.ts';
export { retryInfo, type SinkAnswer } from './otlp/sink-answer.ts';
export type { SinkSpan, SinkValue } from './otlp/sink-span.ts';

export interface SinkRequest {
  readonly spans: readonly SinkSpan[];
  readonly answer: SinkAnswer;
  readonly method: string;
  readonly path: string;
  /** Names in lower case. */
  readonly headers: { readonly [name: string]: string };
  /** Without its compression. */
  readonly body: Buffer;
  /** Of the body. */
  readonly bytes: number;
}

export interface OtlpSink extends AsyncDisposable {
  readonly port: number;
  /** `http://127.0.0.1:<port>` (`https` with TLS). */
  readonly url: string;
  /** Of requests that were taken (ok, partial, take-then-fail, ...), in order of arrival. */
  readonly spans: readonly SinkSpan[];
  /** Every request, taken or not. */
  readonly requests: readonly SinkRequest[];
  /** How many connections were made, also such that never sent anything. */
  readonly connections: number;
  /** What came over them, compressed as it was. */
  readonly bytesRead: number;
  /** Answers for the next requests; afterwards the default again. */
  answerNext(...answers: readonly SinkAnswer[]): void;
  /** The answer when none is queued. Default ok. */
  answerAlways(answer: SinkAnswer): void;
  /** Resolves when so many spans were taken. @throws Error after `deadlineMs`. */
  waitForSpans(count: number, deadlineMs?: number): Promise<void>;
  /** Resolves when so many requests came, taken or not. @throws Error after `deadlineMs`. */
  waitForRequests(count: number, deadlineMs?: number): Promise<void>;
  /** Cuts every connection at once, like a collector that is killed. */
  stop(): void;
}

export interface SinkOptions extends Partial<Omit<DoorOptions, 'receive'>> {
  /** Default gRPC. */
  readonly protocol?: 'grpc' | 'http';
}

/** gRPC servers' own default. */
const MAX_BYTES = 4 * 1024 * 1024;

export async function startOtlpSink(options: SinkOptions = {}): Promise<OtlpSink> {
  const { protocol = 'grpc', tls, ...rest } = options;
  const requests: SinkRequest[] = [];
  const answers: SinkAnswer[] = [];
  const waiters = new Set<() => void>();
  let always: SinkAnswer = { kind: 'ok' };

  const spans: SinkSpan[] = [];
  let looked = 0;
  /** Decoded when read, so that a test of sending does not time the decoding. */
  const taken = () => {
    for (; looked < requests.length; looked++) {
      const request = requests[looked];
      if (request !== undefined && takesSpans(request.answer)) spans.push(...request.spans);
    }
    return spans;
  };

  const receive: Receive = ({ decode, ...request }, refusal) => {
    const answer = refusal ?? answers.shift() ?? always;
    let decoded: readonly SinkSpan[] | undefined;
    requests.push({
      ...request,
      answer,
      bytes: request.body.length,
      get spans() {
        decoded ??= decode(request.body);
        return decoded;
      },
    });
    for (const wake of waiters) wake();
    return answer;
  };

  const open = protocol === 'grpc' ? openGrpcDoor : openHttpDoor;
  const door = await open({ maxBytes: MAX_BYTES, ...rest, ...(tls === undefined ? {} : { tls }), receive });

  const waitFor = (what: string, count: number, counted: () => number, deadlineMs: number) =>
    new Promise<void>((done, fail) => {
      const timer = setTimeout(() => {
        waiters.delete(look);
        fail(new Error(`${counted()} of ${count} ${what} arrived within ${deadlineMs} ms`));
      }, deadlineMs);
      const look = () => {
        if (counted() < count) return;
        clearTimeout(timer);
        waiters.delete(look);
        done();
      };
      waiters.add(look);
      look();
    });

  return {
    port: door.port,
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${door.port}`,
    get spans() {
      return taken();
    },
    requests,
    get connections() {
      return door.connections();
    },
    get bytesRead() {
      return door.bytesRead();
    },
    answerNext: (...next) => void answers.push(...next),
    answerAlways: answer => {
      always = answer;
    },
    waitForSpans: (count, deadlineMs = 60_000) => waitFor('spans', count, () => taken().length, deadlineMs),
    waitForRequests: (count, deadlineMs = 60_000) =>
      waitFor('requests', count, () => requests.length, deadlineMs),
    stop: () => door.stop(),
    [Symbol.asyncDispose]: async () => door.stop(),
  };
}

/** The real sender and the real wire, to a sink, with time that passes only when the test lets it. */
import { type Clock, fromMilliseconds } from '../../../src/lib/clock.ts';
import type { Log } from '../../../src/lib/log.ts';
import { otlpExporter } from '../../../src/tracing/otlp/exporter.ts';
import { type SpanSender, spanSender } from '../../../src/tracing/otlp/sender.ts';
import { INSTALLATION } from '../installation.ts';
import { type OtlpSink, startOtlpSink } from '../otlp-sink.ts';

export interface VirtualSender extends AsyncDisposable {
  readonly sink: OtlpSink;
  readonly sender: SpanSender;
  /** Warnings and errors it logged. */
  readonly logged: readonly string[];
  /** Lets time pass. */
  pass(ms: number): void;
}

export interface VirtualSenderOptions {
  readonly protocol: 'grpc' | 'http/protobuf';
  /** For one request; this is real time. */
  readonly timeoutMs?: number;
  /** Of the sink. */
  readonly maxBytes?: number;
}

/** Jitter is the longest there can be. */
export async function virtualSender(options: VirtualSenderOptions): Promise<VirtualSender> {
  const { protocol, timeoutMs = 10_000, maxBytes } = options;
  const sink = await startOtlpSink({
    protocol: protocol === 'grpc' ? 'grpc' : 'http',
    ...(maxBytes === undefined ? {} : { maxBytes }),
  });
  let now = 0;
  const clock: Clock = { now: () => fromMilliseconds(1_795_000_000_000 + now), monotonic: () => now };
  const logged: string[] = [];
  const note = (_facts: object, text: string) => void logged.push(text);
  const log: Log = { debug() {}, info() {}, warn: note, error: note, child: () => log };
  const exporter = otlpExporter({
    protocol,
    endpoint: protocol === 'grpc' ? sink.url : `${sink.url}/v1/traces`,
    insecure: true,
    timeoutMs,
    compression: 'none',
    installation: INSTALLATION,
  });
  const sender = spanSender({ exporter, clock, log, random: () => 1 - Number.EPSILON });
  return {
    sink,
    sender,
    logged,
    pass: ms => {
      now += ms;
    },
    async [Symbol.asyncDispose]() {
      await sender.close(1000);
      await sink[Symbol.asyncDispose]();
    },
  };
}

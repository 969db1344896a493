/**
 * Check 16: what is sent again, when, and what never is. The real sender and both real wires talk to the sink; the store's drain,
 * which hands the same rows to the sender again when asked to, is played by `Attempts`, and the clock is virtual: time passes
 * when the test says so.
 */
import { status } from '@grpc/grpc-js';
import { describe, expect, test } from 'vitest';
import { spansCodec } from '../../src/model/codec/records.ts';
import { itemSpans } from '../../src/tracing/spans/item-spans.ts';
import { resetAndMergedStory } from '../fake/item-stories.ts';
import { type VirtualSender, type VirtualSenderOptions, virtualSender } from '../fake/otlp/virtual-sender.ts';
import type { SinkAnswer } from '../fake/otlp-sink.ts';

const spans = itemSpans(resetAndMergedStory().item);
const rows = [spansCodec.encode(spans.slice(0, 8)), spansCodec.encode(spans.slice(8, 16))];
const SENT = 16;
/** Of the first retry. */
const MOST_JITTER = 500;

type Protocol = VirtualSenderOptions['protocol'];

async function wanted(rig: VirtualSender): Promise<number | 'delivered' | { readonly lost: string }> {
  const outcome = await rig.sender.deliver(rows);
  return typeof outcome === 'object' && 'retryAfterMs' in outcome ? outcome.retryAfterMs : outcome;
}

/** [name, protocol, answer, least wait, longest wait] */
const AGAIN: readonly (readonly [string, Protocol, SinkAnswer, number, number])[] = [
  ...[429, 502, 503, 504].map(code => {
    return [`HTTP ${code}`, 'http/protobuf', { kind: 'status', code }, 1, MOST_JITTER] as const;
  }),
  ...[429, 503].map(code => {
    const answer = { kind: 'status', code, retryAfterMs: 3000 } as const;
    return [`HTTP ${code} with Retry-After 3`, 'http/protobuf', answer, 3000, 3000 + MOST_JITTER] as const;
  }),
  ...(['UNAVAILABLE', 'DEADLINE_EXCEEDED', 'ABORTED', 'OUT_OF_RANGE', 'CANCELLED', 'DATA_LOSS'] as const).map(
    name => [`gRPC ${name}`, 'grpc', { kind: 'status', code: status[name] }, 1, MOST_JITTER] as const,
  ),
  ...(['UNAVAILABLE', 'RESOURCE_EXHAUSTED'] as const).map(name => {
    const answer = { kind: 'status', code: status[name], retryAfterMs: 3000 } as const;
    return [`gRPC ${name} with RetryInfo 3 s`, 'grpc', answer, 3000, 3000 + MOST_JITTER] as const;
  }),
  ['a gRPC connection that is reset', 'grpc', { kind: 'reset' }, 1, MOST_JITTER],
  ['an HTTP connection that is reset', 'http/protobuf', { kind: 'reset' }, 1, MOST_JITTER],
  ['a gRPC answer that never comes', 'grpc', { kind: 'hang' }, 1, MOST_JITTER],
  ['an HTTP answer that never comes', 'http/protobuf', { kind: 'hang' }, 1, MOST_JITTER],
];

describe('check 16: a passing fault is tried again, the same bytes, neither too early nor too late', () => {
  test.each(AGAIN)('%s', async (_, protocol, answer, least, longest) => {
    await using rig = await virtualSender({
      protocol,
      ...(answer.kind === 'hang' ? { timeoutMs: 1000 } : {}),
    });
    rig.sink.answerNext(answer);
    const wait = Number(await wanted(rig));
    expect(wait).toBeGreaterThanOrEqual(least);
    expect(wait).toBeLessThanOrEqual(longest);
    rig.pass(wait - 0.5);
    await wanted(rig);
    expect(rig.sink.requests.length, 'before its time nothing is sent').toBe(1);
    rig.pass(0.5);
    expect(await wanted(rig)).toBe('delivered');
    const [first, second] = rig.sink.requests;
    expect(rig.sink.requests.length).toBe(2);
    expect(second?.body.equals(first?.body ?? Buffer.of())).toBe(true);
    expect(rig.sink.spans.length).toBe(SENT);
    expect(rig.sender.health()).toMatchObject({
      state: 'ok',
      sent: SENT,
      requests: 2,
      failedRequests: 1,
      lost: {},
    });
  });

  test('a Retry-After that names a date is understood', async () => {
    await using rig = await virtualSender({ protocol: 'http/protobuf' });
    // Dates are the world's; rounded to seconds and on their way they lose less than two.
    const date = new Date(Date.now() + 60_000).toUTCString();
    rig.sink.answerNext({ kind: 'status', code: 503, headers: { 'retry-after': date } });
    const wait = Number(await wanted(rig));
    expect(wait).toBeGreaterThan(55_000);
    expect(wait).toBeLessThanOrEqual(60_000);
  });

  test.each<Protocol>(['grpc', 'http/protobuf'])(
    'waits double with each failure, within bounds, over %s',
    async protocol => {
      await using rig = await virtualSender({ protocol });
      rig.sink.answerAlways({ kind: 'status', code: protocol === 'grpc' ? status.UNAVAILABLE : 503 });
      const waits: number[] = [];
      for (let attempt = 0; attempt < 9; attempt++) {
        const wait = Number(await wanted(rig));
        waits.push(Math.round(wait));
        rig.pass(wait);
      }
      expect(waits).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
    },
  );
});

const LOST: readonly (readonly [string, Protocol, SinkAnswer, string])[] = [
  ...[400, 404, 408, 500, 501].map(code => {
    return [`HTTP ${code}`, 'http/protobuf', { kind: 'status', code }, 'refused'] as const;
  }),
  ['HTTP 401', 'http/protobuf', { kind: 'status', code: 401 }, 'unauthenticated'],
  ['a redirect', 'http/protobuf', { kind: 'status', code: 308, headers: { location: '/x' } }, 'refused'],
  ...(['INVALID_ARGUMENT', 'UNIMPLEMENTED', 'INTERNAL', 'UNKNOWN'] as const).map(
    name => [`gRPC ${name}`, 'grpc', { kind: 'status', code: status[name] }, 'refused'] as const,
  ),
  [
    'gRPC RESOURCE_EXHAUSTED without RetryInfo',
    'grpc',
    { kind: 'status', code: status.RESOURCE_EXHAUSTED },
    'exhausted',
  ],
  ['gRPC UNAUTHENTICATED', 'grpc', { kind: 'status', code: status.UNAUTHENTICATED }, 'unauthenticated'],
];

describe('check 16: refused spans are not sent again, but counted and logged once', () => {
  test.each(LOST)('%s', async (_, protocol, answer, reason) => {
    await using rig = await virtualSender({ protocol });
    rig.sink.answerNext(answer, answer);
    expect(await wanted(rig)).toEqual({ lost: reason });
    expect(await wanted(rig)).toEqual({ lost: reason });
    expect(rig.sink.requests.length).toBe(2);
    expect(rig.sender.health()).toMatchObject({ lost: { [reason]: 2 * SENT }, failedRequests: 0 });
    expect(rig.logged.length).toBe(1);
    expect(await wanted(rig), 'and the next ones go out').toBe('delivered');
  });
});

describe.each<Protocol>(['grpc', 'http/protobuf'])('check 16: over %s', protocol => {
  test('a partial success is a success: nothing again, the rejected ones counted, one line in the log', async () => {
    await using rig = await virtualSender({ protocol });
    const partial = { kind: 'partial', rejected: 5, message: 'attribute too long' } as const;
    rig.sink.answerNext(partial, partial);
    expect(await wanted(rig)).toBe('delivered');
    expect(await wanted(rig)).toBe('delivered');
    expect(rig.sink.requests.length).toBe(2);
    expect(rig.sender.health()).toMatchObject({
      sent: 2 * (SENT - 5),
      lost: { rejected: 10 },
      partialSuccesses: 2,
      failedRequests: 0,
    });
    expect(rig.logged.length).toBe(1);
  });

  test('what is too large goes out in halves, never the same body again', async () => {
    await using rig = await virtualSender({ protocol, maxBytes: 4096 });
    expect(await wanted(rig)).toBe('delivered');
    const bodies = rig.sink.requests.map(request => request.body.toString('base64'));
    expect(new Set(bodies).size).toBe(bodies.length);
    expect(rig.sink.spans.map(span => span.spanId).toSorted()).toEqual(
      spans
        .slice(0, SENT)
        .map(span => span.spanId)
        .toSorted(),
    );
    expect(rig.sender.health()).toMatchObject({ sent: SENT, lost: {} });
  });

  test('a lost answer brings the same spans twice, byte for byte', async () => {
    await using rig = await virtualSender({ protocol });
    rig.sink.answerNext({ kind: 'reset', taken: true });
    rig.pass(Number(await wanted(rig)));
    expect(await wanted(rig)).toBe('delivered');
    expect(rig.sink.spans.length).toBe(2 * SENT);
    const [first, second] = rig.sink.requests;
    expect(second?.body.equals(first?.body ?? Buffer.of())).toBe(true);
  });
});

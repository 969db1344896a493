/** The collector of the tests must not be kinder than a real one: both encodings of the published packages read the same. */
import { JsonTraceSerializer, ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import { describe, expect, it } from 'vitest';
import { readableSpans } from '../../../src/tracing/otlp/readable-spans.ts';
import { itemSpans } from '../../../src/tracing/spans/item-spans.ts';
import { INSTALLATION } from '../../fake/installation.ts';
import { resetAndMergedStory } from '../../fake/item-stories.ts';
import { startOtlpSink } from '../../fake/otlp-sink.ts';

const [first, ...rest] = itemSpans(resetAndMergedStory().item);
const odd = {
  ...first!,
  attributes: { list: [1, 2.5], flags: [true], texts: ['a', 'ü'], minus: -1, b: true },
};
const spans = readableSpans([odd, ...rest], INSTALLATION);

function post(url: string, type: string, body: Uint8Array): Promise<Response> {
  return fetch(`${url}/v1/traces`, {
    method: 'POST',
    headers: { 'content-type': type },
    body: Buffer.from(body),
  });
}

describe('the sink over HTTP', () => {
  it('reads JSON and protobuf alike', async () => {
    await using sink = await startOtlpSink({ protocol: 'http' });
    await post(sink.url, 'application/json', JsonTraceSerializer.serializeRequest(spans)!);
    await post(sink.url, 'application/x-protobuf', ProtobufTraceSerializer.serializeRequest(spans)!);
    const [json, protobuf] = sink.requests.map(request => request.spans);
    expect(json).toEqual(protobuf);
    expect(json?.length).toBe(spans.length);
    expect(json?.[0]?.attributes).toEqual(odd.attributes);
  });

  it('answers in the language it is asked in', async () => {
    await using sink = await startOtlpSink({ protocol: 'http' });
    const partial = { kind: 'partial', rejected: 2, message: 'too old' } as const;
    sink.answerNext(partial, { kind: 'status', code: 429, retryAfterMs: 1500 });
    const json = await post(sink.url, 'application/json', Buffer.from('{}'));
    expect(await json.json()).toEqual({ partialSuccess: { rejectedSpans: '2', errorMessage: 'too old' } });
    const refused = await post(sink.url, 'application/x-protobuf', Buffer.of());
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '2']);
    expect(sink.spans).toEqual([]);
  });
});

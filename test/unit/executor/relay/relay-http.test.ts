import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { startRelay } from '../../../../src/executor/relay/relay.ts';
import { systemClock } from '../../../../src/lib/clock.ts';
import { REQUEST_LIMITS } from '../../../../src/tracing/otlp-in/request-limits.ts';
import { buildRequest } from '../fixture.ts';

const relay = await startRelay({ spans: 10, bytes: 100_000 }, systemClock());
afterAll(() => relay[Symbol.asyncDispose]());

function address(build: ReturnType<typeof relay.open>): string {
  return `${build?.environment(false).OTEL_EXPORTER_OTLP_ENDPOINT}/v1/traces`;
}

function post(
  url: string,
  body: string | Buffer<ArrayBuffer>,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(url, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } });
}

describe('the relay', () => {
  const build = relay.open(buildRequest('1'.repeat(40), {}))!;

  test('answers 200 with an empty answer, in the encoding it was asked in', async () => {
    const json = await post(address(build), '{}');
    expect([json.status, await json.text()]).toEqual([200, '{}']);
    const binary = await post(address(build), Buffer.alloc(0), { 'content-type': 'application/x-protobuf' });
    expect([binary.status, binary.headers.get('content-type')]).toEqual([200, 'application/x-protobuf']);
    expect((await post(address(build), gzipSync('{}'), { 'content-encoding': 'gzip' })).status).toBe(200);
  });

  test('refuses what it cannot read, and says why', async () => {
    expect((await post(address(build), 'not JSON')).status).toBe(400);
    expect((await post(address(build), '{}', { 'content-type': 'text/plain' })).status).toBe(415);
    const large = await post(address(build), Buffer.alloc(REQUEST_LIMITS.bodyBytes + 1));
    expect(large.status).toBe(413);
    expect(await large.json()).toEqual({ message: expect.stringContaining('bytes') });
  });

  test('knows nothing but the spans of builds that run', async () => {
    const base = address(build).replace('/v1/traces', '');
    expect((await post(`${base}/v1/metrics`, '{}')).status).toBe(404);
    expect((await fetch(address(build))).status).toBe(405);
    for (const token of ['', '0'.repeat(32), 'v1'])
      expect((await post(`${new URL(base).origin}/${token}/v1/traces`, '{}')).status).toBe(401);
    const ended = relay.open(buildRequest('1'.repeat(40), {}))!;
    expect(address(ended)).not.toBe(address(build));
    ended.close();
    expect((await post(address(ended), '{}')).status).toBe(401);
  });

  test('notes a sandbox that did not listen', () => {
    const unheard = relay.open(buildRequest('1'.repeat(40), {}))!;
    for (const inside of [true, false, true]) unheard.hangUp(inside);
    expect(unheard.counts().unheard).toBe(2);
    unheard.close();
  });

  test('has no address for a build of whose trace nothing is kept', () => {
    const { trace } = buildRequest('1'.repeat(40), {});
    expect(relay.open(buildRequest('1'.repeat(40), {}, { trace: null }))).toBeNull();
    expect(relay.open(buildRequest('1'.repeat(40), {}, { trace: { ...trace!, sampled: false } }))).toBeNull();
  });
});

import { gunzipSync, gzipSync } from 'node:zlib';
import { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Endpoint, fetchFrom } from '../../../src/cmd/client/endpoint.ts';
import { parseNanoseconds } from '../../../src/lib/clock.ts';
import { type SpanId, spanIdOf, type TraceId, traceIdOf, type Uuid } from '../../../src/lib/ids.ts';
import { buildsetsOf, type QueueItem } from '../../../src/model/queue-item.ts';
import type { Attributes, SpanRecord } from '../../../src/model/span.ts';
import { StoreError } from '../../../src/store/port.ts';
import { encodeRequest } from '../../../src/tracing/otlp/encode-request.ts';
import { rootSpanOf } from '../../../src/tracing/span-ids.ts';
import { otlpJson } from '../../../src/web/otlp-json.ts';
import { BYTES_PER_MINUTE } from '../../../src/web/span-quota.ts';
import { INSTALLATION } from '../../fake/installation.ts';
import { companyKey, companyRealm, sharedRealm, token } from './auth/realms.ts';
import { type FakeWeb, fakeWeb } from './fake-web.ts';
import { finishedItems, gateItems, NOW } from './sample-gate.ts';
import { uuidOf } from './sample-item.ts';

let web: FakeWeb;
const taken: SpanRecord[] = [];
let sampled = true;
/** On its way into the history. */
let leaving: readonly QueueItem[] = [];
let looks = 0;

beforeAll(async () => {
  const leavingItems = async (wanted: (item: QueueItem) => boolean) => {
    looks += 1;
    return leaving.filter(wanted);
  };
  web = await fakeWeb({ realms: [sharedRealm(), companyRealm()], overrides: { leavingItems } });
});
beforeEach(() => {
  taken.length = 0;
  sampled = true;
  leaving = [];
  looks = 0;
  web.spanIntake = {
    ownServices: new Set(['our-gate', 'our-gate-executor']),
    isSampled: () => sampled,
    store: async spans => void taken.push(...spans),
  };
});
afterAll(() => web.close());

const CLI = 'gatehouse-cli';

function span(facts: Partial<SpanRecord> = {}): SpanRecord {
  return {
    traceId: '0af7651916cd43dd8448eb211c80319c' as TraceId,
    spanId: 'b7ad6b7169203331' as SpanId,
    parent: null,
    name: 'gatehouse status',
    kind: 'client',
    start: NOW,
    end: parseNanoseconds(String(BigInt(NOW) + 5n)),
    attributes: {},
    events: [],
    links: [],
    status: { code: 'unset' },
    ...facts,
  };
}

interface Sent {
  readonly service?: string;
  readonly headers?: Record<string, string>;
}

/** With a token by the port, without one as the command line of this machine. */
function post(body: string | Buffer, headers: Record<string, string> = {}): Promise<Response> {
  return postBy('authorization' in headers ? byPort() : bySocket(), body, headers);
}

const byPort = (): Endpoint => ({ kind: 'http', root: web.url });
const bySocket = (): Endpoint => ({ kind: 'socket', path: web.socket });

function postBy(
  endpoint: Endpoint,
  body: string | Buffer,
  headers: Record<string, string>,
): Promise<Response> {
  return fetchFrom(endpoint, '/api/otlp/v1/traces', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: new Uint8Array(Buffer.from(body)),
    signal: AbortSignal.timeout(30_000),
  });
}

/** @returns what was rejected and why; undefined: nothing. */
async function rejection(spans: readonly SpanRecord[], { service = CLI, headers = {} }: Sent = {}) {
  const answer = await post(JSON.stringify(otlpJson(spans, '1', service)), headers);
  expect(answer.status).toBe(200);
  const { partialSuccess } = (await answer.json()) as {
    partialSuccess?: { rejectedSpans: string; errorMessage: string };
  };
  return partialSuccess;
}

const bearer = async (claims?: Attributes | { readonly [name: string]: unknown }) => ({
  authorization: `Bearer ${await token(claims)}`,
});

describe('the command line on this machine', () => {
  test('hands over its spans, which keep their service', async () => {
    expect(await rejection([span({ attributes: { 'gatehouse.command': 'status' } })])).toBeUndefined();
    expect(taken).toMatchObject([
      {
        spanId: 'b7ad6b7169203331',
        name: 'gatehouse status',
        end: String(BigInt(NOW) + 5n),
        resource: { 'service.name': CLI },
        attributes: { 'gatehouse.command': 'status' },
      },
    ]);
  });

  test('may compress them', async () => {
    const packed = gzipSync(JSON.stringify(otlpJson([span()], '1', CLI)));
    expect(gunzipSync(packed).length).toBeGreaterThan(0);
    expect((await post(packed, { 'content-encoding': 'gzip' })).status).toBe(200);
    expect(taken).toHaveLength(1);
  });

  test('says nothing in our name', async () => {
    const attributes = { 'gatehouse.tenant': 'main', 'gatehouse.command': 'x', 'http.request.method': 'GET' };
    await rejection([span({ attributes, events: [{ at: NOW, name: 'e', attributes }] })]);
    expect(taken[0]?.attributes).toEqual({ 'gatehouse.command': 'x', 'http.request.method': 'GET' });
    expect(taken[0]?.events[0]?.attributes).toEqual({ 'http.request.method': 'GET' });
  });

  test('adds to the trace of an item below one of its spans, never beside or over them', async () => {
    const item = gateItems()[0]!;
    const traceId = traceIdOf(item.uuid);
    const root = spanIdOf(item.uuid);
    expect(await rejection([span({ traceId, parent: root })])).toBeUndefined();
    expect(await rejection([span({ traceId })])).toMatchObject({
      errorMessage: 'a second root in a trace of Gatehouse',
    });
    expect(
      await rejection([span({ traceId, spanId: root, parent: '1'.repeat(16) as SpanId })]),
    ).toMatchObject({
      rejectedSpans: '1',
      errorMessage: 'a span with the id of a span of Gatehouse',
    });
    expect(taken).toHaveLength(1);
  });

  test('adds nothing beside an item that has left, either', async () => {
    const traceId = traceIdOf(finishedItems()[0]!.uuid);
    expect(await rejection([span({ traceId })])).toMatchObject({ rejectedSpans: '1' });
  });

  test('adds no second root to the own trace of a long build', async () => {
    const build = gateItems()
      .flatMap(buildsetsOf)
      .flatMap(buildset => buildset.builds)[0]!;
    expect(await rejection([span({ traceId: traceIdOf(build.uuid) })])).toMatchObject({ rejectedSpans: '1' });
  });

  test('gets no error for unsampled spans', async () => {
    sampled = false;
    expect(await rejection([span()])).toBeUndefined();
    expect(taken).toEqual([]);
  });

  test('needs not know that tracing is off', async () => {
    web.spanIntake = undefined;
    expect(await rejection([span(), span({ name: '' })])).toBeUndefined();
    expect(taken).toEqual([]);
  });
});

describe('other services', () => {
  test('need a token, also on this machine', async () => {
    expect(await rejection([span()], { service: 'deploy-bot' })).toEqual({
      rejectedSpans: '1',
      errorMessage: 'a span of a service other than gatehouse-cli: those need a token',
    });
    expect(await rejection([span()], { service: 'deploy-bot', headers: await bearer() })).toBeUndefined();
    expect(taken).toMatchObject([{ resource: { 'service.name': 'deploy-bot' } }]);
  });

  test('speak protobuf as exporters do, and are answered in it', async () => {
    const resource = { 'service.name': 'deploy-bot', 'gatehouse.component': 'scheduler' };
    const good = span({ resource, scope: 'deploy' });
    const bytes = encodeRequest([good, span({ resource: { 'service.name': 'our-gate' } })], INSTALLATION);
    const answer = await post(gzipSync(bytes), {
      'content-type': 'application/x-protobuf',
      'content-encoding': 'gzip',
      ...(await bearer()),
    });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/x-protobuf']);
    expect(ProtobufTraceSerializer.deserializeResponse(await answer.bytes())).toMatchObject({
      partialSuccess: {
        rejectedSpans: 1,
        errorMessage: "a span of service our-gate, which is Gatehouse's own",
      },
    });
    expect(taken).toMatchObject([{ name: good.name, start: good.start, end: good.end, scope: 'deploy' }]);
    expect(taken[0]?.resource).toEqual({ 'service.name': 'deploy-bot' });
  });

  test('do not pass for ours', async () => {
    const headers = await bearer();
    expect(await rejection([span()], { service: 'our-gate', headers })).toMatchObject({
      errorMessage: "a span of service our-gate, which is Gatehouse's own",
    });
    expect(await rejection([span()], { service: '', headers })).toMatchObject({
      errorMessage: 'a span whose resource has no service.name',
    });
  });

  test('add to items of tenants their token names only', async () => {
    const item = gateItems()[0]!;
    const below = [span({ traceId: traceIdOf(item.uuid), parent: spanIdOf(item.uuid) })];
    const other = await bearer({ zuul: { admin: ['other'] } });
    expect(await rejection(below, { service: 'bot', headers: other })).toMatchObject({
      errorMessage: 'a span in a trace of a tenant that the token does not let you operate',
    });
    expect(await rejection(below, { service: 'bot', headers: await bearer() })).toBeUndefined();
  });

  test('are limited in traces, without affecting other clients', async () => {
    const many = Array.from({ length: 60 }, (_, n) =>
      span({ traceId: n.toString(16).padStart(32, 'a') as TraceId }),
    );
    expect(await rejection(many, { service: 'bot', headers: await bearer() })).toEqual({
      rejectedSpans: '10',
      errorMessage: 'more than 50 traces in one request',
    });
    expect(taken).toHaveLength(50);
  });

  test('are limited in bytes, each by itself', async () => {
    const text = 'x'.repeat(1000);
    const many = Array.from({ length: 2500 }, () => span({ attributes: { text } }));
    const send = async (sub: string, spans = many) =>
      rejection(spans, { service: 'bot', headers: await bearer({ sub }) });
    expect(await send('chatty')).toBeUndefined();
    expect(await send('chatty')).toBeUndefined();
    const bytes = taken.reduce((sum, each) => sum + Buffer.byteLength(JSON.stringify(each)), 0);
    const left = Math.floor((BYTES_PER_MINUTE - bytes) / (bytes / taken.length));
    expect(await send('chatty')).toEqual({
      rejectedSpans: String(2500 - left),
      errorMessage: 'more bytes of spans than are accepted in a minute',
    });
    expect(taken).toHaveLength(5000 + left);
    expect(await send('quiet', [span()])).toBeUndefined();
    expect(await rejection([span()], { service: CLI })).toBeUndefined();
  });

  test('need a token that names a tenant, from any realm', async () => {
    const claims = { iss: 'https://login.example.org', zuul: undefined };
    for (const made of [
      await token(claims, { key: companyKey, alg: 'RS256' }),
      await token({ zuul: { admin: [] } }),
    ]) {
      const headers = { authorization: `Bearer ${made}` };
      const answer = await post(JSON.stringify(otlpJson([span()], '1', 'bot')), headers);
      expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([
        403,
        expect.stringContaining('insufficient_scope'),
      ]);
    }
    expect(taken).toEqual([]);
  });
});

describe('a trace is ours', () => {
  const [finished] = finishedItems();
  const [live] = gateItems();
  const gone = { ...finished!, uuid: uuidOf('just left'), origin: { ...finished!.origin, ...newOrigin() } };

  function newOrigin(): Pick<QueueItem['origin'], 'event' | 'eventSpan' | 'tenantSpan'> {
    const [event, tenant] = [uuidOf('its event'), uuidOf('its tenant event')];
    return { event, eventSpan: rootSpanOf(event), tenantSpan: rootSpanOf(tenant) };
  }

  function buildOf(item: QueueItem): Uuid {
    return buildsetsOf(item).flatMap(buildset => buildset.builds.map(build => build.uuid))[0]!;
  }

  test.each([
    ['of an item on its way into the history', gone.uuid],
    ['of the event of an item', live!.origin.event],
    ['of the tenant event of an item', live!.origin.tenantSpan.traceId as string as Uuid],
    ['of the event of an item on its way', gone.origin.event],
    ['of a build of an item', buildOf(live!)],
    ['of a build that has left', buildOf(finished!)],
  ])('when it is that %s', async (_what, uuid) => {
    leaving = [gone];
    const traceId = traceIdOf(uuid);
    const below = span({ traceId, parent: spanIdOf(uuid) });
    const other = await bearer({ zuul: { admin: ['other'] } });
    const headers = await bearer();
    expect(await rejection([below], { service: 'bot', headers: other })).toMatchObject({
      errorMessage: 'a span in a trace of a tenant that the token does not let you operate',
    });
    expect(await rejection([span({ traceId })], { service: 'bot', headers })).toMatchObject({
      errorMessage: 'a second root in a trace of Gatehouse',
    });
    expect(
      await rejection([{ ...below, spanId: spanIdOf(uuid), parent: '1'.repeat(16) as SpanId }], {
        service: 'bot',
        headers,
      }),
    ).toMatchObject({ errorMessage: 'a span with the id of a span of Gatehouse' });
    expect(taken).toEqual([]);
    expect(await rejection([below], { service: 'bot', headers })).toBeUndefined();
    expect(taken).toHaveLength(1);
  });

  test('and what is on its way is looked through once for a request, and only when it may help', async () => {
    const headers = await bearer();
    const traces = ['a', 'b', 'c'].map(digit => digit.repeat(32) as TraceId);
    await rejection(
      traces.map(traceId => span({ traceId })),
      { service: 'bot', headers },
    );
    expect([looks, taken.length]).toEqual([1, 3]);
    const below = span({ traceId: traceIdOf(live!.uuid), parent: spanIdOf(live!.uuid) });
    await rejection([below], { service: 'bot', headers });
    expect([looks, taken.length]).toEqual([1, 4]);
  });
});

describe('other callers may not send spans', () => {
  test.each([
    ['a program of this machine', {}],
    ['a stranger behind a proxy', { 'x-forwarded-for': '192.0.2.1' }],
    ['a page of another origin', { origin: 'https://evil.example.org' }],
    ['the bearer of a token that does not count', { authorization: 'Bearer a.b.c' }],
  ])('not %s', async (_who, headers) => {
    const answer = await postBy(byPort(), JSON.stringify(otlpJson([span()], '1', CLI)), headers);
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer realm="gate.example.org"/);
    expect(taken).toEqual([]);
  });

  test.each([
    ['of another type', 'x', { 'content-type': 'text/plain' }, 415],
    ['packed in an unknown way', 'x', { 'content-encoding': 'br' }, 415],
    ['that is no JSON', '{', {}, 400],
    ['that is too large', ' '.repeat(5_000_000), {}, 413],
  ])('nor anything %s', async (_what, body, headers, status) => {
    expect((await post(body, headers)).status).toBe(status);
  });

  test('what cannot be stored is to be sent again', async () => {
    const store = async () => {
      throw new StoreError('ConnectionLoss', '/outbox');
    };
    web.spanIntake = {
      ownServices: new Set(['our-gate', 'our-gate-executor']),
      isSampled: () => true,
      store,
    };
    const answer = await post(JSON.stringify(otlpJson([span()], '1', CLI)));
    expect(answer.status).toBe(503);
  });

  test('not by fetching', async () => {
    expect((await fetch(`${web.url}/api/otlp/v1/traces`)).status).toBe(405);
  });
});

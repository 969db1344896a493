/** The trace of a command, seen from the service it asks. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { spansFromOtlp } from '../../../src/cmd/client/spans-from-otlp.ts';
import { runProgram } from '../../../src/cmd/commands/program.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { isUuid } from '../../../src/lib/ids.ts';
import { type CannedRequest, type CannedService, cannedService, NEVER } from './canned-service.ts';
import { type Recorded, recordingIo } from './fixture.ts';

let service: CannedService;
let first = 0;

beforeAll(async () => {
  service = await cannedService();
});
beforeEach(() => {
  first = service.requests.length;
  service.answer('/api/tenants', [{ name: 'acme' }]);
  service.answer('/api/components', { scheduler: [], merger: [], executor: [], web: [] });
  service.answer('/api/tenant/acme/project/acme/app/dequeue', true);
  service.answer('/api/otlp/v1/traces', {});
});
afterAll(() => service[Symbol.asyncDispose]());

const TRACES = '/api/otlp/v1/traces';

async function run(args: readonly string[], environment: Record<string, string> = {}) {
  const io: Recorded = {
    ...recordingIo({ GATEHOUSE_URL: service.url, GATEHOUSE_CONFIG: service.config, ...environment }),
    clock: systemClock(),
  };
  const status = await runProgram(args, io);
  const requests = service.requests.slice(first);
  const posted = requests.find(request => request.path === TRACES);
  const spans = posted === undefined ? [] : spansFromOtlp(JSON.parse(posted.body));
  return { status, io, requests: requests.filter(request => request !== posted), posted, spans };
}

const DEQUEUE = ['dequeue', 'acme/app', 'master/login', '--pipeline', 'gate'];
const traceparents = (requests: readonly CannedRequest[]) =>
  requests.map(({ headers }) => headers.traceparent);

describe('a command', () => {
  test('is a span with a child span per request, sent to the service', async () => {
    const { status, spans, requests, posted } = await run(DEQUEUE);
    expect(status).toBe(0);
    const [root, ...children] = spans;
    expect(root).toMatchObject({
      name: 'gatehouse dequeue',
      kind: 'client',
      parent: null,
      status: { code: 'unset' },
      attributes: {
        'gatehouse.span.type': 'Command',
        'gatehouse.command': 'dequeue',
        'gatehouse.exit_code': 0,
        'gatehouse.result': 'SUCCESS',
      },
    });
    expect(children.map(({ name, kind, parent }) => [name, kind, parent])).toEqual([
      ['GET /api/tenants', 'client', root?.spanId],
      ['POST /api/tenant/{}/project/{}/dequeue', 'client', root?.spanId],
    ]);
    expect(children[1]?.attributes).toMatchObject({
      'http.request.method': 'POST',
      'http.response.status_code': 200,
      'url.path': '/api/tenant/acme/project/acme/app/dequeue',
      'server.address': service.socket,
    });
    expect([...requests, posted].map(request => request?.door)).toEqual(['socket', 'socket', 'socket']);
    expect(traceparents(requests)).toEqual(children.map(span => `00-${root?.traceId}-${span.spanId}-01`));
    expect(new Set(spans.map(span => span.traceId)).size).toBe(1);
    expect(isUuid(String(root?.traceId))).toBe(true);
    for (const span of children) {
      expect(BigInt(span.start)).toBeGreaterThanOrEqual(BigInt(root?.start ?? 0));
      expect(BigInt(span.end ?? 0)).toBeLessThanOrEqual(BigInt(root?.end ?? 0));
    }
    const { resourceSpans } = JSON.parse(posted?.body ?? '{}');
    expect(JSON.stringify(resourceSpans[0].resource)).toContain('"gatehouse-cli"');
    for (const { headers } of requests) {
      expect(headers['user-agent']).toMatch(/^gatehouse-cli\/\d/);
      expect(headers.baggage).toBeUndefined();
    }
  });

  test('keeps its arguments to itself', async () => {
    const { posted } = await run([...DEQUEUE, '--auth-token', 'aaa.bbb.ccc']);
    expect(posted?.body).not.toMatch(/aaa\.bbb|master\/login/);
    expect(posted?.headers.authorization).toBe('Bearer aaa.bbb.ccc');
    expect(posted?.door).toBe('port');
  });

  test('that fails says so', async () => {
    service.answer('/api/tenant/acme/project/acme/app/dequeue', undefined);
    const { status, spans, io } = await run(DEQUEUE);
    expect(status).toBe(1);
    expect(io.err()).toMatch(/^error: /);
    expect(spans[0]).toMatchObject({
      attributes: { 'gatehouse.result': 'FAILURE', 'error.type': 'exit-1', 'gatehouse.exit_code': 1 },
      status: { code: 'error' },
    });
    expect(spans[2]).toMatchObject({
      attributes: { 'http.response.status_code': 404, 'error.type': '404' },
      status: { code: 'error' },
    });
  });

  test('is part of the trace it is called in', async () => {
    const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const { spans, requests } = await run(['components'], { TRACEPARENT });
    expect(spans[0]).toMatchObject({
      traceId: '0af7651916cd43dd8448eb211c80319c',
      parent: 'b7ad6b7169203331',
    });
    expect(traceparents(requests)[0]).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-(?!b7ad6b7169203331)/);
  });

  test('in an unsampled trace is not sent', async () => {
    const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00';
    const { posted, requests } = await run(['components'], { TRACEPARENT });
    expect(posted).toBeUndefined();
    expect(traceparents(requests)[0]).toMatch(/-00$/);
  });

  test.each([
    ['DO_NOT_TRACK', '1'],
    ['DO_NOT_TRACK', 'true'],
    ['OTEL_SDK_DISABLED', 'true'],
  ])('with %s=%s leaves no trace', async (name, value) => {
    const { status, posted, requests } = await run(['components'], { [name]: value });
    expect(status).toBe(0);
    expect(posted).toBeUndefined();
    expect(traceparents(requests)).toEqual([undefined]);
  });
});

describe('sending its spans', () => {
  test('reports a refusal only with --verbose', async () => {
    service.answer(TRACES, undefined);
    const quiet = await run(['components']);
    expect([quiet.status, quiet.io.err()]).toEqual([0, '']);
    const verbose = await run(['components', '--verbose']);
    expect(verbose.io.err()).toMatch(/^trace [0-9a-f]{32}: the service answered 404/);
  });

  test('goes over the socket, though what is read comes by the address', async () => {
    const { requests, posted, spans } = await run(['components']);
    expect([requests[0]?.door, posted?.door]).toEqual(['port', 'socket']);
    expect(spans[1]?.attributes).toMatchObject({ 'server.address': '127.0.0.1' });
  });

  test('goes nowhere when it is not clear whose socket is meant', async () => {
    const { status, posted, io } = await run(['components', '--verbose'], { GATEHOUSE_CONFIG: '' });
    expect([status, posted]).toEqual([0, undefined]);
    expect(io.err()).toContain(`the service at ${service.url} accepts this only with a token`);
  });

  test('reports the number of spans with --verbose', async () => {
    const { io, spans } = await run(['components', '--verbose']);
    expect(io.err()).toBe(`trace ${spans[0]?.traceId}: 2 spans sent\n`);
  });

  test('ends by itself when the service does not answer', { timeout: 20_000 }, async () => {
    service.answer(TRACES, NEVER);
    const { status, io } = await run(['components', '--verbose']);
    expect(status).toBe(0);
    expect(io.err()).toMatch(/: The operation was aborted due to timeout\n$/);
  });

  test('is not tried when the service is unreachable', async () => {
    const gone = await cannedService();
    await gone[Symbol.asyncDispose]();
    const { status, io } = await run(['components', '--verbose'], { GATEHOUSE_URL: gone.url });
    expect(status).toBe(1);
    expect(io.err()).toMatch(/^error: cannot reach .*\n$/);
  });
});

describe('the identity', () => {
  test.each([
    ['GATEHOUSE_AUTH_TOKEN', { GATEHOUSE_AUTH_TOKEN: 'g.g.g', ZUUL_AUTH_TOKEN: 'z.z.z' }, 'Bearer g.g.g'],
    ['ZUUL_AUTH_TOKEN', { ZUUL_AUTH_TOKEN: 'Bearer z.z.z' }, 'Bearer z.z.z'],
    ['nothing', {}, undefined],
  ])('comes from %s', async (_name, environment, expected) => {
    const { requests } = await run(['components'], environment);
    expect(requests[0]?.headers.authorization).toBe(expected);
  });

  test('is warned when others on the way could read the token', async () => {
    const GATEHOUSE_URL = service.url.replace('127.0.0.1', '0.0.0.0');
    const { io } = await run(['components'], { GATEHOUSE_URL, GATEHOUSE_AUTH_TOKEN: 'a.b.c' });
    expect(io.err()).toBe(`warning: the token travels unencrypted to ${GATEHOUSE_URL}; use https\n`);
    expect((await run(['components'], { GATEHOUSE_URL })).io.err()).toBe('');
  });

  test('does not come from an invalid value, which is not repeated', async () => {
    const { status, io, requests } = await run(['components'], { GATEHOUSE_AUTH_TOKEN: 'a secret\nb' });
    expect([status, io.err(), requests.length]).toEqual([
      1,
      'error: GATEHOUSE_AUTH_TOKEN does not hold a token\n',
      0,
    ]);
    const option = await run(['components', '--auth-token', 'b secret']);
    expect([option.status, option.io.err()]).toEqual([1, 'error: --auth-token does not hold a token\n']);
  });
});

import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type FakeWeb, fakeWeb, MOST_WEBHOOK_BYTES } from './fake-web.ts';

const SIGNED = {
  'x-signature': 'right',
  'x-type': 'push',
  'x-delivery': 'one',
  'content-type': 'application/json',
};

let web: FakeWeb;
beforeEach(async () => {
  web = await fakeWeb();
});
afterEach(() => web.close());

async function post(
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = SIGNED,
  connection = 'hooks',
) {
  const response = await fetch(`${web.url}/api/connection/${connection}/payload`, {
    method: 'POST',
    body,
    headers,
  });
  return { status: response.status, body: await response.json() };
}

describe('a webhook', () => {
  test('is answered with 200 once it is stored, and again when it is sent twice', async () => {
    expect(await post('{}')).toEqual({ status: 200, body: { outcome: 'stored', delivery: 'one' } });
    expect(await post('{}')).toEqual({ status: 200, body: { outcome: 'duplicate', delivery: 'one' } });
    expect(web.stored).toEqual([{ connection: 'hooks', deliveryId: 'one' }]);
  });

  test('of no interest is answered with 202', async () => {
    expect(await post('{}', { ...SIGNED, 'x-type': 'star' })).toEqual({
      status: 202,
      body: { outcome: 'ignored', reason: 'not of interest' },
    });
  });

  test('past the rate of its connection is answered with 429 and when to come again, and is not stored', async () => {
    const send = (delivery: number) => post('{}', { ...SIGNED, 'x-delivery': `d${delivery}` });
    // Those without a signature cost the others nothing.
    for (let sent = 0; sent < 30; sent++) await post('{}', { ...SIGNED, 'x-signature': 'wrong' });
    for (let sent = 0; sent < 20; sent++) expect((await send(sent)).status).toBe(200);
    const response = await fetch(`${web.url}/api/connection/hooks/payload`, {
      method: 'POST',
      body: '{}',
      headers: { ...SIGNED, 'x-delivery': 'late' },
    });
    expect(response.status).toBe(429);
    expect(response.headers.get('retry-after')).toBe('1');
    expect(await response.json()).toMatchObject({ place: 'rate' });
    expect(web.stored).toHaveLength(20);
  });

  test('that cannot be stored is answered with 503, so that the host sends it again', async () => {
    web.failStore = true;
    expect(await post('{}')).toEqual({
      status: 503,
      body: {
        error: 'the event could not be stored; send it again later',
        description: 'the event could not be stored; send it again later',
        place: 'store',
      },
    });
  });

  test.each([
    ['a wrong signature', '{}', { ...SIGNED, 'x-signature': 'wrong' }, 401],
    ['no signature', '{}', { 'content-type': 'application/json' }, 401],
    ['a form', 'payload=%7B%7D', { ...SIGNED, 'content-type': 'application/x-www-form-urlencoded' }, 415],
    ['a compressed body', '{}', { ...SIGNED, 'content-encoding': 'gzip' }, 415],
    ['an empty body', '', SIGNED, 400],
    ['null', 'null', SIGNED, 400],
    ['a list', '[]', SIGNED, 400],
    ['half an object', '{', SIGNED, 400],
    ['brackets without end', '['.repeat(1_000_000), SIGNED, 400],
  ])('with %s is refused', async (_what, body, headers, status) => {
    const answer = await post(body, headers);
    expect(answer.status).toBe(status);
    expect(answer.body).toEqual({
      error: expect.any(String),
      description: expect.any(String),
      place: expect.any(String),
    });
    expect(web.stored).toEqual([]);
  });

  test('that is not UTF-8 is refused', async () => {
    expect((await post(new Uint8Array([0x7b, 0xff, 0x7d]))).status).toBe(400);
  });

  test.each([['local'], ['unknown'], ['__proto__']])(
    'for connection %s, which takes none, is 404',
    async connection => {
      expect((await post('{}', SIGNED, connection)).status).toBe(404);
    },
  );

  test('announced as too large is refused before it is sent', async () => {
    const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
    const request = httpRequest(
      `${web.url}/api/connection/hooks/payload`,
      { method: 'POST', headers: { ...SIGNED, 'content-length': MOST_WEBHOOK_BYTES + 1 } },
      response => resolve(response.statusCode),
    );
    request.on('error', reject);
    request.flushHeaders();
    expect(await promise).toBe(413);
    request.destroy();
  });

  test('that grows too large on the way is refused', async () => {
    // With the usual time to arrive: 2 MB may take longer than this file's limit.
    const patient = await fakeWeb();
    const chunk = Buffer.alloc(1_000_000, 0x20);
    const { promise, resolve } = Promise.withResolvers<number | undefined>();
    const request = httpRequest(
      `${patient.url}/api/connection/hooks/payload`,
      { method: 'POST', headers: SIGNED },
      response => resolve(response.statusCode),
    );
    request.on('error', () => {});
    for (let sent = 0; sent < 2; sent++) request.write(chunk);
    expect(await promise).toBe(413);
    request.destroy();
    await patient.close();
  });

  test('that trickles in is answered with 408', async () => {
    await web.close();
    web = await fakeWeb({ limits: { requestTimeout: 300 } });
    const { promise, resolve } = Promise.withResolvers<string>();
    const socket = connect(Number(new URL(web.url).port), '127.0.0.1');
    let answer = '';
    socket.setEncoding('utf8').on('data', text => {
      answer += String(text);
    });
    socket.on('close', () => resolve(answer));
    socket.write(
      'POST /api/connection/hooks/payload HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\nX-Signature: right\r\n\r\n{',
    );
    expect(await promise).toMatch(/^HTTP\/1\.1 408 /);
  });

  test('is sent, not fetched', async () => {
    const response = await fetch(`${web.url}/api/connection/hooks/payload`);
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('POST');
  });
});

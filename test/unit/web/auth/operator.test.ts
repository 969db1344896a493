/** The routes that change something, asked with tokens and without. That no address is authority is the subject of ../dequeue.test.ts. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { postByPort, postBySocket } from '../ask-web.ts';
import { type FakeWeb, fakeWeb } from '../fake-web.ts';
import { gateItems } from '../sample-gate.ts';
import { uuidOf } from '../sample-item.ts';
import { companyRealm, NOW_S, sharedRealm, token } from './realms.ts';

let web: FakeWeb;
beforeAll(async () => {
  web = await fakeWeb({
    realms: [sharedRealm(), companyRealm()],
    overrides: { leavingItems: async wanted => [STRANGER].filter(wanted) },
  });
});
beforeEach(() => {
  web.dequeued.length = 0;
  web.contexts.length = 0;
  web.asked.length = 0;
});
afterAll(() => web.close());

/** An item of another tenant. */
const STRANGER = { ...gateItems()[0]!, uuid: uuidOf('of another tenant'), tenant: 'other' };
const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';
const TRACEPARENT = `00-${TRACE}-${SPAN}-01`;
const ELSEWHERE = { 'x-forwarded-for': '192.0.2.7' };

interface Answered {
  readonly status: number;
  readonly challenge: string | undefined;
  readonly error: unknown;
}

type Send = typeof postByPort;

async function post(
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
  send: Send = postByPort,
): Promise<Answered> {
  const answer = await send(web, path, { body, headers });
  const refusal: unknown = await answer.json();
  return {
    status: answer.status,
    challenge: answer.headers.get('www-authenticate') ?? undefined,
    error: typeof refusal === 'object' && refusal !== null && 'error' in refusal ? refusal.error : undefined,
  };
}

const REQUEST = { pipeline: 'gate', change: 'master/dark-mode' };
const PATH = 'tenant/main/project/acme/app/dequeue';
const dequeue = (headers?: Record<string, string>) => post(PATH, REQUEST, headers);
const dequeueHere = (headers?: Record<string, string>) => post(PATH, REQUEST, headers, postBySocket);
const bearer = async (claims?: { readonly [name: string]: unknown }) => ({
  authorization: `Bearer ${await token(claims)}`,
});

describe('a user', () => {
  test('dequeues in a tenant the token names, from wherever', async () => {
    expect(await dequeue({ ...ELSEWHERE, ...(await bearer()) })).toMatchObject({ status: 200 });
    expect(web.dequeued).toHaveLength(1);
  });

  test('does not dequeue in another tenant', async () => {
    expect(await dequeue(await bearer({ zuul: { admin: ['other'] } }))).toEqual({
      status: 403,
      error:
        'this token does not let you dequeue: it does not name tenant main, and none of its admin-rules fits',
      challenge:
        'Bearer realm="gate.example.org", error="insufficient_scope", error_description="this token does not let you dequeue: it does not name tenant main, and none of its admin-rules fits"',
    });
    expect(web.dequeued).toEqual([]);
  });

  test('with a token that does not count is refused also on the socket, where it could do without', async () => {
    const { status, error, challenge } = await dequeueHere(await bearer({ exp: NOW_S - 5 }));
    expect({ status, error }).toEqual({ status: 401, error: 'the token has expired' });
    expect(challenge).toBe(
      'Bearer realm="gate.example.org", error="invalid_token", error_description="the token has expired"',
    );
  });

  test.each([['Basic YWxpY2U6eA=='], ['Bearer'], ['Bearer one two'], ['eyJhbGciOi']])(
    'learns how to send a token instead of %s',
    async authorization => {
      const { status, challenge } = await dequeue({ authorization });
      expect(status).toBe(401);
      expect(challenge).toContain('error="invalid_request"');
    },
  );

  test('asks something of a component with a token for every tenant', async () => {
    expect(
      await post('components/executor-4/pause', {}, { ...ELSEWHERE, ...(await bearer()) }),
    ).toMatchObject({
      status: 202,
    });
    expect(web.asked).toEqual(['executor-4 paused']);
    const other = await bearer({ zuul: { admin: ['other'] } });
    expect(await post('components/executor-4/pause', {}, other)).toMatchObject({ status: 403 });
  });

  test('asks nothing of a component before a tenant is known', async () => {
    web.started = false;
    try {
      const { status, error } = await post('components/executor-4/pause', {}, await bearer());
      expect({ status, error }).toEqual({
        status: 403,
        error: 'this token does not let you pause a component: no tenant is known here yet',
      });
    } finally {
      web.started = true;
    }
  });
});

describe('a request without a token', () => {
  test('learns which one is needed', async () => {
    expect(await dequeue(ELSEWHERE)).toEqual({
      status: 401,
      error:
        'a token is needed to dequeue: send "Authorization: Bearer" and a token; or use the gatehouse command on the machine of the service',
      challenge: 'Bearer realm="gate.example.org"',
    });
    expect(web.dequeued).toEqual([]);
  });

  test('finds the realms in /api/info, under the names Zuul uses', async () => {
    const { info } = (await (await fetch(`${web.url}/api/info`)).json()) as {
      info: { capabilities: { auth: unknown } };
    };
    expect(info.capabilities.auth).toEqual({
      realms: {
        'gate.example.org': {
          authority: 'gatehouse',
          client_id: 'gate.example.org',
          type: 'JWT',
          driver: 'HS256',
        },
        company: {
          authority: 'https://login.example.org',
          client_id: 'gate.example.org',
          type: 'JWT',
          driver: 'RS256',
        },
      },
      default_realm: 'gate.example.org',
      read_protected: false,
    });
  });

  test('learns that the service accepts none without realms', async () => {
    const alone = await fakeWeb();
    const url = `${alone.url}/api/tenant/main/project/acme/app/dequeue`;
    const answer = await fetch(url, { method: 'POST', headers: await bearer() });
    expect(answer.status).toBe(401);
    expect(await answer.json()).toMatchObject({
      error: 'this service accepts no tokens: it has no [auth NAME] section',
    });
    const stranger = await fetch(url, { method: 'POST', headers: ELSEWHERE });
    expect([stranger.status, stranger.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    await alone.close();
  });
});

describe('the trace of who asks', () => {
  const own = { 'user-agent': 'gatehouse-cli/0.3.0' };
  const span = { traceId: TRACE, spanId: SPAN };

  test('is the parent when it is our command line on this machine', async () => {
    await dequeueHere({ ...own, traceparent: TRACEPARENT });
    expect(web.contexts).toEqual([{ relation: 'parent', span, sampled: true }]);
  });

  test('is the parent when it is our command line with a token', async () => {
    const unsampled = `00-${TRACE}-${SPAN}-00`;
    await dequeue({ ...ELSEWHERE, ...own, ...(await bearer()), traceparent: unsampled });
    expect(web.contexts).toEqual([{ relation: 'parent', span, sampled: false }]);
  });

  test('is only linked to when it is that of another tenant, with any client name', async () => {
    const traceparent = `00-${STRANGER.uuid}-${SPAN}-01`;
    await dequeue({ ...own, ...(await bearer()), traceparent });
    await dequeue({ ...own, ...(await bearer({ zuul: { admin: ['main', 'other'] } })), traceparent });
    await dequeueHere({ ...own, traceparent });
    expect(web.contexts.map(context => context?.relation)).toEqual(['caller', 'parent', 'parent']);
  });

  test('is linked to when it is another client with a token', async () => {
    await dequeue({ ...(await bearer()), traceparent: TRACEPARENT });
    expect(web.contexts).toEqual([{ relation: 'caller', span, sampled: true }]);
  });

  test('is nothing when it is another client on this machine', async () => {
    await dequeueHere({ traceparent: TRACEPARENT });
    expect(web.contexts).toEqual([undefined]);
  });

  test('is nothing when it is none', async () => {
    await dequeueHere({ ...own, traceparent: `00-${TRACE}-${'0'.repeat(16)}-01` });
    await dequeueHere({ ...own, traceparent: `${TRACEPARENT}\u00e9` });
    await dequeueHere(own);
    expect(web.contexts).toEqual([undefined, undefined, undefined]);
  });
});

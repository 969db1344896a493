/** Every route of the table, asked without a token, with wrong ones and with the right one, while a tenant is private. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ROUTES, type RouteDescription } from '../../../src/api/routes.ts';
import { type Endpoint, fetchFrom } from '../../../src/cmd/client/endpoint.ts';
import { OPEN_ACCESS, type TenantAccess } from '../../../src/model/authorization.ts';
import { NOW_S, sharedRealm, token } from './auth/realms.ts';
import { readEvents } from './event-reader.ts';
import { type FakeWeb, fakeWeb, sampleSnapshot } from './fake-web.ts';

const rule = (name: string, group: string) => ({ name, conditions: [{ groups: group }] });
const READERS: TenantAccess = {
  accessRules: [rule('readers', 'acme')],
  adminRules: [rule('admins', 'acme-admins')],
};

let web: FakeWeb;
// One for all tests, which only ask: its rules are all they change.
beforeAll(async () => {
  const costOf = async () => ({ items: [], jobs: [], refusals: [] });
  web = await fakeWeb({ realms: [sharedRealm()], overrides: { costOf } });
});
beforeEach(() => {
  web.access = { main: READERS };
  web.rootAccess = OPEN_ACCESS;
});
afterAll(() => web.close());

const bearer = async (claims: { readonly [name: string]: unknown } = {}) => ({
  authorization: `Bearer ${await token({ zuul: undefined, ...claims })}`,
});
const reader = () => bearer({ groups: ['acme'] });
const stranger = () => bearer({ groups: ['other'] });
const WRONG = { authorization: 'Bearer abc.def.ghi' };

interface Asked {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
}

async function ask(
  { method, path }: Pick<RouteDescription, 'method' | 'path'>,
  headers: Record<string, string>,
  tenant = 'main',
  endpoint: Endpoint = { kind: 'http', root: web.url },
): Promise<Asked> {
  const at = path.replaceAll('{tenant}', tenant).replaceAll(/\{\w+\}/g, 'x');
  const abort = new AbortController();
  const body = method === 'post' ? { body: '{}', method: 'POST' } : {};
  const sent = { ...headers, ...(method === 'post' ? { 'content-type': 'application/json' } : {}) };
  const response = await fetchFrom(endpoint, at, { ...body, headers: sent, signal: abort.signal });
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  const text = isStream ? '' : await response.text();
  abort.abort();
  return { status: response.status, text, headers: response.headers };
}

const ofTenant = ROUTES.filter(({ path }) => path.startsWith('/api/tenant/'));
const others = ROUTES.filter(({ path }) => !path.startsWith('/api/tenant/'));

describe('every route of a private tenant', () => {
  test('is in the table, and guarded there', () => {
    expect(ofTenant.length).toBeGreaterThan(25);
    const open = ofTenant.filter(({ guarded, needsToken }) => guarded !== 'tenant' && needsToken !== true);
    expect(open).toEqual([]);
  });

  test.each(ofTenant)('$method $path answers callers who may read it, and no others', async route => {
    const anonymous = await ask(route, {});
    expect(anonymous.status).toBe(401);
    expect(anonymous.headers.get('www-authenticate')).toBe('Bearer realm="gate.example.org"');
    expect((await ask(route, WRONG)).status).toBe(401);
    expect((await ask(route, { authorization: 'Basic YWxpY2U6eA==' })).status).toBe(401);
    expect((await ask(route, await bearer({ groups: ['acme'], exp: 1 }))).status).toBe(401);
    expect((await ask(route, await stranger())).status).toBe(403);
    expect((await ask(route, await bearer({ zuul: { admin: ['other'] } }))).status).toBe(403);

    const allowed = await ask(route, await reader());
    if (route.method === 'post') expect(allowed.status).toBe(403);
    else {
      expect([401, 403]).not.toContain(allowed.status);
      // A refusal of the query aside, each route answers, and nothing may keep the answer.
      expect([200, 400, 404, 426]).toContain(allowed.status);
      expect(allowed.headers.get('cache-control')).toMatch(/no-store/);
    }
    for (const claims of [{ groups: ['acme-admins'] }, { zuul: { admin: ['main'] } }])
      expect([401, 403]).not.toContain((await ask(route, await bearer(claims))).status);
    const socket = { kind: 'socket', path: web.socket } as const;
    expect([401, 403]).not.toContain((await ask(route, {}, 'main', socket)).status);
  });

  test.each(ofTenant)('$method $path does not say whether a tenant exists', async route => {
    for (const headers of [{}, WRONG, await stranger()]) {
      const existing = await ask(route, headers, 'main');
      const unknown = await ask(route, headers, 'nain');
      expect(unknown.status).toBe(existing.status);
      expect(unknown.text.replaceAll('nain', 'main')).toBe(existing.text);
      expect(unknown.headers.get('www-authenticate')?.replaceAll('nain', 'main')).toBe(
        existing.headers.get('www-authenticate'),
      );
    }
  });

  test('is guarded in any case and form of its path', async () => {
    for (const path of [
      '/API/TENANT/main/status',
      '/api/tenant/main/status/',
      '/api/tenant/m%61in/status',
      '/api/tenant/main/nothing',
    ])
      expect((await fetch(`${web.url}${path}`)).status, path).toBe(401);
    expect((await fetch(`${web.url}/api/tenant/main/status`, { method: 'HEAD' })).status).toBe(401);
  });
});

describe('an open tenant', () => {
  test('is read by all, with any token', async () => {
    web.access = {};
    for (const route of ofTenant.filter(({ method, needsToken }) => method === 'get' && needsToken !== true))
      for (const headers of [{}, WRONG])
        expect([200, 400, 404, 426], route.path).toContain((await ask(route, headers)).status);
  });

  test('is operated by those whom its admin-rules fit', async () => {
    web.access = { main: { ...OPEN_ACCESS, adminRules: READERS.adminRules } };
    const dequeue = { method: 'post', path: '/api/tenant/{tenant}/promote' } as const;
    expect((await ask(dequeue, await bearer({ groups: ['acme-admins'] }))).status).toBe(400);
    expect((await ask(dequeue, await reader())).status).toBe(403);
  });

  test('is not named with unknown ones while another is private', async () => {
    web.access = {};
    expect((await ask({ method: 'get', path: '/api/tenant/absent/status' }, {})).text).toContain(
      'known: main',
    );
    web.access = { main: READERS };
    const here = { kind: 'socket', path: web.socket } as const;
    const unknown = await ask({ method: 'get', path: '/api/tenant/absent/status' }, {}, '', here);
    expect(unknown).toMatchObject({ status: 404, text: expect.stringContaining('known: none') });
  });
});

describe('routes of no tenant', () => {
  const ROOT = others.filter(({ guarded }) => guarded === 'root');

  test('are open but for what names private tenants', async () => {
    for (const route of others.filter(({ needsToken, method }) => needsToken !== true && method === 'get')) {
      const { status } = await ask(route, {});
      expect([200, 503, ...(route.path === '/metrics' ? [401] : [])], route.path).toContain(status);
    }
    expect((await ask({ method: 'get', path: '/metrics' }, {})).status).toBe(401);
    expect((await ask({ method: 'get', path: '/metrics' }, await stranger())).status).toBe(403);
    expect((await ask({ method: 'get', path: '/metrics' }, await reader())).status).toBe(200);
  });

  test.each(ROOT)('$path needs a token that fits a rule of api-root', async route => {
    web.rootAccess = { accessRules: [rule('staff', 'staff')] };
    expect((await ask(route, {})).status).toBe(401);
    expect((await ask(route, WRONG)).status).toBe(401);
    expect((await ask(route, await reader())).status).toBe(403);
    expect((await ask(route, await bearer({ groups: ['staff', 'acme'] }))).status).toBe(200);
    expect((await ask(route, await bearer({ zuul: { admin: ['main'] } }))).status).toBe(200);
    expect((await ask(route, {}, '', { kind: 'socket', path: web.socket })).status).toBe(200);
  });

  test('are all guarded by api-root, but health, the description and what signs in', async () => {
    const open = others.filter(({ guarded, needsToken }) => guarded === undefined && needsToken !== true);
    expect(open.map(({ path }) => path)).toEqual([
      '/health/live',
      '/health/ready',
      '/openapi.yaml',
      '/openapi.json',
      '/api/info',
      '/api/connection/{name}/payload',
    ]);
  });

  test('list the tenants that the caller may read', async () => {
    const tenants = { method: 'get', path: '/api/tenants' } as const;
    expect(JSON.parse((await ask(tenants, {})).text)).toEqual([]);
    expect(JSON.parse((await ask(tenants, await stranger())).text)).toEqual([]);
    expect(JSON.parse((await ask(tenants, await reader())).text)).toMatchObject([{ name: 'main' }]);
    expect((await ask(tenants, WRONG)).status).toBe(401);
  });

  test('say where to sign in', async () => {
    web.rootAccess = { accessRules: [rule('staff', 'staff')], realm: 'gate.example.org' };
    const info = JSON.parse((await ask({ method: 'get', path: '/api/info' }, {})).text);
    expect(info.info.capabilities.auth).toMatchObject({
      default_realm: 'gate.example.org',
      read_protected: true,
    });
  });
});

describe('authorizations', () => {
  const whole = { method: 'get', path: '/api/authorizations' } as const;
  const one = { method: 'get', path: '/api/tenant/{tenant}/authorizations' } as const;

  test('are what a token lets its bearer do', async () => {
    const admin = await bearer({ groups: ['acme-admins'] });
    expect(JSON.parse((await ask(one, admin)).text)).toEqual({
      zuul: { admin: true, permissions: { admin: true }, scope: ['main'] },
    });
    expect(JSON.parse((await ask(one, await reader())).text)).toEqual({
      zuul: { admin: false, permissions: {}, scope: ['main'] },
    });
    expect(JSON.parse((await ask(whole, admin)).text)).toEqual({
      zuul: { admin: true, permissions: { admin: true }, scope: ['*'] },
    });
    expect(JSON.parse((await ask(whole, await reader())).text)).toEqual({
      zuul: { admin: false, permissions: {}, scope: ['*'] },
    });
  });

  test('need a token also where all may read', async () => {
    web.access = {};
    for (const route of [whole, one]) expect((await ask(route, {})).status).toBe(401);
    expect((await ask(one, await reader(), 'absent')).status).toBe(404);
  });
});

describe('a live stream of a private tenant', () => {
  test('ends when the tenant’s rules change, and with the token that opened it', async () => {
    const events = `${web.url}/api/tenant/main/events`;
    await using open = await readEvents(events, undefined, await reader());
    await open.next();
    web.access = { main: { ...READERS, accessRules: [rule('readers', 'absent')] } };
    web.change(sampleSnapshot());
    await open.ended();
    expect((await fetch(events, { headers: await reader() })).status).toBe(403);

    web.access = { main: READERS };
    await using short = await readEvents(
      events,
      undefined,
      await bearer({ groups: ['acme'], exp: NOW_S + 1 }),
    );
    await short.next();
    await short.ended();
  });
});

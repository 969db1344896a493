/** A web over a store that goes away and comes back: real HTTP, the embedded store behind a switch. */

import { createHmac, randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { driverTable } from '../../../../src/cmd/service/driver-table.ts';
import { liveTracing } from '../../../../src/cmd/service/live-tracing.ts';
import type { ProcessCore } from '../../../../src/cmd/service/manage-component.ts';
import { noRepositories } from '../../../../src/cmd/service/no-repositories.ts';
import { openConnections } from '../../../../src/cmd/service/open-connections.ts';
import { type OpenWeb, openWeb } from '../../../../src/cmd/service/start-web.ts';
import { type History, openHistory } from '../../../../src/history/history.ts';
import { systemClock } from '../../../../src/lib/clock.ts';
import { randomIds } from '../../../../src/lib/ids.ts';
import type { Log } from '../../../../src/lib/log.ts';
import { createMetrics } from '../../../../src/metrics/registry.ts';
import { layoutSummaryCodec } from '../../../../src/model/codec/records.ts';
import { parseSettings } from '../../../../src/settings/parse-settings.ts';
import { type EmbeddedStore, openEmbeddedStore } from '../../../../src/store/embedded/server.ts';
import { ensureNode } from '../../../../src/store/ensure-node.ts';
import { storePaths } from '../../../../src/store/paths.ts';
import { set } from '../../../../src/store/port.ts';
import { eventually } from '../../../conformance/store/eventually.ts';
import { emptyLayout } from '../../../fake/records.ts';
import { slowness } from '../../../fake/slowness.ts';
import { FaultyStore } from '../../store/faulty-store.ts';

const paths = storePaths('/gatehouse');
const log: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {}, child: () => log };
const TOKEN = 'of the test';
const SETTINGS = `[scheduler]
tenant_config = t.yaml
[web]
port = 0
[tracing]
enabled = false
[connection local]
driver = git
baseurl = /nowhere
webhook_token = %(TOKEN)s
`;

let server: EmbeddedStore;
let history: History;
let web: OpenWeb;
let url: string;

beforeEach(async () => {
  server = openEmbeddedStore({ file: ':memory:' });
  history = await openHistory({ kind: 'sqlite', path: ':memory:' });
  const content = new TextEncoder().encode(SETTINGS);
  const parsed = parseSettings({ content, file: 'g.conf', directory: '/', environment: { TOKEN } });
  if (parsed.kind === 'invalid') throw new Error(JSON.stringify(parsed.problems));
  const { settings } = parsed;
  const clock = systemClock();
  const { connections, loaded } = await openConnections(settings.connections, driverTable, {
    clock,
    log,
    repositories: noRepositories('test'),
  });
  const core: ProcessCore = {
    settings,
    log,
    clock,
    ids: randomIds(),
    host: 'ci1',
    keyring: undefined,
    paths,
    connections,
    messengers: new Map(),
    notices: [],
    drivers: loaded,
    tenants: [],
    repositories: noRepositories('test'),
    root: () => url ?? 'http://127.0.0.1',
    metrics: createMetrics(),
    tracing: liveTracing(settings.tracing, connections, () => 'http://127.0.0.1'),
    storeName: 'ZooKeeper at zk1:2181',
    connect: async () => server.connect(),
  };
  web = await openWeb(core, { history, health: () => [], realms: [] });
  url = `http://127.0.0.1:${web.port}`;
});
afterEach(async () => {
  await web[Symbol.asyncDispose]();
  await history.close();
  await server.close();
});

async function addTenant(name: string): Promise<void> {
  const writer = server.connect();
  await ensureNode(writer, paths.tenant(name).layout);
  await writer.multi([
    set(paths.tenant(name).layout, layoutSummaryCodec.encode(emptyLayout({ tenant: name }))),
  ]);
}

const get = (path: string) => fetch(`${url}${path}`);

function push(): Promise<Response> {
  const body = JSON.stringify({ project: 'acme/app', refs: [] });
  const signature = `sha256=${createHmac('sha256', TOKEN).update(body).digest('hex')}`;
  return fetch(`${url}/api/connection/local/payload`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-gatehouse-delivery': randomUUID(),
      'x-gatehouse-signature': signature,
    },
    body,
  });
}

describe('a web whose store is away', () => {
  test('answers from its first moment: 503 until the store was read, and is alive', async () => {
    expect((await get('/health/live')).status).toBe(200);
    expect((await get('/api/info')).status).toBe(200);
    expect((await get('/')).status).toBe(200);
    for (const path of [
      // Who may read what belongs to no tenant is not known either.
      '/api/connections',
      '/api/authorizations',
      '/api/tenants',
      '/api/tenant/acme/status',
      '/api/components',
      '/api/tenant/acme/events',
    ]) {
      const answer = await get(path);
      expect([path, answer.status, answer.headers.get('retry-after')]).toEqual([path, 503, '5']);
      expect(await answer.json()).toEqual({
        error: 'the service is not ready yet: waiting for ZooKeeper at zk1:2181',
        description: 'the service is not ready yet: waiting for ZooKeeper at zk1:2181',
        place: 'store',
      });
    }
  });

  test('shows what it knew last, marked as old, and what is so again after the next session', async () => {
    await addTenant('acme');
    const session = server.connect();
    await web.join(session);
    await web.ready;
    const fresh = await get('/api/tenant/acme/status');
    expect([fresh.status, fresh.headers.get('x-store-away-since')]).toEqual([200, null]);

    await server.expire(session.sessionId);
    await eventually(async () => (await get('/api/tenants')).headers.has('x-store-away-since'));
    const old = await get('/api/tenant/acme/status');
    expect(old.status).toBe(200);
    expect(Date.parse(old.headers.get('x-store-away-since') ?? '')).toBeGreaterThan(Date.now() - 60_000);
    await addTenant('later');

    await web.join(server.connect());
    await eventually(async () => (await get('/api/tenant/later/status')).status === 200);
    expect((await get('/api/tenants')).headers.has('x-store-away-since')).toBe(false);
  });

  test('reports to live readers that their data is stale, and when it is current again', async () => {
    await addTenant('acme');
    const session = new FaultyStore(server.connect());
    await web.join(session);
    await web.ready;
    const stop = new AbortController();
    const stream = await fetch(`${url}/api/tenant/acme/events`, { signal: stop.signal });
    let text = '';
    const reading = (async () => {
      for await (const chunk of stream.body ?? []) text += Buffer.from(chunk).toString();
    })().catch(() => {});
    await eventually(() => text.includes('"awaySince":null'));
    session.suspend();
    await eventually(() => /"awaySince":\d/.test(text));
    text = '';
    session.resume();
    await eventually(() => text.includes('"awaySince":null'));
    stop.abort();
    await reading;
  });

  test('never accepts a webhook it could not store: 503 within 8 s, at once when the store has been away for long', async () => {
    const session = new FaultyStore(server.connect());
    await web.join(session);
    await web.ready;
    expect((await push()).status).toBe(200);
    session.suspend();
    const begun = performance.now();
    const refused = await push();
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toBe('10');
    expect(performance.now() - begun).toBeLessThan(8_000 * slowness());
    const again = performance.now();
    expect((await push()).status).toBe(503);
    expect(performance.now() - again).toBeLessThan(1_000 * slowness());
    session.resume();
    await eventually(async () => (await push()).status === 200);
  });

  test('a webhook that waits out a short absence is stored', async () => {
    const session = new FaultyStore(server.connect());
    await web.join(session);
    await web.ready;
    session.suspend();
    const answer = push();
    session.resume();
    expect((await answer).status).toBe(200);
  });
});

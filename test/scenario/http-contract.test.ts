/** Every answer of a running service is as its own OpenAPI description says: of every route, and refusals as well. */
import { expect } from 'vitest';
import { type Endpoint, fetchFrom } from '../../src/cmd/client/endpoint.ts';
import { type Contract, contractOf } from '../fake/contract.ts';
import { layoutWith } from './layouts.ts';
import { story } from './story.ts';
import type { World } from './world.ts';

const layout = layoutWith(
  `
- job:
    name: unit
- job:
    name: docs
    files: ^docs/
- project:
    name: org/project
    check: {jobs: [unit, docs]}
    gate: {jobs: [unit, docs]}
`,
  { check: true },
);

const TENANT = '/api/tenant/tenant-one';
const UNKNOWN_UUID = 'f'.repeat(32);

interface Asking {
  readonly method?: string;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: string;
}

function clientOf(contract: Contract, endpoint: Endpoint) {
  return async (path: string, { method = 'GET', headers = {}, body }: Asking = {}): Promise<unknown> => {
    const signal = AbortSignal.timeout(30_000);
    const sent = body === undefined ? {} : { body };
    const response = await fetchFrom(endpoint, path, { method, headers, signal, ...sent });
    const type = response.headers.get('content-type') ?? '';
    const text = type.startsWith('text/event-stream') ? '' : await response.text();
    await response.body?.cancel().catch(() => {});
    const { status } = response;
    expect(contract.problems({ method, path, status, type, text }), `${method} ${path}`).toEqual([]);
    return type.startsWith('application/json') ? JSON.parse(text) : text;
  };
}

async function questions(ask: ReturnType<typeof clientOf>, world: World, live: string): Promise<void> {
  const left = (await ask(`${TENANT}/items`)) as readonly { readonly uuid: string }[];
  const builds = (await ask(`${TENANT}/builds?limit=5&voting=1`)) as readonly { readonly uuid: string }[];
  const sets = (await ask(`${TENANT}/buildsets`)) as readonly { readonly uuid: string }[];
  const running = world.item('C')?.jobs.find(({ build }) => build !== null)?.build ?? UNKNOWN_UUID;
  const paths = [
    ...['/health/live', '/health/ready', '/metrics', '/openapi.yaml', '/openapi.json'],
    ...[
      '/api',
      '/api/info',
      '/api/authorizations',
      '/api/connections',
      '/api/components',
      '/api/tenants',
      '/api/nothing',
    ],
    ...[
      'info',
      'authorizations',
      'status',
      'pipelines',
      'projects',
      'jobs',
      'jobs/statistics',
      'job/unit',
      'job/unit/statistics',
      'job/nothing',
      'job/nothing/statistics',
      'project/org/project',
      'project/nothing',
      'config-errors',
      'tenant-status',
      'system-events',
      'events',
      'console-stream',
      'badge',
      'semaphores',
      'jobs/statistics',
      'job/unit/statistics',
      'nodes',
      'labels',
      'nodeset-requests',
      'trace-health',
      'autohold',
      'autohold/0000000007',
    ].map(name => `${TENANT}/${name}`),
    ...['items?limit=0', 'items?limti=3', 'builds?final=perhaps', 'buildsets?idx_min=x', 'nothing'].map(
      name => `${TENANT}/${name}`,
    ),
    ...['master/C', 'nothing'].map(change => `${TENANT}/status/change/${change}`),
    ...['master/A', 'master/C', 'nothing'].map(change => `${TENANT}/changes/${change}/decisions`),
    ...['master/A', 'master/C', 'nothing'].map(
      change => `${TENANT}/changes/${change}/checks?project=org/project`,
    ),
    `${TENANT}/changes/master/A/checks`,
    ...['check/delays', 'gate/delays?since=1h', 'gate/delays?since=soon', 'nothing/delays'].map(
      name => `${TENANT}/pipeline/${name}`,
    ),
    ...[
      'gate/forecast',
      'nothing/forecast',
      'gate/forecast/calibration',
      'gate/forecast/calibration?since=soon',
    ].map(name => `${TENANT}/pipeline/${name}`),
    ...[
      'check/project/org/project/branch/master/freeze-jobs',
      'nothing/project/org/project/branch/master/freeze-jobs',
      'check/project/org/project/branch/nothing/freeze-job/unit',
      'check/project/org/project/branch/master/freeze-job/nothing',
    ].map(name => `${TENANT}/pipeline/${name}`),
    ...[live, left[0]?.uuid, UNKNOWN_UUID, 'x'].flatMap(uuid =>
      ['', '/trace', '/explain', '/compare'].map(part => `${TENANT}/item/${uuid}${part}`),
    ),
    ...[running, builds[0]?.uuid, UNKNOWN_UUID].flatMap(uuid =>
      [
        '',
        '/log',
        '/log?offset=3&limit=2',
        '/log?offset=-1',
        '/logs',
        '/logs/job-output.txt',
        '/logs/zuul-manifest.json',
        '/logs/x',
        '/tests',
      ].map(part => `${TENANT}/build/${uuid}${part}`),
    ),
    ...[sets[0]?.uuid, UNKNOWN_UUID].map(uuid => `${TENANT}/buildset/${uuid}`),
    ...['status', 'items', 'badge'].map(name => `/api/tenant/nobody/${name}`),
    ...['key', 'project-ssh-key'].flatMap(name =>
      ['org/project', 'nothing'].map(project => `${TENANT}/${name}/${project}.pub`),
    ),
    '/api/tenant/%ff/status',
  ];
  for (const path of paths) await ask(path);
  await ask(`${TENANT}/status`, { method: 'POST' });
}

/** First what it would do, then the act itself. */
function bothOf(client: ReturnType<typeof clientOf>): ReturnType<typeof clientOf> {
  return async (path, asking) => {
    await client(`${path}/dry-run`, asking);
    return client(path, asking);
  };
}

async function halts(ask: ReturnType<typeof clientOf>, operator: ReturnType<typeof clientOf>) {
  const both = bothOf(operator);
  const post = (body: object, type = 'application/json') => ({
    method: 'POST',
    headers: { 'content-type': type },
    body: JSON.stringify(body),
  });
  const path = `${TENANT}/pipeline/gate/state`;
  await bothOf(ask)(path, post({}));
  await both(path, post({}));
  await both(path, post({ state: 'draining', reason: 'release' }));
  await operator(`${TENANT}/status`);
  await both(`${TENANT}/pipeline/nothing/state`, post({ state: 'normal' }));
  await both(path, post({}, 'text/plain'));
  const events = `${TENANT}/state`;
  await ask(events, post({ trigger_queue_paused: true }));
  await operator(events, post({ trigger_queue_paused: true, reason: null }));
  await operator(events, post({ trigger_queue_discarding: true }));
  await operator(events, post({ result_queue_paused: true }));
  await operator(events, post({ trigger_queue_paused: false }));
  await operator('/api/tenant/nobody/state', post({}));
  await operator(events, post({}, 'text/plain'));
}

async function reruns(ask: ReturnType<typeof clientOf>, operator: ReturnType<typeof clientOf>, item: string) {
  const both = bothOf(operator);
  const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' };
  await bothOf(ask)(`${TENANT}/item/${item}/rerun`, post);
  await both(`${TENANT}/item/${item}/rerun`, post);
  await both(`${TENANT}/item/${UNKNOWN_UUID}/rerun`, post);
  await both(`${TENANT}/item/${item}/rerun`, { ...post, headers: { 'content-type': 'text/plain' } });
}

async function requests(ask: ReturnType<typeof clientOf>, operator: ReturnType<typeof clientOf>) {
  const both = bothOf(operator);
  const headers = { 'content-type': 'application/json' };
  const post = (body: unknown, more = headers) => ({
    method: 'POST',
    headers: more,
    body: JSON.stringify(body),
  });
  const dequeue = `${TENANT}/project/org/project/dequeue`;
  const promote = `${TENANT}/promote`;
  const enqueue = `${TENANT}/project/org/project/enqueue`;
  for (const path of [dequeue, promote, enqueue]) await bothOf(ask)(path, post({}));
  await ask('/api/otlp/v1/traces', post({ resourceSpans: [] }));
  await ask('/api/components/merger-0/pause', post({}));
  await ask('/api/connection/local/payload', post({}));
  await operator('/api/otlp/v1/traces', post({ resourceSpans: [] }));
  await operator('/api/otlp/v1/traces', post({ resourceSpans: 1 }));
  await operator('/api/otlp/v1/traces', post({}, { 'content-type': 'text/plain' }));
  await operator('/api/components/merger-0/pause', post({}));
  await operator('/api/components/merger-0/resume', post({}));
  await operator('/api/components/merger-0/nonsense', post({}));
  await operator('/api/components/nobody-0/stop', post({}));
  await ask('/api/nodes/web1/hold', post({ reason: 'a new disk' }));
  await operator('/api/nodes/web1/hold', post({ reason: 'a new disk' }));
  await operator('/api/nodes/web1/hold', post({}));
  await operator('/api/nodes/web1/nonsense', post({}));
  await operator('/api/nodes/web1/release', { ...post(''), headers: { 'content-type': 'text/plain' } });
  const autohold = `${TENANT}/project/org/project/autohold`;
  const hold = { job: 'unit', reason: 'look', count: 1, node_hold_expiration: 60 };
  await ask(autohold, post(hold));
  await operator(autohold, post(hold));
  await operator(`${TENANT}/autohold`);
  await operator(`${TENANT}/autohold/0000000000`);
  for (const wrong of [{ ...hold, count: 0 }, { ...hold, change: 'a', ref: 'b' }, { ...hold, ref: '(' }, 1])
    await operator(autohold, post(wrong));
  await operator(`${TENANT}/project/nothing/autohold`, post(hold));
  await operator(autohold, post(hold, { 'content-type': 'text/plain' }));
  await ask(`${TENANT}/autohold/0000000000`, { method: 'DELETE' });
  await operator(`${TENANT}/autohold/0000000000`, { method: 'DELETE' });
  await operator(`${TENANT}/autohold/0000000000`, { method: 'DELETE' });
  for (const path of ['/api/authorizations', `${TENANT}/authorizations`]) await operator(path);
  await both(enqueue, post({}));
  await both(enqueue, post({ pipeline: 'check', change: 'master/nothing' }));
  await both(enqueue, post({ pipeline: 'check', change: 'master/C,00000000' }));
  await both(enqueue, { ...post(''), headers: { 'content-type': 'text/plain' } });
  const freeze = `${TENANT}/project/org/project/freeze-pipeline`;
  await ask(freeze, post({ pipeline: 'check', ref: 'refs/heads/master' }));
  await operator(freeze, post({ pipeline: 'check', ref: 'refs/heads/master' }));
  await operator(freeze, post({ pipeline: 'nothing', ref: 'refs/heads/master' }));
  await operator(freeze, post({ pipeline: 'check' }));
  await operator(freeze, { ...post(''), headers: { 'content-type': 'text/plain' } });
  await operator(`${TENANT}/project/nothing/freeze-pipeline`, post({ pipeline: 'check', ref: 'x' }));
  await operator(enqueue, post({ pipeline: 'check', ref: 'refs/heads/master', parameters: { a: 1 } }));
  await both(promote, post({}));
  await both(promote, post({ pipeline: 'check', changes: ['nothing'] }));
  await both(promote, post({ pipeline: 'check', changes: ['master/C'] }));
  await both(promote, { ...post(''), headers: { 'content-type': 'text/plain' } });
  await both(dequeue, post({}));
  await both(dequeue, post({ pipeline: 'check', change: 'nothing' }));
  await both(dequeue, post({ pipeline: 'check', change: 'master/C' }));
  await both(dequeue, { ...post(''), headers: { 'content-type': 'text/plain' } });
}

async function streamed(contract: Contract, { api }: World): Promise<void> {
  const stop = new AbortController();
  const body = await api.stream(`${TENANT}/events`, stop.signal);
  let text = '';
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (text.includes('\n\n') && text.includes('data: ')) break;
  }
  stop.abort();
  const data = text.split('\n').find(line => line.startsWith('data: ')) ?? '';
  const { set }: { set: { readonly [name: string]: unknown } } = JSON.parse(data.slice('data: '.length));
  const kinds = {
    tenant: 'LiveTenant',
    pipeline: 'LivePipeline',
    item: 'Item',
    forecast: 'Forecast',
  } as const;
  for (const [name, document] of Object.entries(set)) {
    const [kind = ''] = name.split('/');
    const schema = Object.entries(kinds).find(([each]) => each === kind)?.[1] ?? kind;
    expect(contract.problemsOf(schema, document), name).toEqual([]);
  }
  expect(Object.keys(set)).toEqual(expect.arrayContaining(['tenant', 'pipeline/check']));
}

const expectedTrouble = [/a webhook was refused/];
story('every answer is as the description says', { layout, expectedTrouble }, async world => {
  const contract = contractOf(await world.api.get('/openapi.json'));
  const ask = clientOf(contract, { kind: 'http', root: world.api.root });
  const operator = clientOf(contract, { kind: 'socket', path: world.operator.root });
  await world.propose('A');
  await world.propose('B');
  world.fail('unit', 'B');
  await world.runs('unit: A', 'unit: B');
  world.release(/./);
  await world.leaves('A', 'SUCCESS', 'check');
  await world.leaves('B', 'FAILURE', 'check');
  await world.propose('C');
  await world.runs('unit: C');
  await streamed(contract, world);
  await questions(ask, world, world.item('C')?.uuid ?? UNKNOWN_UUID);
  await halts(ask, operator);
  await reruns(ask, operator, world.item('C')?.uuid ?? UNKNOWN_UUID);
  await requests(ask, operator);
  await world.leaves('C', 'DEQUEUED', 'check');

  const answered = new Set([...contract.seen].map(each => each.split(' ').slice(0, 2).join(' ')));
  expect(contract.operations.filter(each => !answered.has(each))).toEqual([]);
});

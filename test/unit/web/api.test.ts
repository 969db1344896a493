import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { LeftQuestion } from '../../../src/history/find-items.ts';
import { spanIdOf } from '../../../src/lib/ids.ts';
import { jobExecutionSpanId } from '../../../src/tracing/span-ids.ts';
import { MOST_ITEMS } from '../../../src/web/delays-route.ts';
import { MOST_WAITING_ANSWERS } from '../../../src/web/shared-answers.ts';
import { type Contract, contractOf, type Described } from '../../fake/contract.ts';
import { type FakeWeb, fakeWeb } from './fake-web.ts';
import { finishedItems } from './sample-gate.ts';
import { at, uuidOf } from './sample-item.ts';

let web: FakeWeb;
let contract: Contract;
beforeAll(async () => {
  web = await fakeWeb();
  contract = contractOf((await (await fetch(`${web.url}/openapi.json`)).json()) as Described);
});
afterAll(() => web.close());

async function get(path: string) {
  const response = await fetch(`${web.url}${path}`);
  const text = await response.text();
  const type = response.headers.get('content-type') ?? '';
  expect(contract.problems({ method: 'GET', path, status: response.status, type, text }), path).toEqual([]);
  return {
    response,
    status: response.status,
    text,
    json:
      response.headers.get('content-type')?.startsWith('application/json') === true
        ? JSON.parse(text)
        : undefined,
  };
}

describe('the status', () => {
  test('has the shape Zuul clients read, with our block per item', async () => {
    const { json, response } = await get('/api/tenant/main/status');

    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(response.headers.get('cache-control')).toBe('public, max-age=1');
    expect(response.headers.get('last-modified')).toMatch(/GMT$/);
    const { pipelines, ...rest } = json;
    expect(rest).toEqual({
      zuul_version: '0.1.0',
      last_reconfigured: Date.UTC(2026, 10, 20, 11, 50),
      trigger_event_queue: { length: 2 },
      management_event_queue: { length: 0 },
      connection_event_queues: { local: { length: 1 } },
      gatehouse: {
        tracing: {
          waiting: 12,
          oldestWaiting: at(299),
          delivered: 4031,
          lost: {},
          problem: null,
          sender: null,
        },
      },
    });
    expect(
      pipelines.map((pipeline: { name: string; change_queues: unknown[] }) => [
        pipeline.name,
        pipeline.change_queues.length,
      ]),
    ).toEqual([
      ['check', 2],
      ['gate', 1],
      ['post', 0],
    ]);
    const [queue] = pipelines[1].change_queues;
    expect({ ...queue, heads: queue.heads.map((head: unknown[]) => head.length) }).toEqual({
      name: 'integrated',
      branch: null,
      window: 5,
      heads: [6],
    });
  });

  test('shows an item with its refs, jobs, failing reasons and resets', async () => {
    const [item] = (await get('/api/tenant/main/status/change/master%2Fdark-mode')).json;
    const failing = (await get('/api/tenant/main/status/change/master/fast-login')).json[0];

    expect(failing.failing_reasons).toEqual(['at least one job failed']);
    expect(failing.items_behind).toEqual([]);
    expect(item).toMatchObject({
      id: uuidOf('dark-mode'),
      live: true,
      active: true,
      item_ahead: uuidOf('retry-budget'),
      items_behind: [uuidOf('fix-typo')],
      failing_reasons: [],
      enqueue_time: Date.UTC(2026, 10, 20, 12, 2, 30),
      refs: [
        {
          id: expect.stringMatching(/^master\/dark-mode,[0-9a-f]{8}$/),
          project: 'acme/app',
          project_canonical: 'git.example.org/acme/app',
          owner: 'ada',
        },
      ],
      gatehouse: {
        state: 'running',
        subject: null,
        trace_url: `http://localhost:16686/trace/${uuidOf('dark-mode')}?uiFind=${uuidOf('dark-mode').slice(0, 16)}`,
        page: `${web.url}/t/main/item/${uuidOf('dark-mode')}`,
      },
    });
    expect(item.gatehouse.resets).toEqual([
      {
        at: Date.UTC(2026, 10, 20, 12, 4, 22),
        code: 'item-ahead-failed',
        number: 1,
        text: expect.stringMatching(
          /^an item ahead failed: unit-tests of acme\/app master\/fast-login,[0-9a-f]{8} ended with FAILURE$/,
        ),
        brief: expect.stringMatching(/^unit-tests of acme\/app master\/fast-login/),
        lostMs: 237_000,
      },
    ]);
    expect(item.jobs[1]).toEqual({
      name: 'unit-tests',
      uuid: uuidOf('dark-mode', 'build', '2', 'unit-tests', '1'),
      result: null,
      voting: true,
      dependencies: [],
      pipeline: 'gate',
      tries: 1,
      queued: false,
      canceled: false,
      paused: false,
      pre_fail: false,
      retry: false,
      waiting_status: null,
      execute_time: Date.UTC(2026, 10, 20, 12, 4, 23) / 1000 + 0.5,
      start_time: Date.UTC(2026, 10, 20, 12, 4, 30) / 1000,
      end_time: null,
      estimated_time: null,
      elapsed_time: 30_000,
      remaining_time: null,
      url: `stream/${uuidOf('dark-mode', 'build', '2', 'unit-tests', '1')}?logfile=console.log`,
      finger_url: null,
      report_url: `${web.url}/t/main/build/${uuidOf('dark-mode', 'build', '2', 'unit-tests', '1')}`,
    });
    expect(item.jobs[2]).toMatchObject({
      name: 'integration',
      uuid: null,
      waiting_status: 'dependencies: unit-tests',
    });
  });

  test('estimates a running job from its last successes', async () => {
    const [item] = (await get('/api/tenant/main/status/change/master/retry-budget')).json;
    expect(item.jobs.find((job: { name: string }) => job.name === 'integration')).toMatchObject({
      tries: 2,
      retry: true,
      estimated_time: 44,
      elapsed_time: 104_000,
      remaining_time: 0,
    });
    expect(item.remaining_time).toBe(0);
  });

  test('of an unknown change is an empty list', async () => {
    expect((await get('/api/tenant/main/status/change/99,1')).json).toEqual([]);
  });
});

describe('the small lists', () => {
  test.each([
    ['/api/tenants', [{ name: 'main', projects: 2, queue: 8 }]],
    [
      '/api/connections',
      [
        {
          ...{ name: 'local', driver: 'git', canonical_hostname: 'git.example.org' },
          gatehouse: {
            health: {
              ...{ state: 'limited', text: 'HTTP 403', limited_until: null, last_event_at: 1795000000000 },
              ...{ missed: 2, reported_at: 1795000001000, holder: 'ci1/4711', waiting_count: 1 },
              waiting: [
                {
                  ...{ lane: 'local/acme/app', reason: 'limited', text: 'HTTP 403' },
                  ...{ since: 1795000000500, retry_at: 1795000030000 },
                },
              ],
            },
          },
        },
        {
          ...{ name: 'hooks', driver: 'fake', canonical_hostname: 'hooks.example.org' },
          gatehouse: { health: null },
        },
      ],
    ],
    ['/api/tenant/main/jobs', [{ name: 'lint' }, { name: 'unit-tests' }]],
    [
      '/api/tenant/main/projects',
      [
        {
          name: 'acme/app',
          connection_name: 'local',
          canonical_name: 'git.example.org/acme/app',
          type: 'untrusted',
        },
        {
          name: 'acme/lib',
          connection_name: 'local',
          canonical_name: 'git.example.org/acme/lib',
          type: 'untrusted',
        },
      ],
    ],
    [
      '/api/tenant/main/pipelines',
      ['check', 'gate', 'post'].map(name => ({
        name,
        manager: name === 'gate' ? 'dependent' : 'independent',
        triggers: [{ name: 'local', driver: 'git' }],
      })),
    ],
    [
      '/api/tenant/main/config-errors',
      [
        {
          source_context: { project: 'acme/lib', branch: 'master', path: '.zuul.yaml' },
          error: 'local/acme/lib@master:.zuul.yaml:4:3: unknown key "tiemout", did you mean "timeout"?',
          short_error: 'unknown-key',
          severity: 'error',
          name: 'unknown-key',
          gatehouse: { line: 4, column: 3, text: 'unknown key "tiemout", did you mean "timeout"?' },
        },
        {
          source_context: { project: null, branch: null, path: 'connection local' },
          error: 'connection local: lands changes of a cycle one by one',
          short_error: 'refused-by-host',
          severity: 'warning',
          name: 'refused-by-host',
          gatehouse: { line: null, column: null, text: 'lands changes of a cycle one by one' },
        },
      ],
    ],
  ])('%s', async (path, expected) => {
    const { json, status } = await get(path);
    expect(status).toBe(200);
    expect(json).toEqual(expected);
  });

  test.each([
    ['', ['unknown-key', 'refused-by-host']],
    ['?project=acme/lib&branch=master&severity=error&name=unknown-key', ['unknown-key']],
    ['?project=acme/lib&branch=devel', []],
    ['?severity=warning', ['refused-by-host']],
    ['?skip=1', ['refused-by-host']],
    ['?limit=1', ['unknown-key']],
    ['?limit=1&skip=2', []],
  ])('errors of the configuration are filtered as Zuul does it: %s', async (query, expected) => {
    const { json } = await get(`/api/tenant/main/config-errors${query}`);
    expect(json).toEqual(expected.map(name => expect.objectContaining({ name })));
  });

  test('a filter that is none is refused', async () => {
    expect((await get('/api/tenant/main/config-errors?sverity=error')).status).toBe(400);
    expect((await get('/api/tenant/main/config-errors?limit=0')).status).toBe(400);
  });

  test('the index names every path', async () => {
    expect((await get('/api')).json).toMatchObject({
      status: '/api/tenant/{tenant}/status',
      builds: '/api/tenant/{tenant}/builds',
    });
    expect((await get('/api/info')).json).toMatchObject({ info: { capabilities: { job_history: true } } });
    expect((await get('/api/tenant/main/info')).json).toMatchObject({ info: { tenant: 'main' } });
  });
});

describe('history', () => {
  test('builds are listed with the filters of Zuul', async () => {
    const { json } = await get('/api/tenant/main/builds?project=acme/lib&job_name=lint&limit=1');
    expect(json).toHaveLength(1);
    expect(json[0]).toMatchObject({
      job_name: 'lint',
      result: 'SUCCESS',
      log_url: `${web.url}/api/tenant/main/build/${json[0].uuid}/logs/`,
      ref: { project: 'acme/lib' },
    });
    expect((await get('/api/tenant/main/builds?project=acme/lib&project=acme/app')).json).toHaveLength(8);
    expect((await get('/api/tenant/main/buildsets?result=SUCCESS')).json).toMatchObject([
      { result: 'SUCCESS', gatehouse: { number: 2 } },
    ]);
  });

  test('a finished buildset has its builds', async () => {
    const { json } = await get(`/api/tenant/main/buildset/${uuidOf('metrics', 'buildset', '2')}`);
    expect(json.builds.map((build: { job_name: string }) => build.job_name)).toEqual([
      'lint',
      'unit-tests',
      'integration',
    ]);
  });

  test('a build and a buildset that still run are found, too', async () => {
    const build = (
      await get(`/api/tenant/main/build/${uuidOf('retry-budget', 'build', '1', 'integration', '2')}`)
    ).json;
    expect(build).toMatchObject({
      _id: null,
      job_name: 'integration',
      result: null,
      start_time: '2026-11-20T12:03:16',
      end_time: null,
      gatehouse: { attempt: 2 },
    });
    const buildset = (await get(`/api/tenant/main/buildset/${uuidOf('retry-budget', 'buildset', '1')}`)).json;
    expect(buildset.builds).toHaveLength(5);
    expect(buildset.builds.filter((each: { final: boolean }) => !each.final)).toMatchObject([
      {
        job_name: 'integration',
        result: 'RETRY',
        final: false,
        error_detail: 'the executor lost its connection',
      },
    ]);
  });

  test('finished items are listed newest first', async () => {
    const { json } = await get('/api/tenant/main/items?limit=2');
    expect(json).toMatchObject([
      { uuid: uuidOf('spike'), result: 'DEQUEUED', reason: 'abandoned', resets: 0 },
      { uuid: uuidOf('metrics'), result: 'SUCCESS', reason: 'reported', resets: 1 },
    ]);
  });

  test('the decisions about a change are listed in order', async () => {
    for (const path of ['master/fast-login', 'master%2Ffast-login']) {
      const { json } = await get(`/api/tenant/main/changes/${path}/decisions?project=acme/app`);
      expect(json.decisions.map((decision: { code: string }) => decision.code)).toEqual([
        'trigger-matched',
        'enqueued',
      ]);
    }
    expect((await get('/api/tenant/main/changes/master/other/decisions')).json).toEqual({
      change: 'master/other',
      decisions: [],
    });
  });
});

describe('a badge', () => {
  test('says whether the last buildset passed', async () => {
    const passing = await get('/api/tenant/main/badge?project=acme/lib&pipeline=gate');
    expect(passing.response.headers.get('content-type')).toBe('image/svg+xml; charset=utf-8');
    expect(passing.text).toContain('passing');
    expect((await get('/api/tenant/main/badge?project=acme/app')).text).toContain('failing');
    expect((await get('/api/tenant/main/badge?project=acme/none')).status).toBe(404);
    expect((await get('/api/tenant/main/badge?nonsense=1')).status).toBe(400);
  });
});

describe('an item', () => {
  test('is shown whether it is live or finished', async () => {
    expect((await get(`/api/tenant/main/item/${uuidOf('docs')}`)).json).toMatchObject({
      uuid: uuidOf('docs'),
      active: false,
      state: { name: 'window' },
      left: null,
    });
    expect((await get(`/api/tenant/main/item/${uuidOf('spike')}`)).json).toMatchObject({
      left: { result: 'DEQUEUED', text: 'the change was abandoned' },
    });
  });

  test('has a trace in OTLP/JSON in which open spans are marked', async () => {
    const live = (await get(`/api/tenant/main/item/${uuidOf('docs')}/trace`)).json;
    const [span] = live.resourceSpans[0].scopeSpans[0].spans;
    expect(span).toEqual({
      traceId: uuidOf('docs'),
      spanId: uuidOf('docs').slice(0, 16),
      name: 'QueueItem gate',
      kind: 2,
      startTimeUnixNano: `${BigInt(Date.UTC(2026, 10, 20, 12, 3, 50)) * 1_000_000n}`,
      attributes: [
        { key: 'gatehouse.tenant', value: { stringValue: 'main' } },
        { key: 'resets', value: { intValue: '0' } },
        { key: 'share', value: { doubleValue: 0.5 } },
        { key: 'done', value: { boolValue: false } },
        { key: 'changes', value: { arrayValue: { values: [{ stringValue: 'a' }, { stringValue: 'b' }] } } },
        { key: 'gatehouse.open', value: { boolValue: true } },
      ],
      events: [
        {
          timeUnixNano: `${BigInt(Date.UTC(2026, 10, 20, 12, 3, 50)) * 1_000_000n + 5_000_000n}`,
          name: 'moved',
          attributes: [],
        },
      ],
      links: [
        {
          traceId: uuidOf('docs', 'event'),
          spanId: uuidOf('docs', 'event').slice(0, 16),
          attributes: [{ key: 'gatehouse.link.relation', value: { stringValue: 'follows' } }],
        },
      ],
      status: { code: 0 },
    });

    const finished = (await get(`/api/tenant/main/item/${uuidOf('schema')}/trace`)).json.resourceSpans[0]
      .scopeSpans[0].spans[0];
    expect(finished.endTimeUnixNano).toBe(`${BigInt(Date.UTC(2026, 10, 20, 11, 57)) * 1_000_000n}`);
    expect(finished.status).toEqual({ code: 2, message: 'job-failed' });
    expect(JSON.stringify(finished)).not.toContain('gatehouse.open');
  });

  test('is explained: where its time went and what its resets cost', async () => {
    const { json } = await get(`/api/tenant/main/item/${uuidOf('dark-mode')}/explain`);
    expect(json).toMatchObject({
      item: uuidOf('dark-mode'),
      duration: '150000000000',
      ended: null,
      lostBuildTime: '237000000000',
      resets: [{ code: 'item-ahead-failed', culprit: { job: 'unit-tests' } }],
    });
    expect(json.criticalPath.length).toBeGreaterThan(3);
  });
});

describe('an explanation', () => {
  test('names whom the item waits for with what that one does, and what its jobs usually take', async () => {
    const { json } = await get(`/api/tenant/main/item/${uuidOf('fast-login')}/explain`);
    expect(json.waitedFor).toMatchObject([
      {
        item: uuidOf('retry-budget'),
        change: 'acme/lib master/retry-budget',
        duration: '38000000000',
        meanwhile: [{ state: 'running', duration: '38000000000' }],
      },
    ]);
    expect(json.builds.find(({ job }: { job: string }) => job === 'lint').usual).toMatch(/^\d+$/);
  });
});

describe('a link into the trace viewer', () => {
  test('leads to all traces of an item by the id of its event, from before the event came in', async () => {
    const { json } = await get(`/api/tenant/main/item/${uuidOf('fast-login')}`);
    const url = new URL(json.tracesUrl);
    expect(url.searchParams.get('tags')).toBe(
      JSON.stringify({ 'gatehouse.event.id': uuidOf('fast-login', 'event') }),
    );
    expect(url.searchParams.get('start')).toBe(String(BigInt(at(129.6 - 60)) / 1000n));
  });

  test('leads to the span of a build', async () => {
    const build = uuidOf('metrics', 'build', '2', 'unit-tests', '1');
    const { json } = await get(`/api/tenant/main/build/${build}`);
    expect(json.gatehouse.trace_url).toBe(
      `http://localhost:16686/trace/${uuidOf('metrics')}?uiFind=${build.slice(0, 16)}`,
    );
  });

  test('leads to the trace of its own that a long job has', async () => {
    const [item] = finishedItems();
    const build = uuidOf('long', 'build');
    const builds = item!.buildset.builds
      .slice(0, 1)
      .map(each => ({ ...each, uuid: build, ownTrace: true as const }));
    const long = {
      ...item!,
      uuid: uuidOf('long'),
      earlier: [],
      buildset: { ...item!.buildset, uuid: uuidOf('long', 'set'), builds },
    };
    const other = await fakeWeb();
    await other.history.record([{ kind: 'item', item: long }]);
    const answer = await fetch(`${other.url}/api/tenant/main/build/${build}`);
    const json: { readonly gatehouse: { readonly trace_url: string } } = JSON.parse(await answer.text());
    await other.close();
    expect(json.gatehouse.trace_url).toBe(
      `http://localhost:16686/trace/${build}?uiFind=${jobExecutionSpanId(spanIdOf(build))}`,
    );
  });
});

describe('the delays of a pipeline', () => {
  const path = '/api/tenant/main/pipeline/gate/delays';

  test('count what left and what is queued, with links to the slowest', async () => {
    const { json } = await get(path);
    expect(json).toMatchObject({
      tenant: 'main',
      pipeline: 'gate',
      truncated: false,
      items: 8,
      queued: 6,
      left: 2,
      queues: [{ name: 'integrated', window: 5, items: 6 }],
    });
    expect(json.since).toBe(String(BigInt(json.until) - 86_400_000_000_000n));
    expect(json.resets.byJob).toMatchObject([{ job: 'unit-tests', resets: 4, items: 4 }]);
    expect(json.slowest[0]).toMatchObject({
      item: uuidOf('retry-budget'),
      result: null,
      page: `${web.url}/t/main/item/${uuidOf('retry-budget')}`,
      traceUrl: expect.stringContaining(`/trace/${uuidOf('retry-budget')}?uiFind=`),
    });
  });

  test('draw the rows that are asked for, each with its trace', async () => {
    const rowsOf = async (query: string) => {
      const { json } = await get(`${path}?${query}`);
      return json.picture;
    };
    const all = await rowsOf('since=24h');
    expect(all).toMatchObject({ items: 8, skip: 0 });
    expect(all.rows.map(({ item }: { readonly item: string }) => item)).toContain(uuidOf('metrics'));
    expect(all.rows.at(-1)).toMatchObject({
      ...{ item: uuidOf('docs'), traceUrl: expect.stringContaining(`/trace/${uuidOf('docs')}?uiFind=`) },
    });
    expect((await rowsOf('limit=2&skip=1')).rows.map(({ item }: { readonly item: string }) => item)).toEqual([
      uuidOf('fix-typo'),
      uuidOf('api-v2'),
    ]);
    expect((await rowsOf('limit=0')).rows).toEqual([]);
  });

  test.each(['1h', '7d', '2026-11-20T11:00:00Z', '2026-11-20T13:00:00.5%2B02:00'])(
    'since %s are asked for',
    async since => {
      expect((await get(`${path}?since=${since}`)).status).toBe(200);
    },
  );

  test.each([
    ['since=yesterday', 'since: "yesterday" is neither a time such as'],
    ['since=0h', 'since: it is not in the past'],
    ['since=2027-01-01T00:00:00Z', 'since: it is not in the past'],
    ['since=401d', 'since: it is more than 400 days ago'],
    ['since=5', 'since: "5" is neither a time such as'],
    ['sinc=1h', 'sinc: unknown parameter, did you mean "since"?'],
    ['limit=101', 'limit: 101 is out of range, 0 to 100'],
    ['skip=-1', 'skip: -1 is out of range'],
  ])('with ?%s are refused', async (query, error) => {
    const { status, json } = await get(`${path}?${query}`);
    expect([status, json.error]).toEqual([400, expect.stringContaining(error)]);
  });

  test('are computed for a bounded number of clients: the others get Retry-After', async () => {
    const asked = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<void>();
    const busy = await fakeWeb();
    const itemsLeft = busy.history.itemsLeft.bind(busy.history);
    Object.assign(busy.history, {
      async itemsLeft(question: LeftQuestion) {
        asked.resolve();
        await answer.promise;
        return itemsLeft(question);
      },
    });
    const answers = Array.from({ length: MOST_WAITING_ANSWERS + 1 }, (_, n) =>
      fetch(`${busy.url}${path}?since=${n + 1}h`),
    );
    const refused = await Promise.race(answers);
    await asked.promise;
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '10']);
    answer.resolve();
    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    expect(statuses.filter(status => status === 200)).toHaveLength(MOST_WAITING_ANSWERS);
    await busy.close();
  });

  test('of an unknown pipeline name those there are', async () => {
    const { status, json } = await get('/api/tenant/main/pipeline/gat/delays');
    expect([status, json.error]).toEqual([404, 'tenant main has no pipeline "gat", did you mean "gate"?']);
  });

  test('are counted from the newest items on when there are too many, and the answer says since when', async () => {
    const busy = await fakeWeb();
    const [, merged] = finishedItems();
    const items = Array.from({ length: MOST_ITEMS + 5 }, (_, index) => ({
      ...merged!,
      uuid: uuidOf('many', String(index)),
      earlier: [],
      buildset: { ...merged!.buildset, uuid: uuidOf('many', 'buildset', String(index)), builds: [] },
      phase: { phase: 'left', at: at(index / 100), reason: 'reported', result: 'SUCCESS' } as const,
    }));
    await busy.history.record(items.map(item => ({ kind: 'item', item }) as const));
    const answer = await fetch(`${busy.url}${path}`);
    expect(await answer.json()).toMatchObject({
      truncated: true,
      left: MOST_ITEMS,
      covered: at(0.05),
      leftPerHour: expect.any(Number),
    });
    await busy.close();
  });
});

describe('a log', () => {
  const build = uuidOf('retry-budget', 'build', '1', 'integration', '2');

  test('is plain text, read in pieces', async () => {
    web.logs.set(build, { text: '<b>first</b>\nsecond\n', complete: false });
    const first = await get(`/api/tenant/main/build/${build}/log?offset=0&limit=13`);
    expect(first.text).toBe('<b>first</b>\n');
    expect(first.response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(first.response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(first.response.headers.get('x-next-offset')).toBe('13');
    expect(first.response.headers.get('x-complete')).toBe('false');

    web.logs.set(build, { text: '<b>first</b>\nsecond\n', complete: true });
    // What was read is shared for a moment.
    await vi.waitFor(async () => {
      const rest = await get(`/api/tenant/main/build/${build}/log?offset=13`);
      expect(rest.text).toBe('second\n');
      expect(rest.response.headers.get('x-complete')).toBe('true');
    });
  });

  test('of a build without output, or of another tenant, is not there', async () => {
    expect((await get(`/api/tenant/main/build/${uuidOf('nothing')}/log`)).status).toBe(404);
    web.logs.set(uuidOf('foreign'), { text: 'secret', complete: true });
    expect((await get(`/api/tenant/main/build/${uuidOf('foreign')}/log`)).status).toBe(404);
  });
});

describe('bad requests', () => {
  test.each([
    ['builds?limit=-1', 'limit'],
    ['builds?limit=0', 'limit'],
    ['builds?limit=1001', 'limit'],
    ['builds?limit=abc', 'limit'],
    ['builds?limit=1e3', 'limit'],
    ['builds?limit=5&limit=6', 'limit'],
    ['builds?limit[]=5', 'limit[]'],
    ['builds?skip=-5', 'skip'],
    ['builds?voting=maybe', 'voting'],
    ['builds?final=', 'final'],
    ['builds?complete=yes', 'complete'],
    ['builds?idx_min=x', 'idx_min'],
    [`builds?project=${'x'.repeat(1001)}`, 'project'],
    ['builds?branch=a%00b', 'branch'],
    [`builds?${'ref=a&'.repeat(21)}`, 'ref'],
    ['builds?proejct=a', 'proejct'],
    ['buildsets?job_name=a', 'job_name'],
    ['items?limit=101', 'limit'],
    ['changes/x/decisions?limit=0', 'limit'],
    [`build/${'0'.repeat(32)}/log?offset=-1`, 'offset'],
  ])('%s is refused and names %s', async (path, parameter) => {
    const { status, json } = await get(`/api/tenant/main/${path}`);
    expect(status).toBe(400);
    expect(json.place).toBe(`query parameter ${parameter}`);
    expect(json.error).toContain(`${parameter}:`);
  });

  test('an unknown filter is answered with the nearest one', async () => {
    expect((await get('/api/tenant/main/builds?proejct=a')).json.error).toBe(
      'proejct: unknown parameter, did you mean "project"?',
    );
  });

  test.each([
    ['/api/tenant/other/status', 404],
    ['/api/tenant/other/events', 404],
    ['/api/tenant/main/build/nonsense', 404],
    [`/api/tenant/main/build/${'a'.repeat(32)}`, 404],
    ['/api/tenant/main/build/*', 404],
    ['/api/tenant/main/buildset/..%2F..%2Fetc', 404],
    ['/api/tenant/main/item/x', 404],
    [`/api/tenant/main/item/${'a'.repeat(32)}/trace`, 404],
    ['/api/nothing', 404],
    ['/api/tenant/main/nothing', 404],
    ['/nothing', 404],
    ['/page/../deps.ts', 404],
    ['/page/%2e%2e/deps.ts', 404],
    ['/page/..%2fdeps.ts', 404],
    ['/api/tenant/%ff/status', 400],
    ['/api/tenant/%00/status', 404],
    [`/api/tenant/${'x'.repeat(10_000)}/status`, 404],
    ['/page/%00', 404],
  ])('%s is %i in JSON', async (path, status) => {
    const answer = await get(path);
    expect(answer.status).toBe(status);
    const { error } = answer.json as { error: unknown };
    expect(answer.json).toEqual({
      error: expect.any(String),
      description: error,
      place: expect.any(String),
    });
  });

  test('no bad request caused an internal error', () => {
    expect(web.warnings).toEqual([]);
  });

  test.each(['POST', 'PUT', 'DELETE', 'PATCH'])('%s of what can only be read is 405', async method => {
    const response = await fetch(`${web.url}/api/tenant/main/status`, { method });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('GET');
    expect(response.headers.get('access-control-allow-origin')).toBeNull();
  });
});

describe('headers', () => {
  test('pages may run only our own scripts and not be framed', async () => {
    const { response } = await get('/');
    expect(response.status).toBe(200);
    expect(response.headers.get('content-security-policy')).toContain(
      "default-src 'none'; script-src 'self'; style-src 'self'",
    );
    expect(response.headers.get('x-frame-options')).toBe('DENY');
    expect(response.headers.get('x-powered-by')).toBeNull();
  });

  test('other pages may ask before they read', async () => {
    const response = await fetch(`${web.url}/api/tenants`, { method: 'OPTIONS' });
    expect(response.status).toBe(204);
    expect(response.headers.get('access-control-allow-methods')).toBe('GET, HEAD');
  });
});

describe('health', () => {
  test('is live as soon as it answers and ready when every component is', async () => {
    expect((await get('/health/live')).json).toEqual({ status: 'alive', version: '0.1.0' });
    expect((await get('/health/ready')).status).toBe(200);
    web.health = [
      { component: 'scheduler', ready: false, reason: 'reads the configuration of 2 projects' },
      { component: 'web', ready: true },
    ];
    const { status, json } = await get('/health/ready');
    expect(status).toBe(503);
    expect(json).toEqual({ status: 'not ready', components: web.health });
  });
});

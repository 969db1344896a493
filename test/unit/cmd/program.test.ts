/** The whole program, called with arguments, against a real HTTP server. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createApi } from '../../../src/cmd/client/api.ts';
import { currentView } from '../../../src/cmd/client/follow.ts';
import { runProgram } from '../../../src/cmd/commands/program.ts';
import { delaysOf } from '../../../src/explain/delays.ts';
import { addMilliseconds, fromMilliseconds } from '../../../src/lib/clock.ts';
import { parseUuid } from '../../../src/lib/ids.ts';
import { type CannedService, cannedService } from './canned-service.ts';
import {
  before,
  decision,
  gateView,
  item,
  NOW,
  passed,
  type Recorded,
  recordingIo,
  running,
} from './fixture.ts';

const directory = mkdtempSync(path.join(tmpdir(), 'gatehouse-program-'));
afterAll(() => rmSync(directory, { recursive: true }));

let service: CannedService;
let io: Recorded;

const login = item('1', 'acme/app master/login', { jobs: [running('unit', 12_000)] });
const inFourMinutes = {
  place: 1,
  expected: {
    what: 'lands',
    early: NOW + 100_000,
    likely: NOW + 250_000,
    late: NOW + 540_000,
    lands: 0.9,
    undisturbed: 1,
  },
  unknown: null,
};
const left = { at: NOW - 10_000, result: 'SUCCESS' as const, reason: 'reported' as const, text: 'reported' };
const done = item('2', 'acme/app master/done', {
  left,
  jobs: [passed('unit', 3000)],
  traceUrl: 'http://jaeger.example/trace/2',
});
const finished = {
  uuid: done.uuid,
  pipeline: 'gate',
  changes: done.changes,
  enqueuedAt: done.enqueuedAt,
  leftAt: left.at,
  result: 'SUCCESS',
  reason: 'reported',
  resets: 0,
};

beforeAll(async () => {
  service = await cannedService();
  const view = gateView([login]);
  service.send(
    {
      tenant: view.tenant,
      ...Object.fromEntries(view.pipelines.map(each => [`pipeline/${each.name}`, each])),
      [`item/${login.uuid}`]: login,
      'forecast/gate': { pipeline: 'gate', items: { [login.uuid]: inFourMinutes } },
    },
    NOW,
  );
  const span = {
    traceId: done.uuid,
    spanId: '2222222222222222',
    name: 'QueueItem gate acme/app',
    startTimeUnixNano: before(75),
    endTimeUnixNano: before(10),
  };
  for (const each of [login, done]) {
    service.answer(`/api/tenant/acme/item/${each.uuid}`, each);
    service.answer(`/api/tenant/acme/item/${each.uuid}/trace`, {
      resourceSpans: [{ scopeSpans: [{ spans: [span] }] }],
    });
  }
  service.answer('/api/tenant/acme/items', [finished]);
  service.answer('/api/tenant/acme/buildsets', []);
  service.answer('/api/tenant/acme/buildsets?limit=1&project=acme%2Fapp&change=master%2Fdone', [
    { refs: [], gatehouse: { item: done.uuid } },
  ]);
  service.answer('/api/tenant/acme/projects', [{ name: 'acme/app', connection_name: 'local' }]);
  service.answer('/api/tenant/acme/pipelines', [{ name: 'check' }, { name: 'gate' }]);
  service.answer('/api/tenant/acme/changes/master/login/decisions', {
    decisions: [
      decision(
        75,
        'enqueued',
        'gate',
        'acme/app master/login,11111111 entered queue integrated: event approved',
        { item: parseUuid(login.uuid) },
      ),
    ],
  });
  service.answer('/api/tenant/acme/changes/master/nope/decisions', { decisions: [] });
  service.answer(`/api/tenant/acme/item/${done.uuid}/explain`, {
    item: done.uuid,
    tenant: 'acme',
    pipeline: 'gate',
    changes: ['acme/app master/done,22222222'],
    enqueuedAt: before(75),
    until: before(10),
    duration: '65000000000',
    ended: { reason: 'reported', text: 'reported', result: 'SUCCESS' },
    withheld: null,
    stretches: [],
    totals: [{ state: 'running', kind: 'work', duration: '65000000000', share: 1 }],
    resets: [],
    takeovers: [],
    moreTakeovers: null,
    lostBuildTime: '0',
    builds: [],
    executorTroubles: [],
    nodeWaits: [],
    failedTests: [],
    criticalPath: [],
    waitedFor: [],
    executorQueueTime: '0',
    buildTime: '0',
  });
});

afterAll(() => service[Symbol.asyncDispose]());

beforeEach(() => {
  service.answer('/api/tenants', [{ name: 'acme', projects: 1, queue: 1 }]);
  io = recordingIo({ GATEHOUSE_URL: service.url, GATEHOUSE_CONFIG: service.config, COLUMNS: '100' });
});

function run(...args: string[]): Promise<number> {
  return runProgram(args, io);
}

describe('the commands', () => {
  test('status shows the queues', async () => {
    expect(await run('status')).toBe(0);
    expect(io.out()).toContain('  1 ● acme/app master/login,11111111');
    expect(io.out()).toContain('● unit 12s');
  });

  test('status --json answers with the documents', async () => {
    expect(await run('status', '--json', '--pipeline', 'gate')).toBe(0);
    const answer = JSON.parse(io.out());
    expect(answer.items).toEqual([login]);
    expect(answer.pipelines.map(({ name }: { name: string }) => name)).toEqual(['gate']);
  });

  test('components shows the processes, and asks for no tenant', async () => {
    const gatehouse = {
      id: 'merger-3',
      pid: 7,
      started_at: NOW - 65_000,
      labels: [],
      address: null,
      wanted: null,
      trouble: null,
    };
    const merger = { hostname: 'ci1', state: 'running', version: '1', gatehouse };
    service.answer('/api/components', { scheduler: [], merger: [merger], executor: [], web: [] });
    service.answer('/api/tenants', []);
    expect(await run('components')).toBe(0);
    expect(io.out()).toMatch(/● merger-3 {3}running {3}up .* ci1 {3}pid 7\n/);
    expect(await run('components', '--json')).toBe(0);
    expect(io.out()).toContain('"id": "merger-3"');
  });

  test.each([
    ['pause', 'pause', 'executor-4 takes no new work from now on'],
    ['resume', 'resume', 'executor-4 takes work again'],
    ['stop-gracefully', 'stop', 'executor-4 takes no new work and stops when its work is done'],
  ])('%s asks the service', async (command, action, answer) => {
    service.answer(`/api/components/executor-4/${action}`, { id: 'executor-4', wanted: 'x' });
    expect(await run(command, 'executor-4')).toBe(0);
    expect(io.out()).toBe(`${answer}\n`);
    expect(service.asked).toContain(`/api/components/executor-4/${action}`);
  });

  test('what the service refuses to ask is one line', async () => {
    expect(await run('pause', 'executor-9')).toBe(1);
    expect(io.err()).toBe('error: no such path: /api/components/executor-9/pause\n');
  });

  test('status of an unknown pipeline names those there are', async () => {
    expect(await run('status', '-p', 'deploy')).toBe(1);
    expect(io.err()).toBe('error: tenant acme has no pipeline "deploy"; it has: check, gate\n');
  });

  test('trace finds a live item by the beginning of its uuid', async () => {
    expect(await run('trace', '111111')).toBe(0);
    expect(io.out()).toContain('QueueItem gate acme/app');
    expect(io.out()).toContain(`page   ${service.url}/t/acme/item/${login.uuid}`);
  });

  test('trace finds a finished item by its change, and prints the link into the trace viewer', async () => {
    expect(await run('trace', 'acme/app', 'master/done', '--depth', '1')).toBe(0);
    expect(io.out()).toContain('trace  http://jaeger.example/trace/2');
  });

  test('trace --follow of an item that has left is shown at once', async () => {
    expect(await run('trace', '--follow', done.uuid)).toBe(0);
    expect(io.out()).toContain('QueueItem');
  });

  test('trace refuses a prefix that several items have', async () => {
    service.answer('/api/tenant/acme/items', [finished, { ...finished, uuid: `222222${'3'.repeat(26)}` }]);
    expect(await run('trace', '222222')).toBe(1);
    expect(io.err()).toContain('error: 2 items begin with 222222; give more digits:');
    expect(io.err()).toContain(`  ${done.uuid}  gate  acme/app master/done,22222222`);
    service.answer('/api/tenant/acme/items', [finished]);
  });

  test('explain shows where the time went', async () => {
    expect(await run('explain', 'acme/app', 'master/done')).toBe(0);
    expect(io.out()).toContain('Where the time went');
  });

  test('trace diff shows what took longer than in the last item that passed', async () => {
    const item = { item: done.uuid, changes: ['acme/app master/done,22222222'], ms: 65_000, resets: 0 };
    const times = { enqueuedAt: finished.enqueuedAt, until: finished.enqueuedAt };
    const path = `/api/tenant/acme/item/${done.uuid}/compare`;
    const comparison = {
      item: { ...item, ...times, result: 'SUCCESS' },
      other: { ...item, ...times, item: login.uuid, ms: 25_000, result: 'SUCCESS' },
      usualOf: 2,
      phases: [{ level: 'state', state: 'executor', ms: 41_000, other: 2000, usual: null, slower: true }],
    };
    service.answer(path, comparison);
    expect(await run('trace', 'diff', 'acme/app', 'master/done')).toBe(0);
    expect(io.out()).toMatch(/awaits executor +41s +2\.0s +– +– {2}slower/);
    service.answer(`${path}?with=${login.uuid}`, comparison);
    expect(await run('trace', 'diff', done.uuid, '--with', '111111', '--json')).toBe(0);
    expect(io.out()).toContain('"usualOf": 2');
  });

  test('delays shows where the time of a pipeline went, and where its page is', async () => {
    const now = fromMilliseconds(NOW);
    const day = addMilliseconds(now, -86_400_000);
    service.answer('/api/tenant/acme/pipeline/gate/delays?since=24h', {
      ...(await delaysOf([], { since: day, covered: day, until: now })),
      tenant: 'acme',
      pipeline: 'gate',
      queues: [],
    });
    expect(await run('delays', 'gate')).toBe(0);
    expect(io.out()).toBe(
      `gate of acme  the last 24h 00m\n  no item was there in that time\n\npage  ${service.url}/t/acme/pipeline/gate\n`,
    );
    expect(await run('delays', 'gate', '--json')).toBe(0);
    expect(io.out()).toContain('"leftPerHour": 0');
    expect(await run('delays', 'gate', '--since', '7d')).toBe(1);
    expect(service.asked).toContain('/api/tenant/acme/pipeline/gate/delays?since=7d');
  });

  test('night shows the last twelve hours of a gate, or of another period and pipeline', async () => {
    const now = fromMilliseconds(NOW);
    const evening = addMilliseconds(now, -43_200_000);
    service.answer('/api/tenant/acme/pipelines', [
      { name: 'check', manager: 'independent' },
      { name: 'gate', manager: 'dependent' },
    ]);
    service.answer('/api/tenant/acme/pipeline/gate/delays?since=12h', {
      ...(await delaysOf([], { since: evening, covered: evening, until: now })),
      ...{ tenant: 'acme', pipeline: 'gate', queues: [] },
    });
    expect(await run('night')).toBe(0);
    expect(io.out()).toContain('gate of acme  the last 12h 00m');
    expect(await run('night', 'gate', '--since', '8h')).toBe(1);
    expect(service.asked).toContain('/api/tenant/acme/pipeline/gate/delays?since=8h');
  });

  test('eta shows when items will probably land, and how right that was', async () => {
    expect(await run('eta', 'gate')).toBe(0);
    expect(io.out()).toBe(
      'gate 1  acme/app master/login,11111111  lands in about 4m 10s (1m 40s to 9m 00s)\n',
    );
    service.answer('/api/tenant/acme/pipeline/gate/forecast/calibration?since=14d', {
      pipeline: 'gate',
      since: Date.UTC(2026, 10, 14, 8, 30),
      items: 187,
      unknown: 2,
      inside: 0.813,
      before: 0.1,
      after: 0.087,
      error: 250_000,
      took: 1_520_000,
    });
    expect(await run('eta', 'gate', '--calibration', '--since', '14d')).toBe(0);
    expect(io.out()).toBe(
      [
        'gate 1  acme/app master/login,11111111  lands in about 4m 10s (1m 40s to 9m 00s)',
        'gate: 187 items landed since 2026-11-14 08:30 UTC, 81 % of them in their range; 80 % is right',
        '  10 % earlier, 9 % later',
        '  half of them within 4m 10s of the likely time, of 25m 20s that they took',
        '  2 landed without a forecast: their jobs were new',
        '',
      ].join('\n'),
    );
    expect(await run('eta', 'gaet')).toBe(1);
    expect(io.err()).toContain('tenant acme has no pipeline "gaet", did you mean "gate"?');
    expect(await run('eta', '--since', '1d')).toBe(1);
    expect(io.err()).toContain('--since needs --calibration');
  });

  test('why shows decisions and the item', async () => {
    expect(await run('why', 'acme/app', 'master/login')).toBe(0);
    expect(io.out()).toContain('● in gate for 1m 15s: running for 1m 00s');
    expect(io.out()).toContain('+ gate  entered queue integrated: event approved');
  });

  test.each([
    [['why', 'acme/ap', 'x'], 'tenant acme has no project "acme/ap", did you mean "acme/app"?'],
    [
      ['why', 'acme/app', 'master/login', '-p', 'gat'],
      'tenant acme has no pipeline "gat", did you mean "gate"?',
    ],
    [
      ['why', 'acme/app', 'master/nope'],
      'no event has named acme/app master/nope; was it pushed, and does the connection see it?',
    ],
    [
      ['trace', 'acme/app', 'master/nope'],
      'acme/app master/nope is not in tenant acme and never was; see "gatehouse why acme/app master/nope"',
    ],
    [['trace', 'abc'], '"abc" is too short: give at least 6 digits of the uuid'],
    [
      ['trace', 'master/login'],
      '"master/login" is not a uuid or the beginning of one; to name a change, write its project first: acme/app master/login',
    ],
    [
      ['explain', 'abcdef'],
      'no item in the queues of acme or among its last 1000 finished items begins with abcdef; give the whole uuid of an older item',
    ],
    [['status', '--tenant', 'acmee'], 'there is no tenant "acmee", did you mean "acme"?'],
  ])('%j is answered with one line', async (args, text) => {
    expect(await run(...args)).toBe(1);
    expect(io.err()).toBe(`error: ${text}\n`);
  });
});

describe('the tenant', () => {
  test('must be named when there are several', async () => {
    service.answer('/api/tenants', [{ name: 'acme' }, { name: 'beta' }]);
    expect(await run('status')).toBe(1);
    expect(io.err()).toBe('error: there are several tenants, choose one with --tenant: acme, beta\n');
    expect(await run('status', '--tenant', 'acme')).toBe(0);
  });

  test('may not be there yet', async () => {
    service.answer('/api/tenants', []);
    expect(await run('status')).toBe(1);
    expect(io.err()).toMatch(/^error: the service at .* has no tenant yet; .*\/health\/ready\n$/);
  });
});

describe('a service that cannot be asked', () => {
  test('because it is not running is one line', async () => {
    await using gone = await cannedService();
    const { url } = gone;
    await gone[Symbol.asyncDispose]();
    expect(await run('status', '--url', url)).toBe(1);
    expect(io.err()).toMatch(
      /^error: cannot reach http:\/\/127\.0\.0\.1:\d+ \(connect ECONNREFUSED [^)]*\); is the service running\? Name another address with --url\n$/,
    );
  });

  test('because another program answers is one line', async () => {
    service.answer('/api/tenants', '<html>');
    expect(await run('status')).toBe(1);
    expect(io.err()).toContain('did not answer with JSON; is Gatehouse at');
    io = recordingIo({ GATEHOUSE_URL: service.url });
    service.answer('/api/tenants', { hello: 'world' });
    expect(await run('status')).toBe(1);
    expect(io.err()).toContain('does not answer like Gatehouse');
  });

  test('because the address is none is said with its place', async () => {
    io = recordingIo({ GATEHOUSE_URL: 'localhost' });
    expect(await run('status')).toBe(1);
    expect(io.err()).toContain('GATEHOUSE_URL is "localhost", which is not an http address');
    expect(await run('status', '--url', 'ftp://x')).toBe(2);
  });

  test('ends a stream with an error that says so', async () => {
    await using other = await cannedService();
    const view = currentView(createApi(other.url), 'acme');
    const refused = expect(view).rejects.toThrow(/closed the connection|lost contact/);
    await expect.poll(() => other.asked.length).toBe(1);
    await other[Symbol.asyncDispose]();
    await refused;
  });
});

describe('what changes something', () => {
  const PAUSE = '/api/components/executor-4/pause';

  test.each<[string, Record<string, string>, string[]]>([
    ['the settings of an option', {}, ['--config']],
    ['the settings of the environment', { GATEHOUSE_CONFIG: 'config' }, []],
    ['the settings, though another service is read', { GATEHOUSE_URL: 'http://127.0.0.1:1' }, ['-c']],
  ])('goes over the socket that is named by %s', async (_how, environment, args) => {
    service.answer(PAUSE, {});
    const { GATEHOUSE_CONFIG } = environment;
    io = recordingIo({
      ...environment,
      ...(GATEHOUSE_CONFIG === undefined ? {} : { GATEHOUSE_CONFIG: service.config }),
    });
    const named = args.flatMap(option => [option, service.config]);
    expect([await run('pause', 'executor-4', ...named), io.err()]).toEqual([0, '']);
    expect(service.requests.findLast(({ path }) => path === PAUSE)).toMatchObject({ door: 'socket' });
  });

  test('goes to the address with a token', async () => {
    service.answer(PAUSE, {});
    expect(await run('pause', 'executor-4', '--auth-token', 'a.b.c')).toBe(0);
    const { door, headers } = service.requests.findLast(({ path }) => path === PAUSE) ?? {};
    expect([door, headers?.authorization]).toEqual(['port', 'Bearer a.b.c']);
  });

  test.each<[string, Record<string, string>, string[], RegExp]>([
    [
      'to an address without a token',
      {},
      ['--url', 'http://gate.example.org'],
      /^error: the service at http:\/\/gate\.example\.org accepts this only with a token \(see .*\); on its own machine, name its settings with --config instead\n$/,
    ],
    [
      'when there are no settings',
      { GATEHOUSE_CONFIG: '/nonexistent/gatehouse.conf' },
      [],
      /^error: the service's settings name its socket, but \/nonexistent\/gatehouse\.conf: cannot be read \(ENOENT\); name another file with --config; or send a token/,
    ],
  ])('goes nowhere %s', async (_when, environment, args, text) => {
    io = recordingIo(environment);
    const before = service.requests.length;
    expect(await run('pause', 'executor-4', ...args)).toBe(1);
    expect(io.err()).toMatch(text);
    expect(service.requests.length).toBe(before);
  });

  test('says how to go on when no web is there', async () => {
    await using gone = await cannedService();
    io = recordingIo({ GATEHOUSE_CONFIG: path.join(directory, 'gone.conf') });
    writeFileSync(path.join(directory, 'gone.conf'), `[web]\ncommand_socket = ${gone.socket}\n`);
    await gone[Symbol.asyncDispose]();
    expect(await run('pause', 'executor-4')).toBe(1);
    expect(io.err()).toMatch(
      /^error: no web of this machine listens at .*web\.sock \(ENOENT\); is it running\?/,
    );
  });
});

describe('what is not understood', () => {
  test.each([
    [['nope'], "unknown command 'nope'"],
    [['statsu'], 'Did you mean status?'],
    [['status', '--bogus'], "unknown option '--bogus'"],
    [['explain'], "missing required argument 'item'"],
    [['trace', 'abcdef', '--depth', 'x'], 'It must be a whole number.'],
    [['start', 'mergre'], 'Allowed choices are scheduler, merger, executor, web'],
  ])('%j ends with status 2 and a hint', async (args, text) => {
    expect(await run(...args)).toBe(2);
    expect(io.err()).toContain(text);
    expect(io.err()).toContain('gatehouse --help');
  });

  test('sends no request', async () => {
    const count = service.asked.length;
    await run('trace', 'abcdef', '--depth', 'x');
    expect(service.asked).toHaveLength(count);
  });
});

describe('the help', () => {
  test.each(['start', 'status', 'trace', 'explain', 'why', 'config-check'])(
    'of %s has examples',
    async command => {
      expect(await run('help', command)).toBe(0);
      expect(io.out()).toMatch(new RegExp(`Usage: gatehouse ${command} `));
      expect(io.out()).toContain(`Examples:\n  gatehouse ${command}`);
    },
  );

  test('names every command', async () => {
    expect(await run('--help')).toBe(0);
    for (const command of ['start', 'status', 'trace', 'explain', 'why', 'config-check'])
      expect(io.out()).toMatch(new RegExp(`^ {2}${command} `, 'm'));
  });

  test('knows the version', async () => {
    expect(await run('--version')).toBe(0);
    expect(io.out()).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

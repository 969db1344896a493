/** `gatehouse builds` and `gatehouse open`, and the project of a checkout. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { BuildDocument } from '../../../src/api/build-schema.ts';
import { buildLines } from '../../../src/cmd/commands/builds-text.ts';
import { projectOf } from '../../../src/cmd/commands/checkout-project.ts';
import { browserOf } from '../../../src/cmd/commands/open.ts';
import { runProgram } from '../../../src/cmd/commands/program.ts';
import { widthOf } from '../../../src/lib/text-width.ts';
import { type CannedService, cannedService } from './canned-service.ts';
import { recordingIo } from './fixture.ts';

const build = (digit: string, job: string, facts: Partial<BuildDocument> = {}): BuildDocument =>
  ({
    uuid: digit.repeat(32),
    job_name: job,
    result: 'SUCCESS',
    voting: true,
    duration: 3.1,
    start_time: '2026-11-20T17:58:57',
    end_time: '2026-11-20T17:59:00',
    pipeline: 'gate',
    log_url: `http://gate.example/${digit}`,
    ref: { project: 'acme/app', change: 'master/login', ref: 'refs/heads/for/master/login' },
    ...facts,
  }) as BuildDocument;

const BUILDS = [
  build('1', 'unit-tests'),
  build('2', 'integration', { result: 'FAILURE', voting: false }),
  build('3', 'publish', { result: null, duration: null, end_time: null }),
];

let service: CannedService;
let checkout: string;
beforeAll(async () => {
  service = await cannedService();
  checkout = mkdtempSync(path.join(tmpdir(), 'gatehouse-checkout-'));
  execFileSync('git', ['init', '--quiet', checkout]);
  execFileSync('git', ['-C', checkout, 'remote', 'add', 'origin', 'git@git.example.org:acme/app.git']);
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  rmSync(checkout, { recursive: true });
});
beforeEach(() => {
  service.answer('/api/tenants', [{ name: 'acme' }]);
  service.answer('/api/tenant/acme/projects', [{ name: 'acme/app' }, { name: 'app' }, { name: 'acme/api' }]);
  service.answer('/api/tenant/acme/builds', BUILDS);
});

async function gatehouse(...args: readonly string[]) {
  const io = { ...recordingIo({ GATEHOUSE_URL: service.url, DO_NOT_TRACK: '1' }), directory: checkout };
  const status = await runProgram(args, io);
  return { status, out: io.out(), err: io.err(), asked: service.asked.at(-1) };
}

describe('builds', () => {
  test('asks for what the options name, in a checkout for its project', async () => {
    const { status, out, asked } = await gatehouse(
      ...[
        'builds',
        '--project',
        '.',
        '-p',
        'gate',
        '-j',
        'unit-tests',
        '--change',
        'master/login',
        '-r',
        'failure',
        '-n',
        '5',
      ],
    );
    expect(status).toBe(0);
    expect(out.split('\n')).toHaveLength(BUILDS.length + 1);
    expect(asked).toBe(
      '/api/tenant/acme/builds?limit=5&project=acme%2Fapp&pipeline=gate&job_name=unit-tests&change=master%2Flogin&result=FAILURE',
    );
  });

  test('prints JSON, of all fields or of those that are named', async () => {
    expect(JSON.parse((await gatehouse('builds', '--json')).out)).toEqual(BUILDS);
    expect(JSON.parse((await gatehouse('builds', '--json', 'uuid,result')).out)[1]).toEqual({
      uuid: '2'.repeat(32),
      result: 'FAILURE',
    });
    expect(await gatehouse('builds', '--json', 'uuid,reslt')).toMatchObject({
      status: 1,
      err: 'error: builds have no field "reslt", did you mean "result"?\n',
    });
  });

  test('says where there is none, and refuses a limit that the service would refuse', async () => {
    service.answer('/api/tenant/acme/builds', []);
    expect(await gatehouse('builds')).toMatchObject({ status: 0, out: 'no such builds\n' });
    expect(await gatehouse('builds', '-n', '0')).toMatchObject({ status: 2 });
  });

  test.each([60, 80, 110])('keeps to %i columns, and the uuid whole', width => {
    const long = build(
      '4',
      'a-job-with-a-name-that-is-longer-than-the-others-and-longer-than-a-line-may-be',
      {
        result: 'RETRY_LIMIT',
      },
    );
    const lines = buildLines([...BUILDS, long], { width, colour: true });
    for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(width);
    expect(lines.map(line => /([0-9a-f])\1{31}/.test(line))).toEqual([true, true, true, true]);
  });
});

describe('open', () => {
  test('prints the page of the tenant, of a build and of an item', async () => {
    service.answer(`/api/tenant/acme/build/${'1'.repeat(32)}`, BUILDS[0]);
    const page = `${service.url}/t/acme`;
    expect((await gatehouse('open')).out).toBe(`${page}\n`);
    expect((await gatehouse('open', '1'.repeat(32))).out).toBe(`${page}/build/${'1'.repeat(32)}\n`);
    expect((await gatehouse('open', '9'.repeat(32))).out).toBe(`${page}/item/${'9'.repeat(32)}\n`);
  });

  test('starts a browser for a person at a desktop only', () => {
    const terminal = { write: () => true, isTTY: true };
    expect(browserOf({ stdout: terminal, environment: { DISPLAY: ':0' } })).toMatch(/open$/);
    expect(browserOf({ stdout: terminal, environment: { BROWSER: 'firefox' } })).toBe('firefox');
    expect(browserOf({ stdout: { write: () => true }, environment: { BROWSER: 'firefox' } })).toBeUndefined();
  });
});

describe('the project of a checkout', () => {
  test('is the longest name that its remote ends with', () => {
    const names = ['app', 'acme/app', 'acme/api'];
    expect(projectOf('git@git.example.org:acme/app.git', names)).toBe('acme/app');
    expect(projectOf('/srv/git/acme/api.git', names)).toBe('acme/api');
    expect(projectOf('https://git.example.org/other/app', names)).toBe('app');
    expect(projectOf('https://git.example.org/acme/webapp', names)).toBeUndefined();
  });

  test('decides which of several tenants is meant, where one of them has it', async () => {
    service.answer('/api/tenants', [{ name: 'other' }, { name: 'acme' }]);
    service.answer('/api/tenant/other/projects', [{ name: 'other/thing' }]);
    expect(await gatehouse('builds')).toMatchObject({ status: 0, asked: '/api/tenant/acme/builds?limit=20' });
    service.answer('/api/tenant/other/projects', [{ name: 'acme/app' }]);
    expect((await gatehouse('builds')).err).toBe(
      'error: there are several tenants, choose one with --tenant: other, acme\n',
    );
  });
});

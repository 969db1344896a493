/**
 * A real service that gets some thirty secrets in every possible way: settings, environment, headers, commits, jobs, requests. None of
 * them may show up in what the collector gets, in the log, or in an answer of the API. What people are meant to see there (the
 * subject of a commit on the page, what a job prints in its own log) says so.
 */

import { randomBytes } from 'node:crypto';
import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { APP, TENANT } from '../../src/cmd/quickstart/demo-files.ts';
import { approve, commitTopic, git, propose } from '../../src/cmd/quickstart/developer.ts';
import { prepareSite, type Site } from '../../src/cmd/quickstart/prepare-site.ts';
import {
  freePort,
  type ServiceProcess,
  startServiceProcess,
  waitUntilReady,
} from '../../src/cmd/quickstart/service-process.ts';
import { type OtlpSink, startOtlpSink } from '../fake/otlp-sink.ts';
import { POST_SPAN } from '../fake/post-span.ts';
import { noteStory } from '../fake/produced/note-story.ts';
import { builtProgram } from '../setup/built-program.ts';

/** Of routes that are asked for nothing: without a token, and not as a WebSocket. */
const STATUSES: { readonly [ending: string]: number } = { '/authorizations': 401, '/console-stream': 426 };
const DEADLINE = 60_000;

type Place = 'collector' | 'log' | 'api' | 'job log';
interface Canary {
  readonly text: string;
  /** Where it is meant to be. */
  readonly at: readonly Place[];
}

const canaries = new Map<string, Canary>();

/** Plants one. @returns its text, unlike any other. */
function canary(name: string, ...at: readonly Place[]): string {
  const text = `canary${String(canaries.size).padStart(2, '0')}x${randomBytes(16).toString('hex')}`;
  canaries.set(name, { text, at });
  return text;
}

let directory: string;
let site: Site;
let sink: OtlpSink;
let service: ServiceProcess;
/** A code host that wants a password: git complains of it with the URL as it has it. */
const host = createServer((_request, response) => {
  response.writeHead(401, { 'www-authenticate': 'Basic realm="far"' }).end();
});

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'gatehouse-secrets-'));
  sink = await startOtlpSink();
  await new Promise<void>(resolve => host.listen(0, '127.0.0.1', resolve));
  const port = await freePort(0);
  const token = canary('key of webhooks');
  site = await prepareSite({ directory: path.join(directory, 'site'), port, token, logLevel: 'info' });
  await writeSettings();
  await writeJobs();
  service = await startServiceProcess(
    site.config,
    logFile(),
    { ...process.env, ...environment() },
    await builtProgram(),
  );
  await waitUntilReady(site.url, service, DEADLINE).catch(async error => {
    throw new Error(await readFile(logFile(), 'utf8'), { cause: error });
  });
}, 2 * DEADLINE);

afterAll(async () => {
  await service?.stop();
  host.close();
  noteStory(sink?.spans ?? [], path.join(directory, 'site/state'));
  await sink?.[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
});

const logFile = () => path.join(directory, 'gatehouse.log');

async function writeSettings(): Promise<void> {
  const settings = await readFile(site.config, 'utf8');
  const { port } = host.address() as AddressInfo;
  await writeFile(
    site.config,
    settings
      .replace('[executor]\n', `[executor]\nlog_token = ${canary('token for logs')}\notlp_relay = true\n`)
      .replace('level = info\nformat = pretty', 'level = trace\nformat = json'),
  );
  await appendFile(
    site.config,
    `
[connection far]
driver = git
baseurl = http://${canary('token in a clone URL')}@127.0.0.1:${port}
webhook_token = ${canary('key of webhooks that are never sent')}
poll_interval = 0

[auth people]
driver = HS256
realm = people
issuer_id = us
client_id = gatehouse
secret = ${canary('secret of tokens')}
`,
  );
  await appendFile(
    path.join(path.dirname(site.config), 'tenants.yaml'),
    `- tenant:
    name: hidden
    source:
      far:
        untrusted-projects: [hidden/project]
`,
  );
}

function environment(): Record<string, string> {
  return {
    OTEL_EXPORTER_OTLP_ENDPOINT: sink.url,
    OTEL_EXPORTER_OTLP_HEADERS: `x-api-key=${canary('header for the collector')}`,
    AWS_SECRET_ACCESS_KEY: canary('key of a cloud'),
    GITHUB_TOKEN: canary('token of a code host'),
    PGPASSWORD: canary('password of a database'),
    NPM_TOKEN: canary('token of a registry'),
    FTP_PROXY: `http://user:${canary('password of a proxy')}@proxy.example.org:8080`,
    TRACESTATE: `vendor=${canary('trace state of who started the service')}`,
    BAGGAGE: `user=${canary('baggage of who started the service')}`,
    GATEHOUSE_ANYTHING: canary('anything else in the environment'),
  };
}

/** What a job knows, does and says. */
async function writeJobs(): Promise<void> {
  const clone = site.clone(APP);
  const forged = [
    `{"key":"gatehouse.tenant","value":{"stringValue":"${canary('name of ours, from a job')}"}}`,
    `{"key":"url.full","value":{"stringValue":"https://me:${canary('password in a URL of a job')}@example.org/"}}`,
  ];
  const link = `,"links":[{"traceId":"${'1'.repeat(32)}","spanId":"${'2'.repeat(16)}","attributes":[${forged.join(',')}]}]`;
  const files = [
    {
      path: '.zuul.yaml',
      text: `- job:
    name: app-unit-tests
    parent: base
    run: tests/unit.sh
    vars:
      password: ${canary('variable of a job', 'api')}
      nested: {list: [${canary('nested variable of a job', 'api')}]}
      ${canary('name of a variable', 'api')}: 1
- project:
    queue: integrated
    gate: {jobs: [app-unit-tests]}
`,
    },
    {
      path: 'tests/unit.sh',
      text: `#!/bin/sh
# ${canary('comment in a playbook')}
echo "it says ${canary('output of a job', 'job log')}"
PASSWORD=${canary('variable of a script')} gatehouse step 'log in' -- sh -c 'echo "as $1" >&2' sh ${canary('argument of a step', 'job log')}
gatehouse step fail -- sh -c 'echo ${canary('error of a step', 'job log')} >&2; exit 3'
./post-span.sh ${canary('name of a span of a job', 'collector')} '${link}'
env
exit 0
`,
      executable: true,
    },
    { path: 'post-span.sh', text: POST_SPAN, executable: true },
    { path: 'secrets.txt', text: `${canary('content of a file')}\n` },
  ];
  const message = `${canary('subject of a commit', 'api')}\n\n${canary('body of a commit')}\nToken: ${canary('trailer of a commit')}`;
  await commitTopic(clone, 'topic', message, files);
  const author = `${canary('name of an author', 'api')} <${canary('address of an author')}@example.org>`;
  await git(clone, 'commit', '--quiet', '--amend', '--no-edit', `--author=${author}`);
}

test('check 22: none of thirty secrets is in what the collector gets, in the log or in an answer of the API', {
  timeout: 4 * DEADLINE,
}, async () => {
  await knock();
  await propose(site.clone(APP), 'topic');
  await approve(site.clone(APP), 'topic');
  await until('the spans of the change to arrive', () => spanOf('QueueItem') && spanOf('JobSpan'));
  const routes = await allRoutes();
  const build = spanOf('JobSpan')?.attributes['gatehouse.build.id'];
  const jobLog = await answer(`/api/tenant/${TENANT}/build/${build}/log`);
  const log = await readFile(logFile(), 'utf8');

  const places: Record<Place, string> = {
    collector: sink.requests.map(({ body }) => body.toString('latin1')).join('\n'),
    log,
    api: [...(await Promise.all(routes.map(answer))), await firstMessage()].join('\n'),
    'job log': jobLog,
  };
  expect(canaries.size).toBeGreaterThanOrEqual(30);
  const found = [...canaries].flatMap(([name, { text }]) =>
    Object.entries(places).flatMap(([place, said]) => (said.includes(text) ? [`${name}: ${place}`] : [])),
  );
  // That what may be seen is seen shows that what must not be would have been found.
  const allowed = [...canaries].flatMap(([name, { at }]) => at.map(place => `${name}: ${place}`));
  expect(found.toSorted()).toEqual(allowed.toSorted());
  expect(log).toContain('far/hidden/project');
  expect(sink.requests.at(-1)?.headers['x-api-key']).toBe(canaries.get('header for the collector')?.text);
  // The address of the relay, which was for this job alone.
  const address = /OTEL_EXPORTER_OTLP_ENDPOINT=\S+\/([0-9a-f]{32})/.exec(jobLog)?.[1] ?? 'none';
  for (const said of [places.collector, places.log, places.api]) expect(said).not.toContain(address);
  expect(jobLog).toContain(address);
});

function spanOf(kind: string) {
  return sink.spans.find(
    ({ attributes }) =>
      attributes['gatehouse.span.type'] === kind && attributes['gatehouse.pipeline'] === 'gate',
  );
}

/** Every route that can be read, of everything there is to read about. */
async function allRoutes(): Promise<readonly string[]> {
  const described: unknown = JSON.parse(await answer('/api'));
  const routes = Object.values(Object(described)).map(String);
  const [item, build, buildset] = ['item', 'build', 'buildset'].map(what =>
    String(spanOf('JobSpan')?.attributes[`gatehouse.${what}.id`]),
  );
  const change = encodeURIComponent(String(spanOf('QueueItem')?.attributes['gatehouse.change']));
  const uuidIn = (route: string) =>
    route.includes('/item/') ? item : route.includes('/build/') ? build : buildset;
  // One never ends (its first message is looked at by itself), one shows what the job printed, two are for posting, and two have no keys to
  // show: what a keystore keeps is looked for in test/scenario/secrets.test.ts.
  const readable = routes.filter(route => !/events$|log$|payload$|otlp|\.pub$/.test(route));
  const filled = readable.map(route =>
    route
      .replace('{tenant}', TENANT)
      .replace('{pipeline}', 'gate')
      .replace('{project}', APP)
      .replace('{branch}', 'master')
      .replace('{job}', 'app-unit-tests')
      .replace('{path}', 'zuul-info/inventory.yaml')
      .replace('{change}', change)
      // What was asked of a change needs its project.
      .replace(/checks$/, `checks?project=${encodeURIComponent(APP)}`)
      .replace('{uuid}', uuidIn(route) ?? ''),
  );
  return [
    '/',
    '/metrics',
    '/health/ready',
    '/api/tenant/hidden/status',
    '/api/tenant/hidden/config-errors',
    ...filled,
  ];
}

/** Strangers who bring secrets of their own. */
async function knock(): Promise<void> {
  const hook = await fetch(`${site.url}/api/connection/local/payload?key=${canary('query of a webhook')}`, {
    method: 'POST',
    body: JSON.stringify({ project: 'acme/app', password: canary('body of a webhook') }),
    headers: {
      'content-type': 'application/json',
      'x-gatehouse-delivery': '1',
      'x-gatehouse-signature': `sha256=${canary('signature of a webhook')}`,
      baggage: `user=${canary('baggage of a webhook')}`,
    },
  });
  expect(hook.status).toBe(401);
  const operator = await fetch(
    `${site.url}/api/tenant/${TENANT}/project/${encodeURIComponent(APP)}/dequeue`,
    {
      method: 'POST',
      body: '{}',
      headers: { authorization: `Bearer ${canary('token of a caller')}` },
    },
  );
  expect([401, 403]).toContain(operator.status);
}

async function answer(route: string): Promise<string> {
  const response = await fetch(`${site.url}${route}`);
  // What a token lets its bearer do is asked with one; without, the refusal is the answer.
  expect([route, response.status]).toEqual([route, STATUSES[route.slice(route.lastIndexOf('/'))] ?? 200]);
  return response.text();
}

/** The first message of the page's stream: the whole state. */
async function firstMessage(): Promise<string> {
  const closed = new AbortController();
  const response = await fetch(`${site.url}/api/tenant/${TENANT}/events`, { signal: closed.signal });
  expect(response.status).toBe(200);
  let said = '';
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    said += chunk;
    if (/^data:.*\n\n/m.test(said)) break;
  }
  closed.abort();
  expect(said).toContain('data:');
  return said;
}

async function until(what: string, holds: () => unknown): Promise<void> {
  const end = performance.now() + DEADLINE;
  while (!holds()) {
    if (performance.now() > end)
      throw new Error(`waited ${DEADLINE} ms for ${what}\n${await readFile(logFile(), 'utf8')}`);
    await new Promise(resolve => setTimeout(resolve, 25));
  }
}

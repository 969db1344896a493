/** The connection as the service opens it, against the fake GitHub: the client with real answers, git over HTTP. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { githubDriver } from '../../drivers/github/index.ts';
import type { Connection } from '../../src/driver/connection.ts';
import { createGit } from '../../src/git/process/git.ts';
import { openRepositoryCache, type RepositoryCache } from '../../src/git/repository-cache.ts';
import { startAside } from '../../src/git/starter/start-aside.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { optionReader } from '../../src/lib/option-reader.ts';
import { changeKey } from '../../src/model/change.ts';
import { projectKey } from '../../src/model/project.ts';
import { type FakeGithub, startFakeGithub } from './fake/fake-github.ts';
import type { Repository } from './fake/world.ts';

const PROJECT = projectKey({ connection: 'gh', name: 'acme/app' });
const logged: string[] = [];
let stack: AsyncDisposableStack;
let github: FakeGithub;
let app: Repository;
let connection: Connection;
let repositories: RepositoryCache;

beforeEach(async () => {
  stack = new AsyncDisposableStack();
  logged.length = 0;
  github = stack.use(await startFakeGithub());
  app = await github.repository('acme/app');
  await github.install('acme');
  const folder = await mkdtemp(path.join(tmpdir(), 'gatehouse-github-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  await writeFile(path.join(folder, 'app.pem'), github.app.privateKey);
  connection = await connect(folder);
  stack.defer(() => connection.close());
});
afterEach(() => stack.disposeAsync());

async function connect(folder: string): Promise<Connection> {
  const written = {
    app_id: String(github.app.id),
    app_key: 'app.pem',
    api_url: github.apiUrl,
    clone_url: github.url,
    sweep_interval: '1',
    admin_reviews: 'true',
  };
  const at = { file: 'gatehouse.conf', line: 1 };
  const options = new Map(Object.entries(written).map(([name, value]) => [name, { value, at }]));
  const reader = optionReader({ name: 'connection gh', at, options, directory: folder });
  const git = createGit({
    identity: { name: 'Gatehouse', email: 'gatehouse@example.org' },
    start: startAside,
  });
  repositories = stack.use(await openRepositoryCache({ root: path.join(folder, 'git'), git }));
  const log = (facts: object, text: string) => void logged.push(JSON.stringify([facts, text]));
  const opened = await githubDriver.connect('gh', reader, {
    clock: systemClock(),
    log: { debug: log, info: log, warn: log },
    repositories,
  });
  expect(reader.finish()).toEqual([]);
  return opened ?? expect.unreachable('the options are refused');
}

const pullKey = (number: number) => changeKey(PROJECT, String(number));
const signal = () => AbortSignal.timeout(20_000);

test('a pull request is read, and its repository serves', async () => {
  const pull = await github.openPull(app, { files: { 'a.txt': 'a\n' }, title: 'Add a' });
  expect(await connection.source.fetchChange(pullKey(pull.number), signal())).toMatchObject({
    change: { project: PROJECT, subject: 'Add a', commit: pull.now.head },
  });
  expect(connection.health?.now()).toMatchObject({ state: 'serving' });
});

test('accounts of Apps have the name that REST and webhooks give them, which GraphQL cuts', async () => {
  const pull = await github.openPull(app, { files: { 'a.txt': 'a\n' }, user: 'renovate[bot]' });
  await github.status(app, pull.now.head, 'acme/gate', 'success', 'gatehouse[bot]');
  await github.review(app, pull, 'helper[bot]', 'APPROVED');
  expect(await connection.source.fetchChange(pullKey(pull.number), signal())).toMatchObject({
    change: { owner: 'renovate[bot]' },
    facts: {
      contexts: [{ by: 'gatehouse[bot]', name: 'acme/gate', state: 'success' }],
      reviews: [{ by: 'helper[bot]', state: 'approved' }],
    },
  });
});

test('who administrates the repository is read where the connection asks for it', async () => {
  const pull = await github.openPull(app, { files: { 'a.txt': 'a\n' } });
  for (const [login, role] of Object.entries({ ada: 'admin', bob: 'write', eve: 'read' } as const)) {
    github.setRole(app, login, role);
    await github.review(app, pull, login, 'APPROVED');
  }
  const read = () => connection.source.fetchChange(pullKey(pull.number), signal());
  await read();
  const reviews = Object((await read())?.facts).reviews.map(Object);
  expect(reviews.map(({ by, permission }: { by: string; permission: string }) => [by, permission])).toEqual([
    ['ada', 'admin'],
    ['bob', 'write'],
    ['eve', 'read'],
  ]);
  expect(github.count('repos/get-collaborator-permission-level')).toBe(2);
});

test('a sweep finds branches that moved and went among more than the API lists at once, without a request for it', async () => {
  const tip = await github.tip(app, 'main');
  const refs = Array.from({ length: 120 }, (_, at) => `refs/heads/b${String(at).padStart(3, '0')}`);
  const packed = (names: readonly string[]) =>
    writeFile(path.join(app.dir, 'packed-refs'), names.map(ref => `${tip} ${ref}\n`).join(''));
  await packed(refs);
  const { listener } = connection;
  if (listener === undefined) return expect.unreachable('a connection has a sweep');
  const found: unknown[] = [];
  const passes: PromiseWithResolvers<void>[] = [Promise.withResolvers()];
  const stop = new AbortController();
  const listening = listener.listen({
    emit: async ({ payload }) => void found.push(payload),
    projects: () => new Set([PROJECT]),
    memory: { get: async () => undefined },
    signal: stop.signal,
    isLive: async () => true,
    async passed() {
      passes.at(-1)?.resolve();
      passes.push(Promise.withResolvers());
    },
  });
  const nextPass = () => passes.at(-1)?.promise;
  await nextPass();
  found.length = 0;
  const before = github.requests.filter(({ operation }) => operation === 'graphql').length;
  const pushed = await github.push(app, 'topic', { files: { 'a.txt': 'a\n' } });
  await packed(refs.filter(ref => ref !== 'refs/heads/b119' && ref !== 'refs/heads/b007'));
  await nextPass();
  await nextPass();
  stop.abort();
  await listening;
  expect(found.map(each => Object(each).about)).toEqual([
    { kind: 'ref', ref: 'refs/heads/topic', before: null, after: pushed },
    { kind: 'ref', ref: 'refs/heads/b007', before: tip, after: null },
    { kind: 'ref', ref: 'refs/heads/b119', before: tip, after: null },
  ]);
  const asked = github.requests.filter(({ operation }) => operation === 'graphql').length - before;
  expect(asked).toBeLessThanOrEqual(passes.length);
});

test('a sweep ends a run of ours whose item is gone, behind however many checks of others', async () => {
  const pull = await github.openPull(app, { files: { 'a.txt': 'a\n' }, title: 'Add a' });
  const { head } = pull.now;
  const item = (digit: string) => `acme/gate/${digit.repeat(32)}`;
  const ours = (name: string, externalId: string, status: 'in_progress' | 'queued') => {
    const { id, slug } = github.app;
    const at = { startedAt: '2026-01-02T03:04:05Z', completedAt: null, detailsUrl: null, conclusion: null };
    const output = { title: null, summary: null, text: null };
    const run = { name, externalId, status, headSha: head, suite: 1, app: { id, slug } };
    app.checks.push({
      id: 9_000_000 + app.checks.length,
      ...run,
      ...at,
      output,
      actions: [],
      annotations: [],
    });
  };
  for (let at = 0; at < 120; at++) await github.otherCheck(app, head, `other-${at}`, 'success');
  ours('acme/old', item('a'), 'queued');
  ours('acme/gate', item('b'), 'in_progress');
  ours('acme/check', item('c'), 'in_progress');
  const { listener } = connection;
  if (listener === undefined) return expect.unreachable('a connection has a sweep');
  const stop = new AbortController();
  const closed: number[] = [];
  await listener.listen({
    emit: async () => {},
    projects: () => new Set([PROJECT]),
    memory: { get: async () => undefined },
    signal: stop.signal,
    isLive: async run => run.pipeline === 'gate' && run.item === 'c'.repeat(32),
    async passed(pass) {
      closed.push(pass.closed);
      if (closed.length === 2) stop.abort();
    },
  });
  expect(closed).toEqual([0, 1]);
  const states = app.checks
    .filter(({ name }) => name.startsWith('acme/'))
    .map(({ name, status, conclusion }) => [name, status, conclusion]);
  expect(states).toEqual([
    ['acme/old', 'queued', null],
    ['acme/gate', 'completed', 'cancelled'],
    ['acme/check', 'in_progress', null],
  ]);
});

test('a token that GitHub revoked is replaced, and the caller does not notice', async () => {
  const { number } = await github.openPull(app, { files: { 'a.txt': 'a\n' }, title: 'Add a' });
  await connection.source.fetchChange(pullKey(number), signal());
  github.revokeInstallationTokens();
  expect(await connection.source.fetchChange(pullKey(number), signal())).toBeDefined();
  expect(github.count('apps/create-installation-access-token')).toBe(2);
});

test('git reads a repository with a token made for it', async () => {
  const mirror = await repositories.repository('gh', 'acme/app');
  const listing = await mirror.lsRemote(await connection.remote(PROJECT, 'read'));
  if (listing.kind !== 'refs') return expect.unreachable(JSON.stringify(listing));
  expect([...listing.refs.keys()]).toContain('refs/heads/main');
});

test('a repository without the App is host trouble, and the health says so', async () => {
  await github.repository('other/app');
  const project = projectKey({ connection: 'gh', name: 'other/app' });
  await expect(connection.remote(project, 'read')).rejects.toThrow(/not installed on other\/app/);
  const pull = changeKey(project, '1');
  await expect(connection.source.fetchChange(pull, signal())).rejects.toMatchObject({ retryable: true });
  expect(connection.health?.now()).toMatchObject({
    state: 'failing',
    text: expect.stringMatching(/not installed on other\/app/),
  });
});

test('nothing that the driver logs holds a secret', async () => {
  await connection.source.fetchChange(pullKey(1), signal());
  await connection.remote(PROJECT, 'write');
  expect(logged.join('\n')).not.toMatch(/gh[sp]_|eyJ|PRIVATE KEY/);
});

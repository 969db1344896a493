/** A mirror behind HTTP: how many requests a fetch of a change and its branch takes, and which of them wait for one another. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createGit } from '../../../src/git/git.ts';
import { parseObjectId } from '../../../src/git/object-id.ts';
import { parseRefName } from '../../../src/git/ref-name.ts';
import type { Repository } from '../../../src/git/repository.ts';
import { openRepositoryCache } from '../../../src/git/repository-cache.ts';
import { startAside } from '../../../src/git/starter/start-aside.ts';
import { type GitHttpHost, startGitHttpHost } from '../../fake/git-http-host.ts';
import { createGitRepository, type GitRepository } from '../../fake/git-repository.ts';
import { IDENTITY } from './open-repository.ts';

const MAIN = { ref: parseRefName('refs/heads/main') };
const PULL = parseRefName('refs/pull/1/head');
const NOWHERE = parseObjectId('1234567890123456789012345678901234567890');

let stack: AsyncDisposableStack;
let origin: GitRepository;
let host: GitHttpHost;
let repository: Repository;

beforeEach(async () => {
  stack = new AsyncDisposableStack();
  const root = await mkdtemp(path.join(tmpdir(), 'gatehouse-beside-'));
  stack.defer(() => rm(root, { recursive: true, force: true }));
  origin = await createGitRepository();
  stack.defer(() => origin.remove());
  host = stack.use(await startGitHttpHost(path.dirname(origin.path)));
  const git = createGit({ identity: IDENTITY, start: startAside });
  const cache = await openRepositoryCache({ root, git, mergeTreeMode: 'unbuffered-coprocess' });
  stack.defer(() => cache.close());
  repository = await cache.repository('local', 'acme/app');
});

afterEach(() => stack.disposeAsync());

const remote = () => ({ url: `${host.url}/${path.basename(origin.path)}` });

const commit = async (spec: Parameters<GitRepository['commit']>[0]) =>
  parseObjectId(await origin.commit(spec));

/** A mirror with main, and a change at the host. */
async function openedPull() {
  const main = await commit({ files: { a: '1' } });
  await repository.fetch(remote(), [MAIN]);
  const pull = { ref: PULL, commit: await commit({ ref: PULL, parents: [main], files: { b: '1' } }) };
  return { main, pull };
}

/** Requests of what `run` does, where no fetch goes on before another one has begun. */
async function requestsOf(run: () => Promise<unknown>): Promise<readonly string[]> {
  const from = host.requests.length;
  const both = Promise.withResolvers<void>();
  let begun = 0;
  host.ail(({ step }) => {
    if (step !== 'advertisement') return undefined;
    begun += 1;
    if (begun === 2) both.resolve();
    return { kind: 'after', what: both.promise };
  });
  await run();
  host.heal();
  return host.requests.slice(from).map(({ step }) => step);
}

test('a change is fetched by its id while another fetch asks where its branch is', async () => {
  const { main, pull } = await openedPull();
  const requests = await requestsOf(async () => {
    expect(await repository.fetch(remote(), [MAIN, pull])).toEqual({
      kind: 'fetched',
      commits: [main, pull.commit],
    });
  });
  expect(requests.toSorted()).toEqual(['advertisement', 'advertisement', 'exchange', 'exchange']);
});

test('a branch that has moved meanwhile is brought by the fetch that asked for it', async () => {
  const { main, pull } = await openedPull();
  const moved = await commit({ parents: [main], files: { a: '2' } });
  const requests = await requestsOf(async () => {
    expect(await repository.fetch(remote(), [MAIN, pull])).toEqual({
      kind: 'fetched',
      commits: [moved, pull.commit],
    });
  });
  expect(requests.filter(step => step === 'exchange')).toHaveLength(3);
});

test('a commit that the host does not give by id is looked for where its ref leads', async () => {
  const { main, pull } = await openedPull();
  const wants = [MAIN, { ref: PULL, commit: NOWHERE }];
  expect(await repository.fetch(remote(), wants)).toEqual({ kind: 'fetched', commits: [main, undefined] });
  expect(await repository.reader.missing([pull.commit])).toEqual([]);
});

test('two commits of one ref, and one of a branch that is wanted itself, all stay', async () => {
  const { main, pull } = await openedPull();
  const second = await commit({ ref: PULL, parents: [main], files: { b: '2' } });
  const moved = await commit({ parents: [main], files: { a: '2' } });
  const wants = [MAIN, pull, { ref: PULL, commit: second }, { ...MAIN, commit: moved }];
  expect(await repository.fetch(remote(), wants)).toEqual({
    kind: 'fetched',
    commits: [moved, pull.commit, second, moved],
  });
});

test('what a mirror does not know yet comes with one fetch', async () => {
  const main = await commit({ files: { a: '1' } });
  const pull = { ref: PULL, commit: await commit({ ref: PULL, parents: [main], files: { b: '1' } }) };
  expect(await repository.fetch(remote(), [MAIN, pull])).toEqual({
    kind: 'fetched',
    commits: [main, pull.commit],
  });
  expect(repository.counters().fetches).toBe(1);
});

test('a host that does not serve fails the fetch of both', async () => {
  const { pull } = await openedPull();
  host.ail(() => ({ kind: 'status', status: 503 }));
  expect(await repository.fetch(remote(), [MAIN, pull])).toMatchObject({
    kind: 'remote-failed',
    reason: 'unreachable',
  });
});

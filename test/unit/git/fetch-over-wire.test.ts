/** A mirror behind HTTP: how many requests a fetch of a change and its branch takes, and what becomes of it when they are not served. */
import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { parseObjectId } from '../../../src/git/objects/object-id.ts';
import { parseRefName } from '../../../src/git/objects/ref-name.ts';
import { createGit, type Git } from '../../../src/git/process/git.ts';
import type { Repository } from '../../../src/git/repository.ts';
import { openRepositoryCache } from '../../../src/git/repository-cache.ts';
import { startAside } from '../../../src/git/starter/start-aside.ts';
import { FLUSH, packet, readPackets } from '../../../src/git/wire/packets.ts';
import { readListing, readPack } from '../../../src/git/wire/upload-pack.ts';
import { createUploadPackHost, type UploadPackHost } from '../../../src/git/wire/upload-pack-host.ts';
import { type Ailment, type GitHttpHost, startGitHttpHost } from '../../fake/git-http-host.ts';
import { createGitRepository, type GitRepository, runGit } from '../../fake/git-repository.ts';
import { IDENTITY } from './open-repository.ts';

const MAIN = { ref: parseRefName('refs/heads/main') };
const PULL = parseRefName('refs/pull/1/head');
const NOWHERE = parseObjectId('1234567890123456789012345678901234567890');

let stack: AsyncDisposableStack;
let origin: GitRepository;
let host: GitHttpHost;
let git: Git;
let repository: Repository;
let openMirror: (asked?: UploadPackHost) => Promise<Repository>;

beforeEach(async () => {
  stack = new AsyncDisposableStack();
  const root = await mkdtemp(path.join(tmpdir(), 'gatehouse-beside-'));
  stack.defer(() => rm(root, { recursive: true, force: true }));
  origin = await createGitRepository();
  stack.defer(() => origin.remove());
  host = stack.use(await startGitHttpHost(path.dirname(origin.path)));
  git = createGit({ identity: IDENTITY, start: startAside });
  openMirror = async asked => {
    const options = { root, git, mergeTreeMode: 'unbuffered-coprocess' } as const;
    const cache = stack.use(await openRepositoryCache({ ...options, ...(asked && { host: asked }) }));
    return cache.repository('local', 'acme/app');
  };
  repository = await openMirror();
});

afterEach(() => stack.disposeAsync());

const remote = () => ({ url: `${host.url}/${path.basename(origin.path)}` });

const commit = async (spec: Parameters<GitRepository['commit']>[0]) =>
  parseObjectId(await origin.commit(spec));

const isBundle = (name: string) => name.startsWith('tmp_bundle_');

/** A mirror with main, and a change at the host. */
async function openedPull() {
  const main = await commit({ files: { a: '1' } });
  await repository.fetch(remote(), [MAIN]);
  const pull = { ref: PULL, commit: await commit({ ref: PULL, parents: [main], files: { b: '1' } }) };
  return { main, pull };
}

/** What the host is asked while `run` goes on. */
async function requestsOf(run: () => Promise<unknown>): Promise<readonly string[]> {
  const from = host.requests.length;
  await run();
  return host.requests.slice(from).map(({ step }) => step);
}

test('a change and its branch take one request each, side by side', async () => {
  const { main, pull } = await openedPull();
  const both = Promise.withResolvers<void>();
  let begun = 0;
  // Neither is answered before the other one has come.
  host.ail(() => {
    begun += 1;
    if (begun === 2) both.resolve();
    return { kind: 'after', what: both.promise };
  });
  const requests = await requestsOf(async () => {
    expect(await repository.fetch(remote(), [MAIN, pull])).toEqual({
      kind: 'fetched',
      commits: [main, pull.commit],
    });
  });
  expect(requests).toEqual(['exchange', 'exchange']);
});

test('they go over connections that are there', async () => {
  const { main, pull } = await openedPull();
  await repository.fetch(remote(), [MAIN, pull]);
  const connections = host.connections();
  const next = { ref: PULL, commit: await commit({ ref: PULL, parents: [main], files: { b: '2' } }) };
  expect(await repository.fetch(remote(), [MAIN, next])).toMatchObject({ commits: [main, next.commit] });
  expect(host.connections()).toBe(connections);
});

test('a branch that is where it was takes one request and no process', async () => {
  const { main } = await openedPull();
  await repository.fetch(remote(), [MAIN]);
  const spawns = git.spawns();
  expect(
    await requestsOf(async () =>
      expect(await repository.fetch(remote(), [MAIN])).toEqual({ kind: 'fetched', commits: [main] }),
    ),
  ).toEqual(['exchange']);
  expect(git.spawns()).toBe(spawns);
});

test('a branch that has moved meanwhile is brought after it', async () => {
  const { main, pull } = await openedPull();
  const moved = await commit({ parents: [main], files: { a: '2' } });
  const requests = await requestsOf(async () => {
    expect(await repository.fetch(remote(), [MAIN, pull])).toEqual({
      kind: 'fetched',
      commits: [moved, pull.commit],
    });
  });
  expect(requests).toEqual(['exchange', 'exchange', 'exchange']);
});

test('what has landed from here is not brought again', async () => {
  const { main, pull } = await openedPull();
  await repository.fetch(remote(), [MAIN, pull]);
  expect(await repository.push(remote(), [{ ref: MAIN.ref, from: main, to: pull.commit }])).toMatchObject({
    kind: 'pushed',
  });
  const requests = await requestsOf(async () => {
    expect(await repository.fetch(remote(), [MAIN])).toEqual({ kind: 'fetched', commits: [pull.commit] });
  });
  expect(requests).toEqual(['exchange']);
  // Our copy of the branch has followed: it is what the next commits are brought on top of.
  expect(await repository.reader.resolve('refs/tips/refs%2Fheads%2Fmain')).toBe(pull.commit);
});

test('a branch that is gone is gone here, too', async () => {
  const { main, pull } = await openedPull();
  const topic = { ref: parseRefName('refs/heads/topic') };
  await commit({ ref: topic.ref, parents: [main], files: { c: '1' } });
  await repository.fetch(remote(), [topic]);
  await runGit(origin.path, ['update-ref', '-d', topic.ref]);
  expect(await repository.fetch(remote(), [MAIN, topic, pull])).toEqual({
    kind: 'fetched',
    commits: [main, undefined, pull.commit],
  });
});

test('a branch that the host did not have is found when it appears', async () => {
  const { main } = await openedPull();
  const topic = { ref: parseRefName('refs/heads/topic') };
  const asked = () => repository.fetch(remote(), [MAIN, topic]);
  expect(await asked()).toMatchObject({ commits: [main, undefined] });
  expect(await requestsOf(asked)).toEqual(['exchange']);
  const appeared = await commit({ ref: topic.ref, parents: [main], files: { c: '1' } });
  expect(await asked()).toMatchObject({ commits: [main, appeared] });
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

test('what a mirror does not know yet comes with one fetch of git', async () => {
  const main = await commit({ files: { a: '1' } });
  const pull = { ref: PULL, commit: await commit({ ref: PULL, parents: [main], files: { b: '1' } }) };
  const requests = await requestsOf(async () => {
    expect(await repository.fetch(remote(), [MAIN, pull])).toEqual({
      kind: 'fetched',
      commits: [main, pull.commit],
    });
  });
  expect(requests[0]).toBe('advertisement');
  expect(repository.counters().fetches).toBe(1);
});

test('a commit whose objects take more than four megabytes is left to git', async () => {
  const { main } = await openedPull();
  const files = { noise: randomBytes(5 * 1024 * 1024).toString('hex') };
  const large = { ref: PULL, commit: await commit({ ref: PULL, parents: [main], files }) };
  const requests = await requestsOf(async () => {
    expect(await repository.fetch(remote(), [MAIN, large])).toEqual({
      kind: 'fetched',
      commits: [main, large.commit],
    });
  });
  expect(requests).toContain('advertisement');
  expect(readdirSync(path.join(repository.path, 'objects/pack')).filter(isBundle)).toEqual([]);
});

describe('when the first answer is none that it can use, git asks, and gets it:', () => {
  const ailments: readonly Ailment[] = [
    { kind: 'status', status: 403 },
    { kind: 'status', status: 503 },
    { kind: 'reset' },
    { kind: 'lose-reply' },
    { kind: 'truncate', bytes: 20 },
    { kind: 'drip', bytesPerSecond: 10 },
    { kind: 'hang' },
  ];
  for (const ailment of ailments) {
    test(ailment.kind === 'status' ? `${ailment.kind} ${ailment.status}` : ailment.kind, async () => {
      const { main, pull } = await openedPull();
      const impatient = createUploadPackHost({ proxied: false, deadlineMs: 1_000 });
      repository = await openMirror(impatient);
      let hasGitAsked = false;
      host.ail(({ step }) => {
        hasGitAsked ||= step === 'advertisement';
        return hasGitAsked ? undefined : ailment;
      });
      expect(await repository.fetch(remote(), [MAIN, pull])).toEqual({
        kind: 'fetched',
        commits: [main, pull.commit],
      });
      expect(host.requests.filter(each => each.ailment === ailment.kind)).toHaveLength(2);
      // What answers at once may be asked like this again; what keeps us waiting is left to git for a while.
      expect(impatient.canAsk(remote())).toBe(ailment.kind === 'status');
    });
  }
});

test('credentials go with each request', async () => {
  const { pull } = await openedPull();
  const from = host.requests.length;
  await repository.fetch({ ...remote(), headers: ['Authorization: Basic dTpw'] }, [MAIN, pull]);
  expect(host.requests.slice(from).map(({ authorization }) => authorization)).toEqual([
    'Basic dTpw',
    'Basic dTpw',
  ]);
});

test('a host that does not serve fails the fetch of both', async () => {
  const { pull } = await openedPull();
  host.ail(() => ({ kind: 'status', status: 503 }));
  expect(await repository.fetch(remote(), [MAIN, pull])).toMatchObject({
    kind: 'remote-failed',
    reason: 'unreachable',
  });
});

describe('it is left to git', () => {
  const canAsk = (url: string, { proxied = false, ...rest } = {}) => {
    const asked = createUploadPackHost({ proxied });
    onTestFinished(() => asked.close());
    return asked.canAsk({ url, ...rest });
  };
  test('where a proxy is set, by a variable', () => {
    expect(createGit({ identity: IDENTITY, inherited: { HTTPS_PROXY: 'http://proxy:3128' } }).isProxied).toBe(
      true,
    );
    expect(createGit({ identity: IDENTITY, inherited: { no_proxy: '*' } }).isProxied).toBe(false);
    expect(canAsk('https://host/app', { proxied: true })).toBe(false);
  });
  test('where the address is not of HTTP, or names a user', () => {
    expect(canAsk('https://host/app')).toBe(true);
    for (const url of ['/srv/app.git', 'ssh://git@host/app', 'git@host:app', 'https://me@host/app'])
      expect(canAsk(url), url).toBe(false);
  });
});

test('more than 32 requests at a time are left to git', async () => {
  const asked = createUploadPackHost({ proxied: false });
  host.ail(() => ({ kind: 'hang' }));
  const answers = Array.from({ length: 32 }, () => asked.refs(remote(), [MAIN.ref]));
  expect(asked.canAsk(remote())).toBe(false);
  asked.close();
  expect(new Set(await Promise.all(answers))).toEqual(new Set([undefined]));
});

test('any bytes are packets or are not, and what is written is read', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), bytes => {
      const packets = readPackets(Buffer.from(bytes));
      expect(packets === undefined || Array.isArray(packets)).toBe(true);
    }),
  );
  fc.assert(
    fc.property(fc.array(fc.stringMatching(/^[ -~]{0,80}$/)), lines => {
      const read = readPackets(Buffer.from(lines.map(packet).join('')));
      expect(read?.map(each => (each.kind === 'content' ? each.content.toString() : each.kind))).toEqual(
        lines.map(line => `${line}\n`),
      );
    }),
  );
});

test.each([
  ['a list without its end', `0038${NOWHERE} refs/heads/x\n`],
  ['a list with an error', packet('ERR access denied') + FLUSH],
  ['a list with half an id', packet('1234 refs/heads/main') + FLUSH],
  ['a page of HTML', '<html>'],
])('%s is unusable', (_, answer) => {
  expect(readListing(Buffer.from(answer), [MAIN.ref])).toBeUndefined();
});

test.each([
  ['a list instead', packet('acknowledgments') + FLUSH],
  ['an error of the host amid the pack', `${packet('packfile')}${packet('\u0003out of memory')}${FLUSH}`],
  ['a pack without its end', `${packet('packfile')}${packet('\u0001PACK')}`],
])('as a pack, %s is unusable', (_, answer) => {
  expect(readPack(Buffer.from(answer))).toBeUndefined();
});

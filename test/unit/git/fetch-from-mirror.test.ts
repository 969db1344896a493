/** A code host with a mirror that lags: which of the two is asked for what, and what becomes of it when the mirror is ill. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parseObjectId } from '../../../src/git/objects/object-id.ts';
import { parseRefName } from '../../../src/git/objects/ref-name.ts';
import { createGit, type Git } from '../../../src/git/process/git.ts';
import { createAbsentRefs } from '../../../src/git/remote/absent-refs.ts';
import { fetchFromMirror } from '../../../src/git/remote/fetch-from-mirror.ts';
import { createMirrorRest } from '../../../src/git/remote/mirror-rest.ts';
import { createTooLargeCommits } from '../../../src/git/remote/too-large.ts';
import type { Repository } from '../../../src/git/repository.ts';
import { openRepositoryCache } from '../../../src/git/repository-cache.ts';
import { startAside } from '../../../src/git/starter/start-aside.ts';
import { createUploadPackHost } from '../../../src/git/wire/upload-pack-host.ts';
import { type GitHttpHost, startGitHttpHost } from '../../fake/git-http-host.ts';
import { createGitRepository, type GitRepository } from '../../fake/git-repository.ts';
import { IDENTITY } from './open-repository.ts';

const MAIN = { ref: parseRefName('refs/heads/main') };
const CHANGE = parseRefName('refs/changes/01/1/1');
const SECRET = 'Authorization: Basic c2VjcmV0';

let stack: AsyncDisposableStack;
let origin: GitRepository;
let copy: GitRepository;
let host: GitHttpHost;
let mirror: GitHttpHost;
let warnings: string[];
let repository: Repository;

beforeEach(async () => {
  stack = new AsyncDisposableStack();
  const root = await mkdtemp(path.join(tmpdir(), 'gatehouse-mirrored-'));
  stack.defer(() => rm(root, { recursive: true, force: true }));
  origin = stack.use(await createGitRepository());
  copy = stack.use(await createGitRepository());
  host = stack.use(await startGitHttpHost(path.dirname(origin.path)));
  mirror = stack.use(await startGitHttpHost(path.dirname(copy.path)));
  warnings = [];
  const git = createGit({ identity: IDENTITY, start: startAside });
  const warn = (_facts: object, text: string) => void warnings.push(text);
  const cache = stack.use(
    await openRepositoryCache({ root, git, mergeTreeMode: 'unbuffered-coprocess', warn }),
  );
  repository = await cache.repository('local', 'acme/app');
});

afterEach(() => stack.disposeAsync());

const remote = () => ({
  url: `${host.url}/${path.basename(origin.path)}`,
  headers: [SECRET],
  mirror: { url: `${mirror.url}/${path.basename(copy.path)}` },
});
/** The mirror catches up with the host. */
const replicate = () => copy.git('fetch', '--quiet', '--prune', origin.path, '+refs/*:refs/*');
const change = async (content: string) =>
  parseObjectId(await origin.commit({ ref: CHANGE, files: { a: content } }));
const fetched = (...commits: readonly unknown[]) => ({ kind: 'fetched', commits });

describe('a commit whose id is known', () => {
  test('comes from the mirror, which gets no credentials, and the host is not asked', async () => {
    const commit = await change('1');
    await replicate();
    expect(await repository.fetch(remote(), [{ ref: CHANGE, commit }])).toEqual(fetched(commit));
    expect(host.requests).toEqual([]);
    expect(mirror.requests.length).toBeGreaterThan(0);
    expect(mirror.requests.filter(({ authorization }) => authorization !== undefined)).toEqual([]);
  });

  test('comes from the host while the mirror lacks it', async () => {
    await change('1');
    await replicate();
    const commit = await change('2');
    expect(await repository.fetch(remote(), [{ ref: CHANGE, commit }])).toEqual(fetched(commit));
    expect(host.requests.length).toBeGreaterThan(0);
    expect(warnings).toEqual([]);
  });
});

test('branches are read from the host, wherever the mirror has them', async () => {
  const old = await origin.commit({ files: { a: '1' } });
  await replicate();
  const tip = parseObjectId(await origin.commit({ files: { a: '2' } }));
  expect(tip).not.toBe(old);
  expect(await repository.fetch(remote(), [MAIN])).toEqual(fetched(tip));
  expect(mirror.requests).toEqual([]);
});

test.each([{ kind: 'status', status: 503 }, { kind: 'status', status: 401 }, { kind: 'reset' }] as const)(
  'a mirror that fails ($kind $status) costs one try, a warning and no result',
  async ailment => {
    mirror.ail(() => ailment);
    for (const content of ['1', '2', '3']) {
      const commit = await change(content);
      await replicate();
      expect(await repository.fetch(remote(), [{ ref: CHANGE, commit }])).toEqual(fetched(commit));
    }
    const tries = mirror.requests.length;
    const commit = await change('4');
    expect(await repository.fetch(remote(), [{ ref: CHANGE, commit }])).toEqual(fetched(commit));
    expect(mirror.requests).toHaveLength(tries);
    expect(warnings).toEqual(['the mirror of the code host did not serve; it rests for five minutes']);
  },
);

test('a mirror that hangs has half a minute, and rests then', async () => {
  const asked: (number | undefined)[] = [];
  const failures: string[] = [];
  const git: Git = {
    ...createGit({ identity: IDENTITY }),
    async run(_args, { timeoutMs } = {}) {
      asked.push(timeoutMs);
      return { kind: 'timeout', seconds: 30 };
    },
  };
  const deps = {
    ...{ git, gitDir: copy.path, reader: repository.reader, writer: repository.writer },
    host: createUploadPackHost({ proxied: false }),
    ...{ tooLarge: createTooLargeCommits(), absent: createAbsentRefs(), mirrorRest: createMirrorRest() },
    ...{ onFetch: () => {}, onListing: () => {} },
    onMirrorFailure: ({ reason }: { readonly reason: string }) => void failures.push(reason),
  };
  const commit = await change('1');
  for (let time = 0; time < 3; time++) await fetchFromMirror(deps, remote().mirror, [commit]);
  expect(asked).toEqual([30_000]);
  expect(failures).toEqual(['timeout']);
});

test('the rest of a mirror is over after five minutes', () => {
  let now = 0;
  const rest = createMirrorRest(() => now);
  expect(rest.isOver()).toBe(true);
  rest.begin();
  now = 299_999;
  expect(rest.isOver()).toBe(false);
  now = 300_000;
  expect(rest.isOver()).toBe(true);
});

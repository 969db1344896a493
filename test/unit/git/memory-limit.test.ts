import { appendFile, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseObjectId } from '../../../src/git/objects/object-id.ts';
import { createObjectReader } from '../../../src/git/objects/object-reader.ts';
import { createObjectWriter } from '../../../src/git/objects/object-writer.ts';
import { parseRefName } from '../../../src/git/objects/ref-name.ts';
import { meaningOfFailure } from '../../../src/git/process/failure-table.ts';
import { createGit } from '../../../src/git/process/git.ts';
import { memoryLimited } from '../../../src/git/process/memory-limit.ts';
import { remoteFailure } from '../../../src/git/process/remote-failure.ts';
import { createAbsentRefs } from '../../../src/git/remote/absent-refs.ts';
import { createMirrorRest } from '../../../src/git/remote/mirror-rest.ts';
import { fetchRefs, type Want } from '../../../src/git/remote/run-fetch.ts';
import { createTooLargeCommits } from '../../../src/git/remote/too-large.ts';
import { openRepositoryCache } from '../../../src/git/repository-cache.ts';
import { startAside } from '../../../src/git/starter/start-aside.ts';
import { createUploadPackHost } from '../../../src/git/wire/upload-pack-host.ts';
import { startGitHttpHost } from '../../fake/git-http-host.ts';
import { createGitRepository } from '../../fake/git-repository.ts';
import { IDENTITY } from './open-repository.ts';
import { commitUnfolding, unfolded, unfoldingPack } from './unfolding-pack.ts';

const LIMIT = 150_000_000;

/** A mirror of the host whose git may take {@link LIMIT}. */
async function openMirror(url: string) {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-limit-'));
  const cache = await openRepositoryCache({
    root: folder,
    git: createGit({
      identity: IDENTITY,
      start: startAside,
      memoryBytes: LIMIT,
      protocols: ['file', 'http'],
    }),
  });
  return {
    repository: await cache.repository('local', 'acme/app'),
    remote: { url },
    async [Symbol.asyncDispose]() {
      await cache.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

test('a pack that unfolds to more than git may take is refused at once, for a reason of its own', async () => {
  await using repository = await createGitRepository();
  const git = createGit({ identity: IDENTITY, start: startAside, memoryBytes: LIMIT });
  const pack = unfoldingPack(1_000);
  expect(pack.length).toBeLessThan(20_000);
  expect(unfolded(1_000)).toBeGreaterThan(1_000_000_000);
  const result = await git.run(['index-pack', '--stdin'], { gitDir: repository.path, input: pack });
  if (result.kind === 'ok') expect.unreachable('the pack was unfolded');
  expect(remoteFailure(result)).toMatchObject({
    reason: 'too-large',
    message: expect.stringContaining('Out of memory'),
  });
});

test('a host that serves such a pack does not get it into a mirror, and other commits of it come all the same', async () => {
  await using host = await createGitRepository();
  const good = await host.commit({ files: { 'README.md': 'fine\n' } });
  const commit = await commitUnfolding(host.path, good);
  await host.git('update-ref', 'refs/heads/huge', commit);
  await using mirror = await openMirror(host.path);
  const { repository, remote } = mirror;
  const refused = await repository.fetch(remote, [{ ref: parseRefName('refs/heads/huge') }]);
  expect(refused).toMatchObject({ kind: 'remote-failed', reason: 'too-large' });
  const fetched = await repository.fetch(remote, [{ ref: parseRefName('refs/heads/main') }]);
  expect(fetched).toMatchObject({ kind: 'fetched', commits: [good] });
});

describe('a fetch of many commits of which some are too large', () => {
  test('brings the others, asks O(log n) times, and does not ask for those again', async () => {
    await using host = await createGitRepository();
    const start = await host.commit({ files: { 'README.md': 'fine\n' } });
    // Hosts as they are allow it for what their refs lead to.
    await host.git('config', '--unset', 'uploadpack.allowAnySHA1InWant');
    const good: Want[] = [];
    for (let index = 0; index < 15; index += 1) {
      const ref = parseRefName(`refs/heads/for/main/good-${index}`);
      const commit = await host.commit({ ref, parents: [start], files: { [`${index}`]: 'x' } });
      good.push({ ref, commit: parseObjectId(commit) });
    }
    const commit = parseObjectId(await commitUnfolding(host.path, start));
    const bomb = { ref: parseRefName('refs/heads/for/main/huge'), commit };
    await host.git('update-ref', bomb.ref, bomb.commit);
    await using mirror = await openMirror(host.path);
    const { repository, remote } = mirror;
    const wants = [...good.slice(0, 7), bomb, ...good.slice(7)];
    const outcome = await repository.fetch(remote, wants);
    expect(outcome).toMatchObject({
      reason: 'too-large',
      message: `commit ${bomb.commit.slice(0, 8)} of ${bomb.ref} is too large to read: more than 150 MB of memory, limit [merger] git_memory_limit`,
      tooLarge: { refs: [bomb] },
    });
    expect(await repository.reader.missing(wants.flatMap(({ commit }) => commit ?? []))).toEqual([
      bomb.commit,
    ]);
    // All together, then four times two halves.
    expect(repository.counters().fetches).toBe(9);
    for (let look = 0; look < 5; look += 1)
      expect(await repository.fetch(remote, wants)).toMatchObject({ tooLarge: { refs: [bomb] } });
    expect(repository.counters()).toMatchObject({ fetches: 9, listings: 0 });
  });

  test('does not fetch a branch again that led to one of them, until it leads to another commit', async () => {
    await using host = await createGitRepository();
    // As a host elsewhere: only git can say what its refs are.
    await appendFile(`${host.path}/config`, '[transfer]\n\thideRefs = refs/hidden\n');
    const start = await host.commit({ files: { 'README.md': 'fine\n' } });
    const bomb = parseObjectId(await commitUnfolding(host.path, start));
    const [main, huge] = [parseRefName('refs/heads/main'), parseRefName('refs/heads/huge')];
    await host.git('update-ref', huge, bomb);
    await using mirror = await openMirror(host.path);
    const { repository, remote } = mirror;
    const wants = [{ ref: main }, { ref: huge }];
    expect(await repository.fetch(remote, wants)).toMatchObject({
      tooLarge: { refs: [{ ref: huge, commit: bomb }] },
    });
    const before = repository.counters();
    for (let read = 1; read <= 3; read += 1) {
      const tip = await host.commit({ ref: main, files: { 'README.md': `${read}\n` } });
      expect(await repository.fetch(remote, wants)).toMatchObject({
        tooLarge: { refs: [{ ref: huge, commit: bomb }] },
      });
      expect(await repository.reader.missing([parseObjectId(tip)])).toEqual([]);
      // One listing shows where the refs lead, one fetch brings the other.
      expect(repository.counters()).toMatchObject({
        listings: before.listings + read,
        fetches: before.fetches + read,
      });
    }

    await host.git('update-ref', huge, start);
    expect(await repository.fetch(remote, wants)).toMatchObject({
      kind: 'fetched',
      commits: [expect.any(String), start],
    });
    const listings = repository.counters().listings;
    expect(await repository.fetch(remote, wants)).toMatchObject({ kind: 'fetched' });
    expect(repository.counters().listings).toBe(listings);
  });

  test('that others wait for at the same time, too, fails for those that want them', async () => {
    await using host = await createGitRepository();
    const start = await host.commit({ files: { 'README.md': 'fine\n' } });
    const bomb = parseObjectId(await commitUnfolding(host.path, start));
    await host.git('update-ref', 'refs/heads/for/main/huge', bomb);
    await host.git('update-ref', 'refs/tags/huge', bomb);
    await using mirror = await openMirror(host.path);
    const { repository, remote } = mirror;
    const main = parseRefName('refs/heads/main');
    const tag = parseRefName('refs/tags/huge');
    const gone = parseRefName('refs/heads/gone');
    // Holds the queue, so that the others go together.
    const first = repository.fetch(remote, [{ ref: gone }]);
    const outcomes = await Promise.all([
      repository.fetch(remote, [{ ref: main }, { ref: gone }]),
      repository.fetch(remote, [
        { ref: parseRefName('refs/heads/for/main/huge'), commit: bomb },
        { ref: main },
      ]),
      repository.fetch(remote, [{ ref: tag }]),
      repository.fetch(remote, [{ ref: main, commit: parseObjectId(start) }]),
    ]);
    expect(await first).toEqual({ kind: 'fetched', commits: [undefined] });
    expect(outcomes).toMatchObject([
      { kind: 'fetched', commits: [start, undefined] },
      { reason: 'too-large', tooLarge: { refs: [{ commit: bomb }] } },
      { reason: 'too-large', tooLarge: { refs: [{ ref: tag, commit: bomb }] } },
      { kind: 'fetched', commits: [start] },
    ]);
  });

  test('ends as the trouble of the host when it has some meanwhile, and goes on where it was', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'gatehouse-limit-'));
    const app = await createGitRepository(folder);
    const start = await app.commit({ files: { 'README.md': 'fine\n' } });
    const bomb = await commitUnfolding(app.path, start);
    await app.git('update-ref', 'refs/heads/huge', bomb);
    await mkdir(join(folder, 'org'));
    await symlink(app.path, join(folder, 'org/app.git'));
    await using host = await startGitHttpHost(folder);
    await using mirror = await openMirror(`${host.url}/org/app`);
    const { repository, remote } = mirror;
    const wants = ['huge', 'main'].map(branch => ({ ref: parseRefName(`refs/heads/${branch}`) }));
    let fetches = 0;
    host.ail(({ step }) =>
      step === 'advertisement' && ++fetches > 3 ? { kind: 'status', status: 503 } : undefined,
    );
    expect(await repository.fetch(remote, wants)).toMatchObject({ reason: 'unreachable', nature: 'host' });
    host.heal();
    expect(await repository.fetch(remote, wants)).toMatchObject({ tooLarge: { refs: [{ commit: bomb }] } });
    expect(await repository.reader.missing([parseObjectId(start)])).toEqual([]);
    await rm(folder, { recursive: true, force: true });
  });
});

test('what was found too large is tried again after an hour', () => {
  let now = 0;
  const commits = createTooLargeCommits(() => now);
  const commit = parseObjectId('a'.repeat(40));
  commits.add(commit);
  now = 3_599_999;
  expect(commits.has(commit)).toBe(true);
  now += 1;
  expect(commits.has(commit)).toBe(false);
});

test('a machine that cannot start a process says nothing about the content', () => {
  expect(meaningOfFailure('error: cannot fork() for index-pack: Cannot allocate memory')).toMatchObject({
    nature: 'host',
  });
});

test('what a host elsewhere is out of memory for is its own trouble', async () => {
  const stderr = 'remote: fatal: Out of memory, malloc failed\nfatal: early EOF\n';
  const fetchFrom = async (url: string, said: string) => {
    const git = {
      ...createGit({ identity: IDENTITY, start: startAside }),
      run: async () => ({ kind: 'failed' as const, exitCode: 128, stdout: Buffer.alloc(0), stderr: said }),
    };
    await using repository = await createGitRepository();
    const reader = createObjectReader(git, repository.path);
    const deps = {
      git,
      gitDir: repository.path,
      reader,
      writer: createObjectWriter(repository.path),
      tooLarge: createTooLargeCommits(),
      absent: createAbsentRefs(),
      host: createUploadPackHost({ proxied: false }),
      mirrorRest: createMirrorRest(),
    };
    const silent = { onFetch: () => {}, onListing: () => {}, onMirrorFailure: () => {} };
    return fetchRefs({ ...deps, ...silent }, { url }, []);
  };
  expect(await fetchFrom('https://git.example.org/app', stderr)).toMatchObject({
    reason: 'unreachable',
    nature: 'host',
  });
  expect(await fetchFrom('/srv/app.git', stderr)).toMatchObject({ reason: 'too-large' });
  expect(
    await fetchFrom('https://git.example.org/app', 'remote: done\nfatal: Out of memory, malloc failed\n'),
  ).toMatchObject({ reason: 'too-large' });
});

test('without a limit, or without prlimit, git is started as it is', () => {
  expect(memoryLimited(null, process.env.PATH ?? '')).toEqual([]);
  expect(memoryLimited(LIMIT, '/nonexistent:relative')).toEqual([]);
  expect(memoryLimited(LIMIT, process.env.PATH ?? '').slice(1)).toEqual([`--data=${LIMIT}:${LIMIT}`, '--']);
});

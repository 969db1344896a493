import { appendFile, mkdir, mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type ObjectId, parseObjectId } from '../../../src/git/objects/object-id.ts';
import { parseRefName, type RefName } from '../../../src/git/objects/ref-name.ts';
import { createGit, type Git } from '../../../src/git/process/git.ts';
import type { Repository } from '../../../src/git/repository.ts';
import { openRepositoryCache, type RepositoryCache } from '../../../src/git/repository-cache.ts';
import { startAside } from '../../../src/git/starter/start-aside.ts';
import { createGitRepository, type GitRepository } from '../../fake/git-repository.ts';
import { IDENTITY } from './open-repository.ts';

const TOPIC = parseRefName('refs/heads/for/main/topic');
const MAIN = parseRefName('refs/heads/main');

let root: string;
let git: Git;
let cache: RepositoryCache;
let host: GitRepository;
let repository: Repository;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'gatehouse-cache-'));
  git = createGit({ identity: IDENTITY, start: startAside });
  cache = await openRepositoryCache({ root, git, mergeTreeMode: 'unbuffered-coprocess' });
  host = await createGitRepository();
  repository = await cache.repository('local', 'acme/app');
});

afterEach(async () => {
  await cache.close();
  await host.remove();
  await rm(root, { recursive: true, force: true });
});

async function commit(spec: Parameters<GitRepository['commit']>[0]): Promise<ObjectId> {
  return parseObjectId(await host.commit(spec));
}

const fetchOne = async (ref: RefName, wanted?: ObjectId) => {
  const outcome = await repository.fetch(host, [wanted === undefined ? { ref } : { ref, commit: wanted }]);
  if (outcome.kind !== 'fetched') throw new Error(outcome.message);
  return outcome.commits[0];
};

describe('fetching', () => {
  it('brings the tip of a ref', async () => {
    const first = await commit({ files: { a: '1' } });
    expect(await fetchOne(MAIN)).toBe(first);
    const second = await commit({ files: { a: '2' } });
    expect(await fetchOne(MAIN)).toBe(second);
    expect((await repository.reader.readPath(second, 'a', 100)).kind).toBe('file');
  });

  it('makes one git fetch for all who wait at the same time', async () => {
    await commit({ files: { a: '1' } });
    const heads: { ref: RefName; commit: ObjectId }[] = [];
    for (let index = 0; index < 20; index += 1) {
      const ref = parseRefName(`refs/pull/${index}/head`);
      heads.push({
        ref,
        commit: await commit({
          ref,
          parents: [await host.tip('refs/heads/main')],
          files: { [`f${index}`]: 'x' },
        }),
      });
    }
    const outcomes = await Promise.all(heads.map(head => repository.fetch(host, [{ ref: MAIN }, head])));
    expect(outcomes.map(outcome => outcome.kind === 'fetched' && outcome.commits[1])).toEqual(
      heads.map(head => head.commit),
    );
    expect(repository.counters().fetches).toBe(1);
  });

  it('fetches nothing when the wanted commits are here', async () => {
    const tip = await commit({ files: { a: '1' } });
    await fetchOne(MAIN);
    const spawns = git.spawns();
    expect(await fetchOne(MAIN, tip)).toBe(tip);
    expect(git.spawns()).toBe(spawns);
    expect(repository.counters().fetches).toBe(1);
  });

  it('says which ref is missing and brings the others', async () => {
    const tip = await commit({ files: { a: '1' } });
    const outcome = await repository.fetch(host, [{ ref: MAIN }, { ref: parseRefName('refs/heads/gone') }]);
    expect(outcome).toEqual({ kind: 'fetched', commits: [tip, undefined] });
  });

  it('starts no process to see that a branch of this disk is where it was, and fetches nothing that is here', async () => {
    const first = await commit({ files: { a: '1' } });
    expect(await fetchOne(MAIN)).toBe(first);
    const spawns = git.spawns();
    expect(await fetchOne(MAIN)).toBe(first);
    expect(git.spawns()).toBe(spawns);
    const change = await commit({ ref: TOPIC, parents: [first], files: { b: '1' } });
    await fetchOne(TOPIC, change);
    await host.git('update-ref', MAIN, change);
    const { fetches } = repository.counters();
    expect(await fetchOne(MAIN)).toBe(change);
    expect(repository.counters().fetches).toBe(fetches);
    const second = await commit({ files: { a: '2' } });
    expect(await fetchOne(MAIN)).toBe(second);
    expect(repository.counters().fetches).toBe(fetches + 1);
  });

  it('lists first where a ref was missing the last time, and fetches only what has changed', async () => {
    // As a host elsewhere: only git can say what its refs are.
    await appendFile(`${host.path}/config`, '[transfer]\n\thideRefs = refs/hidden\n');
    const stable = parseRefName('refs/heads/stable');
    const pull = parseRefName('refs/pull/1/head');
    const wants = [{ ref: MAIN }, { ref: stable }];
    const ask = async (...more: { ref: RefName; commit?: ObjectId }[]) => {
      const before = repository.counters();
      const outcome = await repository.fetch(host, [...wants, ...more]);
      if (outcome.kind !== 'fetched') throw new Error(outcome.message);
      const { fetches, listings } = repository.counters();
      return { commits: outcome.commits, asked: [listings - before.listings, fetches - before.fetches] };
    };
    const first = await commit({ files: { a: '1' } });
    expect(await ask()).toEqual({ commits: [first, undefined], asked: [1, 2] });
    expect(await ask()).toEqual({ commits: [first, undefined], asked: [1, 0] });
    const head = await commit({ ref: pull, parents: [first], files: { b: '1' } });
    expect(await ask({ ref: pull, commit: head })).toEqual({
      commits: [first, undefined, head],
      asked: [1, 1],
    });
    const second = await commit({ files: { a: '2' } });
    expect(await ask()).toEqual({ commits: [second, undefined], asked: [1, 1] });
    const branched = await commit({ ref: stable, parents: [second], files: { c: '1' } });
    expect(await ask()).toEqual({ commits: [second, branched], asked: [1, 1] });
    await host.git('update-ref', '-d', stable);
    expect(await ask()).toEqual({ commits: [second, undefined], asked: [1, 2] });
    await host.git('update-ref', stable, first);
    expect(await fetchOne(stable)).toBe(first);
    await host.git('update-ref', '-d', stable);
    expect(await ask()).toMatchObject({ commits: [second, undefined] });
  });

  it('forgets a ref that the remote deleted', async () => {
    const ref = parseRefName('refs/heads/brief');
    await commit({ ref, files: { a: '1' } });
    expect(await fetchOne(ref)).toBeDefined();
    await host.git('update-ref', '-d', ref);
    expect(await fetchOne(ref)).toBeUndefined();
  });

  it('goes without a ref that is deleted between its listing and the fetch', async () => {
    const tip = await commit({ files: { a: '1' } });
    const [one, two] = [parseRefName('refs/heads/for/main/one'), parseRefName('refs/heads/for/main/two')];
    for (const ref of [one, two]) await commit({ ref, parents: [tip], files: { [ref]: '1' } });
    // In a pack: only git can read them.
    await host.git('repack', '-a', '-d', '-q');
    // Each fetch finds one proposal gone that the listing before it still named.
    const program = join(root, 'git-and-a-landing');
    const landing = `case "$*" in *fetch*) for ref in ${one} ${two}; do
      git --git-dir=${host.path} rev-parse --verify -q $ref >/dev/null && { git --git-dir=${host.path} update-ref -d $ref; break; }
    done;; esac\n`;
    await writeFile(program, `#!/bin/sh\n(unset GIT_DIR; ${landing})\nexec git "$@"\n`, { mode: 0o755 });
    await using racing = await openRepositoryCache({
      root: join(root, 'racing'),
      git: createGit({ identity: IDENTITY, start: startAside, program }),
      mergeTreeMode: 'process-per-merge',
    });
    const mirror = await racing.repository('local', 'acme/app');
    expect(await mirror.fetch(host, [{ ref: MAIN }, { ref: one }, { ref: two }])).toEqual({
      kind: 'fetched',
      commits: [tip, undefined, undefined],
    });
  });

  it('survives a branch that becomes a directory of branches', async () => {
    await commit({ ref: 'refs/heads/topic', files: { a: '1' } });
    expect(await fetchOne(parseRefName('refs/heads/topic'))).toBeDefined();
    await host.git('update-ref', '-d', 'refs/heads/topic');
    const below = await commit({ ref: 'refs/heads/topic/one', parents: [], files: { a: '2' } });
    expect(await fetchOne(parseRefName('refs/heads/topic/one'))).toBe(below);
  });

  it('gets a commit by its id when the ref has moved on', async () => {
    const ref = parseRefName('refs/pull/1/head');
    const old = await commit({ ref, files: { a: '1' } });
    await commit({ ref, parents: [], files: { a: '2' } });
    expect(await fetchOne(ref, old)).toBe(old);
  });

  it('answers undefined for a missing commit, next to one that exists', async () => {
    const tip = await commit({ files: { a: '1' } });
    const nowhere = parseObjectId('1234567890123456789012345678901234567890');
    const outcome = await repository.fetch(host, [
      { ref: MAIN, commit: nowhere },
      { ref: MAIN, commit: tip },
    ]);
    expect(outcome).toEqual({ kind: 'fetched', commits: [undefined, tip] });
  });

  it('finds the commit behind an annotated tag', async () => {
    const tip = await commit({ files: { a: '1' } });
    await host.git('tag', '-a', '-m', 'one', 'v1', tip);
    const ref = parseRefName('refs/tags/v1');
    const tagObject = parseObjectId(await host.git('rev-parse', 'v1'));
    expect(await fetchOne(ref)).toBe(tip);
    expect(await fetchOne(ref, tagObject)).toBe(tip);
  });

  it('treats names that look like options or shell as names', async () => {
    for (const name of ['-x', '--upload-pack=touch', '$(id)', 'a;b', "it's", 'ä', '`id`', '%2F', '@', '{}']) {
      const ref = parseRefName(`refs/heads/${name}`);
      const tip = await commit({ ref, parents: [], files: { name } });
      expect([name, await fetchOne(ref)]).toEqual([name, tip]);
    }
  });

  it('reports a missing remote in one line', async () => {
    const outcome = await repository.fetch({ url: `file://${root}/nowhere` }, [{ ref: MAIN }]);
    expect(outcome).toMatchObject({ kind: 'remote-failed', reason: 'unreachable', nature: 'host' });
    expect(outcome.kind === 'remote-failed' && outcome.message).toMatch(/^[^\n]*nowhere[^\n]*$/);
  });

  it('still answers for commits that are here when the remote is down', async () => {
    const tip = await commit({ files: { a: '1' } });
    await fetchOne(MAIN);
    const outcome = await repository.fetch({ url: `file://${root}/nowhere` }, [{ ref: MAIN, commit: tip }]);
    expect(outcome).toEqual({ kind: 'fetched', commits: [tip] });
  });

  it.each([
    'ext::sh -c touch% /tmp/owned',
    '--upload-pack=touch /tmp/owned',
    'fd::17',
    'relative/path',
    'https://host/a\nb',
  ])('refuses the remote %j without asking git', async url => {
    // The process that looks for what is here is up already.
    await repository.reader.resolve('HEAD');
    const spawns = git.spawns();
    const outcome = await repository.fetch({ url }, [{ ref: MAIN }]);
    expect(outcome).toMatchObject({ kind: 'remote-failed', reason: 'bad-url', nature: 'host' });
    expect(git.spawns() - spawns).toBe(0);
  });

  it('never shows the password of a URL', async () => {
    const server = createServer(socket => socket.end()).listen(0, '127.0.0.1');
    await new Promise(resolve => server.once('listening', resolve));
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const outcome = await repository.fetch({ url: `http://ci:hunter2@127.0.0.1:${port}/x` }, [{ ref: MAIN }]);
    server.close();
    expect(outcome).toMatchObject({ kind: 'remote-failed', reason: 'unreachable' });
    expect(JSON.stringify(outcome)).not.toContain('hunter2');
  });

  it('gives up on a remote that never answers, and works again afterwards', async () => {
    const server = createServer(() => undefined).listen(0, '127.0.0.1');
    await new Promise(resolve => server.once('listening', resolve));
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    await using impatient = await openRepositoryCache({
      root: join(root, 'impatient'),
      git: createGit({ identity: IDENTITY, start: startAside, timeoutMs: 300 }),
      mergeTreeMode: 'process-per-merge',
    });
    const mirror = await impatient.repository('local', 'slow');
    const outcome = await mirror.fetch({ url: `git://127.0.0.1:${port}/x` }, [{ ref: MAIN }]);
    server.close();
    expect(outcome).toMatchObject({
      kind: 'remote-failed',
      reason: 'timeout',
      message: 'no answer within 0.3 seconds',
    });
    const tip = await commit({ files: { a: '1' } });
    expect(await fetchOne(MAIN)).toBe(tip);
  });

  it('merges what was fetched after the merge process began', async () => {
    const base = await commit({ files: { a: '1' } });
    const one = await commit({ ref: 'refs/heads/one', parents: [base], files: { b: '1' } });
    await repository.fetch(host, [{ ref: MAIN }, { ref: parseRefName('refs/heads/one') }]);
    await repository.chain.merge(base, [{ change: one, message: 'one' }]);
    const two = await commit({ ref: 'refs/heads/two', parents: [base], files: { c: '1' } });
    await fetchOne(parseRefName('refs/heads/two'));
    expect(
      (
        await repository.chain.merge(base, [
          { change: one, message: 'one' },
          { change: two, message: 'two' },
        ])
      ).kind,
    ).toBe('merged');
  });

  it('keeps the number of packs bounded over many fetches and loses nothing', async () => {
    const all: ObjectId[] = [];
    for (let index = 0; index < 42; index += 1) {
      all.push(await commit({ files: { a: `${index}` } }));
      await fetchOne(MAIN);
    }
    const packs = (await readdir(join(repository.path, 'objects/pack'))).filter(name =>
      name.endsWith('.pack'),
    );
    expect(packs.length).toBeLessThan(10);
    expect(await repository.reader.missing(all)).toEqual([]);
    const last = all.at(-1)!;
    expect((await repository.chain.merge(all[0]!, [{ change: last, message: 'm' }])).kind).toBe('merged');
  });

  it('runs no hook and no file system monitor of a tampered mirror', async () => {
    const marker = join(root, 'ran');
    await mkdir(join(repository.path, 'hooks'), { recursive: true });
    for (const hook of ['reference-transaction', 'post-merge', 'pre-push', 'post-checkout', 'pre-auto-gc']) {
      await writeFile(join(repository.path, 'hooks', hook), `#!/bin/sh\ntouch ${marker}\n`, { mode: 0o755 });
    }
    const config = `[core]\n\tbare = true\n\tfsmonitor = "touch ${marker}"\n\tsshCommand = "touch ${marker}"\n\thooksPath = ${join(repository.path, 'hooks')}\n`;
    await writeFile(join(repository.path, 'config'), config);
    const tip = await commit({ files: { a: '1' } });
    await fetchOne(MAIN);
    await repository.push(host, [{ ref: parseRefName('refs/heads/copy'), from: null, to: tip }]);
    expect(await readdir(root)).not.toContain('ran');
  });

  it('is not stopped by the lock files of a git killed a minute ago, at a start or between', async () => {
    await commit({ files: { a: '1' } });
    await fetchOne(MAIN);
    const leave = async () => {
      const tips = (await readdir(join(repository.path, 'refs/tips'))).map(name =>
        join(repository.path, 'refs/tips', `${name}.lock`),
      );
      for (const lock of [join(repository.path, 'packed-refs.lock'), ...tips]) {
        await writeFile(lock, '');
        await utimes(lock, 1_700_000_000, 1_700_000_000);
      }
    };
    await leave();
    const second = await commit({ files: { a: '2' } });
    expect(await fetchOne(MAIN)).toBe(second);
    await leave();
    await using restarted = await openRepositoryCache({ root, git, mergeTreeMode: 'process-per-merge' });
    const third = await commit({ files: { a: '3' } });
    const again = await restarted.repository('local', 'acme/app');
    expect(await again.fetch(host, [{ ref: MAIN }])).toEqual({ kind: 'fetched', commits: [third] });
    expect(again.counters().fetches).toBe(1);
  });

  it('waits for the fresh lock of another process, and leaves it alone', async () => {
    await commit({ files: { a: '1' } });
    await fetchOne(MAIN);
    const [name] = await readdir(join(repository.path, 'refs/tips'));
    const lock = join(repository.path, 'refs/tips', `${name}.lock`);
    await writeFile(lock, '');
    const second = await commit({ files: { a: '2' } });
    let fetched = false;
    const waiting = fetchOne(MAIN).then(tip => {
      fetched = true;
      return tip;
    });
    const before = git.spawns();
    await vi.waitUntil(() => git.spawns() >= before + 2, { timeout: 20_000 });
    expect(fetched).toBe(false);
    expect((await stat(lock)).size).toBe(0);
    await rm(lock);
    expect(await waiting).toBe(second);
  });

  it('lets the users of jobs through to its objects, and shows them no names', async () => {
    expect((await stat(repository.path)).mode & 0o777).toBe(0o711);
    expect((await stat(join(repository.path, 'objects'))).mode & 0o005).toBe(0o005);
  });

  it('can be opened by two processes at once', async () => {
    const tip = await commit({ files: { a: '1' } });
    const caches = await Promise.all(
      [1, 2, 3].map(() =>
        openRepositoryCache({
          root,
          git: createGit({ identity: IDENTITY, start: startAside }),
          mergeTreeMode: 'process-per-merge',
        }),
      ),
    );
    const opened = await Promise.all(caches.map(each => each.repository('local', 'fresh')));
    const outcomes = await Promise.all(opened.map(each => each.fetch(host, [{ ref: MAIN, commit: tip }])));
    for (const each of caches) await each.close();
    expect(outcomes.map(outcome => outcome.kind)).toEqual(['fetched', 'fetched', 'fetched']);
    expect((await readdir(join(root, 'local'))).toSorted()).toEqual(['acme%2Fapp.git', 'fresh.git']);
  });

  it('keeps few coprocesses for many repositories', async () => {
    const tip = await commit({ files: { a: '1' } });
    await using small = await openRepositoryCache({
      root: join(root, 'small'),
      git,
      mergeTreeMode: 'unbuffered-coprocess',
      coprocesses: 2,
    });
    const all: Repository[] = [];
    for (let index = 0; index < 6; index += 1) {
      const each = await small.repository('local', `project-${index}`);
      await each.fetch(host, [{ ref: MAIN }]);
      all.push(each);
    }
    expect(all.filter(each => each.reader.pid() !== undefined).length).toBeLessThanOrEqual(2);
    const read = await Promise.all(all.map(each => each.reader.readPath(tip, 'a', 10)));
    expect(read.map(file => file.kind)).toEqual(Array(6).fill('file'));
  });
});

describe('listing a remote', () => {
  it('gives refs, what HEAD names, and only what was asked for', async () => {
    const tip = await commit({ files: { a: '1' } });
    await host.git('update-ref', 'refs/pull/1/head', tip);
    await host.git('tag', '-a', '-m', 'x', 'v1', tip);
    const all = await repository.lsRemote(host);
    if (all.kind !== 'refs') expect.unreachable(all.message);
    expect(all.head).toBe('refs/heads/main');
    expect([...all.refs.keys()].sort()).toEqual(['refs/heads/main', 'refs/pull/1/head', 'refs/tags/v1']);
    const heads = await repository.lsRemote(host, ['refs/heads/m']);
    expect(heads.kind === 'refs' && [...heads.refs]).toEqual([['refs/heads/main', tip]]);
    const pulls = await repository.lsRemote(host, ['refs/pull/']);
    expect(pulls.kind === 'refs' && [...pulls.refs.keys()]).toEqual(['refs/pull/1/head']);
  });

  it('is shared by all who ask at the same time', async () => {
    await commit({ files: { a: '1' } });
    await Promise.all([1, 2, 3, 4].map(() => repository.lsRemote(host, ['refs/heads/'])));
    expect(repository.counters().listings).toBe(1);
  });

  it('works on an empty repository', async () => {
    expect(await repository.lsRemote(host)).toEqual({ kind: 'refs', refs: new Map() });
  });
});

describe('pushing', () => {
  const PROPOSAL = parseRefName('refs/heads/for/main/fix');

  async function mergedChange() {
    const base = await commit({ files: { a: '1' } });
    const change = await commit({ ref: PROPOSAL, parents: [base], files: { b: '1' } });
    await repository.fetch(host, [{ ref: MAIN }, { ref: PROPOSAL }]);
    const outcome = await repository.chain.merge(base, [{ change, message: 'merge' }]);
    if (outcome.kind !== 'merged') throw new Error(outcome.kind);
    return { base, change, tested: outcome.links[0]!.commit };
  }

  it('lands a merge and deletes its proposal in one transaction', async () => {
    const { base, change, tested } = await mergedChange();
    const outcome = await repository.push(host, [
      { ref: MAIN, from: base, to: tested },
      { ref: PROPOSAL, from: change, to: null },
    ]);
    expect(outcome).toEqual({ kind: 'pushed' });
    expect(await host.git('for-each-ref', '--format=%(refname) %(objectname)')).toBe(
      `refs/heads/main ${tested}`,
    );
  });

  it('changes nothing when one of the refs has moved, and names it', async () => {
    const { base, change, tested } = await mergedChange();
    const newer = await commit({ ref: PROPOSAL, parents: [change], files: { b: '2' } });
    const outcome = await repository.push(host, [
      { ref: MAIN, from: base, to: tested },
      { ref: PROPOSAL, from: change, to: null },
    ]);
    expect(outcome).toMatchObject({ kind: 'rejected', rejections: [{ ref: PROPOSAL, reason: 'stale' }] });
    expect([await host.tip(MAIN), await host.tip(PROPOSAL)]).toEqual([base, newer]);
  });

  it('loses a race for the branch as stale', async () => {
    const { base, tested } = await mergedChange();
    const other = await commit({ files: { a: 'other' } });
    const outcome = await repository.push(host, [{ ref: MAIN, from: base, to: tested }]);
    expect(outcome).toMatchObject({ kind: 'rejected', rejections: [{ ref: MAIN, reason: 'stale' }] });
    expect(await host.tip(MAIN)).toBe(other);
  });

  it('loses a race inside the remote as stale, too', async () => {
    const { base, tested } = await mergedChange();
    const other = await commit({ ref: 'refs/heads/other', parents: [base], files: { a: 'other' } });
    // The hook runs between git's look at the ref and its update: the narrowest place another push can win.
    const hook = `#!/bin/sh\nunset GIT_QUARANTINE_PATH\ngit update-ref refs/heads/main ${other}\n`;
    await mkdir(join(host.path, 'hooks'));
    await writeFile(join(host.path, 'hooks/pre-receive'), hook, { mode: 0o755 });
    const outcome = await repository.push(host, [{ ref: MAIN, from: base, to: tested }]);
    expect(outcome).toMatchObject({ kind: 'rejected', rejections: [{ ref: MAIN, reason: 'stale' }] });
    expect(await host.tip(MAIN)).toBe(other);
  });

  it('creates a ref only when there is none', async () => {
    const { base, tested } = await mergedChange();
    const ref = parseRefName('refs/heads/new');
    expect(await repository.push(host, [{ ref, from: null, to: base }])).toEqual({ kind: 'pushed' });
    const again = await repository.push(host, [{ ref, from: null, to: tested }]);
    expect(again).toMatchObject({ kind: 'rejected', rejections: [{ ref, reason: 'stale' }] });
  });

  it('passes on what a hook of the remote says', async () => {
    const { base, tested } = await mergedChange();
    await mkdir(join(host.path, 'hooks'));
    await writeFile(
      join(host.path, 'hooks/update'),
      '#!/bin/sh\necho "branch is frozen until Monday" >&2\nexit 1\n',
      { mode: 0o755 },
    );
    const outcome = await repository.push(host, [{ ref: MAIN, from: base, to: tested }]);
    expect(outcome).toMatchObject({
      kind: 'rejected',
      rejections: [{ ref: MAIN, reason: 'refused', nature: 'policy' }],
    });
    expect(outcome.kind === 'rejected' && outcome.rejections[0].message).toContain(
      'branch is frozen until Monday',
    );
  });

  it.each(['packed-refs', 'refs/heads/main'])('reports a lock at %s as host trouble', async name => {
    const { base, change, tested } = await mergedChange();
    for (const wait of ['packedRefsTimeout', 'filesRefLockTimeout'])
      await host.git('config', `core.${wait}`, '50');
    await host.git('pack-refs', '--all');
    await writeFile(join(host.path, `${name}.lock`), '');
    const changes = [
      { ref: MAIN, from: base, to: tested },
      { ref: PROPOSAL, from: change, to: null },
    ];
    const outcome = await repository.push(host, changes);
    if (outcome.kind !== 'rejected') expect.unreachable(outcome.kind);
    expect(outcome.rejections.map(({ nature }) => nature)).not.toContain('policy');
    const said = [...new Set(outcome.rejections.map(({ message }) => message))];
    expect(said).toHaveLength(1);
    expect(said[0]).toMatch(/Unable to create '…\/[a-z-]+\.lock': File exists/);
    expect(said[0]).not.toContain(host.path);
    expect(said[0]?.match(/File exists/g)).toHaveLength(1);
    await rm(join(host.path, `${name}.lock`));
    expect(await repository.push(host, changes)).toEqual({ kind: 'pushed' });
  });

  it('does not rewind a branch unless forced', async () => {
    const { base, tested } = await mergedChange();
    await repository.push(host, [{ ref: MAIN, from: base, to: tested }]);
    const rewind = { ref: MAIN, from: tested, to: base };
    expect(await repository.push(host, [rewind])).toMatchObject({
      kind: 'rejected',
      rejections: [{ reason: 'not-fast-forward' }],
    });
    expect(await repository.push(host, [{ ...rewind, force: true }])).toEqual({ kind: 'pushed' });
  });

  it('reports a missing remote', async () => {
    const { base, tested } = await mergedChange();
    const outcome = await repository.push({ url: `file://${root}/nowhere` }, [
      { ref: MAIN, from: base, to: tested },
    ]);
    expect(outcome).toMatchObject({ kind: 'remote-failed', reason: 'unreachable' });
  });
});

describe('notes', () => {
  const NOTES = parseRefName('refs/notes/gatehouse');

  it('that are asked for at the same time share their fetches and pushes', async () => {
    const tip = await commit({ files: { a: '1' } });
    const before = repository.counters().fetches;
    const outcomes = await Promise.all(
      [0, 1, 2, 3, 4, 5].map(index =>
        repository.appendNote(host, { ref: NOTES, commit: tip, text: `note ${index}` }),
      ),
    );
    expect(outcomes).toEqual(outcomes.map(() => ({ kind: 'added' })));
    expect(repository.counters().fetches - before).toBeLessThanOrEqual(2);
    const text = await host.git('notes', '--ref=gatehouse', 'show', tip);
    expect(text.split('\n\n')).toEqual([0, 1, 2, 3, 4, 5].map(index => `note ${index}`));
  });

  it('are appended, once per paragraph', async () => {
    const tip = await commit({ files: { a: '1' } });
    expect(await repository.appendNote(host, { ref: NOTES, commit: tip, text: 'check: SUCCESS' })).toEqual({
      kind: 'added',
    });
    expect(await repository.appendNote(host, { ref: NOTES, commit: tip, text: 'gate: FAILURE' })).toEqual({
      kind: 'added',
    });
    expect(await repository.appendNote(host, { ref: NOTES, commit: tip, text: 'gate: FAILURE' })).toEqual({
      kind: 'already-there',
    });
    expect(await host.git('notes', '--ref=gatehouse', 'show', tip)).toBe('check: SUCCESS\n\ngate: FAILURE');
  });

  it('keep what others wrote meanwhile', async () => {
    const tip = await commit({ files: { a: '1' } });
    const other = await cache.repository('local', 'other-mirror');
    const outcomes = await Promise.all([
      ...[1, 2, 3].map(index =>
        repository.appendNote(host, { ref: NOTES, commit: tip, text: `here ${index}` }),
      ),
      ...[1, 2, 3].map(index => other.appendNote(host, { ref: NOTES, commit: tip, text: `there ${index}` })),
    ]);
    expect(outcomes.map(outcome => outcome.kind)).toEqual(Array(6).fill('added'));
    const paragraphs = (await host.git('notes', '--ref=gatehouse', 'show', tip)).split('\n\n').sort();
    expect(paragraphs).toEqual(['here 1', 'here 2', 'here 3', 'there 1', 'there 2', 'there 3']);
  });
});

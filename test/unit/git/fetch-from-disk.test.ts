/** What is brought from a repository of this disk without a process, and what is left to git. */
import { chmod, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readLooseObject } from '../../../src/git/objects/loose-object.ts';
import { type ObjectId, parseObjectId } from '../../../src/git/objects/object-id.ts';
import { createObjectWriter } from '../../../src/git/objects/object-writer.ts';
import { parseRefName, type RefName } from '../../../src/git/objects/ref-name.ts';
import { createGit } from '../../../src/git/process/git.ts';
import { createAbsentRefs } from '../../../src/git/remote/absent-refs.ts';
import { fetchFromDisk } from '../../../src/git/remote/fetch-from-disk.ts';
import { createMirrorRest } from '../../../src/git/remote/mirror-rest.ts';
import { createTooLargeCommits } from '../../../src/git/remote/too-large.ts';
import { openRepositoryCache } from '../../../src/git/repository-cache.ts';
import { startAside } from '../../../src/git/starter/start-aside.ts';
import { createUploadPackHost } from '../../../src/git/wire/upload-pack-host.ts';
import { createGitRepository, type GitRepository } from '../../fake/git-repository.ts';
import { IDENTITY } from './open-repository.ts';

const MAIN = parseRefName('refs/heads/main');
const TOPIC = parseRefName('refs/heads/for/main/topic');

let host: GitRepository;
let mirror: Awaited<ReturnType<typeof openMirror>>;

beforeEach(async () => {
  host = await createGitRepository();
  mirror = await openMirror(host.path);
});
afterEach(async () => {
  await mirror[Symbol.asyncDispose]();
  await host.remove();
});

/** Processes that the fetch took, and what it brought. */
async function fetched(ref: RefName, commit?: ObjectId) {
  const before = mirror.git.spawns();
  const outcome = await mirror.repository.fetch(mirror.remote, [
    { ref, ...(commit === undefined ? {} : { commit }) },
  ]);
  if (outcome.kind !== 'fetched') throw new Error(outcome.message);
  return { commit: outcome.commits[0], processes: mirror.git.spawns() - before };
}

/** Everything that the mirror's refs lead to is there and sound. */
async function isWhole(): Promise<string> {
  const git = ['--git-dir', mirror.repository.path];
  return host.git(...git, 'fsck', '--strict', '--no-dangling');
}

async function commit(spec: Parameters<GitRepository['commit']>[0]): Promise<ObjectId> {
  return parseObjectId(await host.commit(spec));
}

test('a push of a few small objects comes without a process, and all that it leads to', async () => {
  const first = await commit({ files: { 'README.md': '1\n', 'src/a/b.txt': '2\n' } });
  expect(await fetched(MAIN)).toEqual({ commit: first, processes: 0 });
  const below = await commit({ ref: TOPIC, parents: [first], files: { 'src/a/c.txt': '3\n' } });
  const tip = await commit({ ref: TOPIC, parents: [below], files: { 'src/a/b.txt': null, d: 'é\n' } });
  expect(await fetched(TOPIC, tip)).toEqual({ commit: tip, processes: 0 });
  expect(await isWhole()).toBe('');
  const refs = await host.git(
    '--git-dir',
    mirror.repository.path,
    'for-each-ref',
    '--format=%(objectname) %(refname)',
  );
  expect(
    refs
      .split('\n')
      .map(line => line.split(' ')[0])
      .toSorted(),
  ).toEqual([first, tip].toSorted());
});

test('a commit with two parents brings both, and what the mirror has is not copied again', async () => {
  const first = await commit({ files: { a: '1' } });
  await fetched(MAIN);
  const left = await commit({ ref: 'refs/heads/left', parents: [first], files: { b: '1' } });
  const right = await commit({ ref: 'refs/heads/right', parents: [first], files: { c: '1' } });
  const merge = await commit({ ref: TOPIC, parents: [left, right], files: { c: '1', d: '1' } });
  const before = await looseObjects(mirror.repository.path);
  expect(await fetched(TOPIC)).toEqual({ commit: merge, processes: 0 });
  // Three commits, their trees, and what stands in the files: all of them `1`, which is there.
  expect((await looseObjects(mirror.repository.path)).length - before.length).toBe(6);
  expect(await isWhole()).toBe('');
});

const LEFT_TO_GIT: readonly (readonly [name: string, change: (tip: ObjectId) => Promise<unknown>])[] = [
  ['packed objects', () => host.git('repack', '-a', '-d', '-q')],
  ['a tree in a pack, below a loose commit', tip => packAllBut(tip)],
  ['settings that only git reads', () => host.git('config', 'transfer.hideRefs', 'refs/hidden')],
];

test.each(LEFT_TO_GIT)('%s: git fetches', async (_name, change) => {
  const tip = await commit({ files: { a: '1', 'b/c': '2' } });
  await change(tip);
  const found = await fetched(MAIN);
  expect(found.commit).toBe(tip);
  expect(found.processes).toBeGreaterThan(1);
  expect(await isWhole()).toBe('');
});

test('a change in a folder of 2 200 files is fetched by git, which need not ask for each', async () => {
  const many = Object.fromEntries(Array.from({ length: 2_200 }, (_, index) => [`f${index}`, `${index}`]));
  const first = await commit({ files: many });
  await fetched(MAIN);
  // With git's smaller commands, which leave loose objects.
  const blob = (await host.raw(['hash-object', '-w', '--stdin'], 'y')).toString().trim();
  const listing = await host.git('ls-tree', first);
  const tree = (await host.raw(['mktree'], listing.replace(/[0-9a-f]{40}\tf1$/m, `${blob}\tf1`)))
    .toString()
    .trim();
  const tip = parseObjectId(await host.git('commit-tree', tree, '-p', first, '-m', 'change'));
  await host.git('update-ref', TOPIC, tip);
  const found = await fetched(TOPIC, tip);
  expect(found.commit).toBe(tip);
  expect(found.processes).toBeGreaterThan(0);
});

test('many objects, and large ones, are fetched by git', async () => {
  const many = Object.fromEntries(Array.from({ length: 120 }, (_, index) => [`f${index}`, `${index}`]));
  const tip = await commit({ files: many });
  expect((await fetched(MAIN)).processes).toBeGreaterThan(1);
  const large = await commit({ ref: TOPIC, parents: [tip], files: { zeros: '0'.repeat(2_000_000) } });
  const found = await fetched(TOPIC, large);
  expect(found.commit).toBe(large);
  expect(found.processes).toBeGreaterThan(0);
  expect(await isWhole()).toBe('');
});

test('a file is believed when it holds what its name stands for, whole, plain and not too large', async () => {
  const tip = await commit({ files: { a: 'hello\n' } });
  const id = parseObjectId(await host.git('rev-parse', `${tip}:a`));
  expect(readLooseObject(host.path, id, 6)).toEqual({ kind: 'blob', content: Buffer.from('hello\n') });
  expect(readLooseObject(host.path, id, 5)).toBeUndefined();
  expect(readLooseObject(host.path, parseObjectId('1'.repeat(40)), 100)).toBeUndefined();

  const file = join(host.path, 'objects', id.slice(0, 2), id.slice(2));
  const whole = await readFile(file);
  await chmod(file, 0o644);
  const contents = [
    deflateSync('blob 6\0hallo\n'),
    whole.subarray(0, -6),
    Buffer.from('no zlib'),
    Buffer.alloc(0),
    // Kilobytes that unfold to many megabytes.
    deflateSync(Buffer.alloc(50_000_000)),
  ];
  for (const content of contents) {
    await writeFile(file, content);
    expect(readLooseObject(host.path, id, 1_000)).toBeUndefined();
  }
  await rename(file, `${file}.elsewhere`);
  await writeFile(`${file}.elsewhere`, whole);
  await symlink(`${file}.elsewhere`, file);
  expect(readLooseObject(host.path, id, 1_000)).toBeUndefined();
});

test('what the file system does not take is left to git, which has other ways, or says what is wrong', async () => {
  const first = await commit({ files: { a: '1' } });
  await fetched(MAIN);
  const tip = await commit({ ref: TOPIC, parents: [first], files: { b: 'new' } });
  const blob = await host.git('rev-parse', `${tip}:b`);
  // Nothing can be written there, also by root.
  const folder = join(mirror.repository.path, 'objects', blob.slice(0, 2));
  await writeFile(folder, '');
  const found = await fetched(TOPIC, tip);
  expect(found.commit).toBe(tip);
  expect(found.processes).toBeGreaterThan(0);
  await rm(folder);
  expect(await isWhole()).toBe('');
});

test('each object is written after all that it leads to, so that a kill leaves whole ones', async () => {
  const first = await commit({ files: { a: '1', 'x/y/old': '1' } });
  await fetched(MAIN);
  const below = await commit({
    ref: TOPIC,
    parents: [first],
    files: { 'x/y/z': 'new\n', 'x/v/w': 'more\n' },
  });
  const tip = await commit({ ref: TOPIC, parents: [below], files: { 'x/v/w': 'other\n' } });
  const { git, repository, remote } = mirror;
  const written: string[] = [];
  const writer = createObjectWriter(repository.path, async id => void written.push(id));
  const deps = {
    ...{ git, gitDir: repository.path, reader: repository.reader, writer },
    ...{ tooLarge: createTooLargeCommits(), absent: createAbsentRefs(), mirrorRest: createMirrorRest() },
    ...{ onFetch: () => {}, onListing: () => {}, onMirrorFailure: () => {} },
    host: createUploadPackHost({ proxied: false }),
  };
  expect(await fetchFromDisk(deps, remote, [{ ref: TOPIC, commit: tip }])).toBe('brought');
  // Two commits, each with its folders on the way to what changed, and three contents.
  expect(written).toHaveLength(2 + 4 + 3 + 3);
  for (const [index, id] of written.entries()) {
    const shown = await host.git('cat-file', '-p', id);
    const leadsTo = written.filter(each => each !== id && shown.includes(each));
    expect(leadsTo.filter(each => written.indexOf(each) > index)).toEqual([]);
  }
});

async function looseObjects(path: string): Promise<readonly string[]> {
  const folders = (await readdir(join(path, 'objects'))).filter(name => name.length === 2);
  const names = await Promise.all(folders.map(folder => readdir(join(path, 'objects', folder))));
  return names.flat();
}

async function packAllBut(tip: ObjectId): Promise<void> {
  const tree = await host.git('rev-parse', `${tip}^{tree}`);
  const blobs = [await host.git('rev-parse', `${tip}:a`), await host.git('rev-parse', `${tip}:b/c`)];
  const inner = await host.git('rev-parse', `${tip}:b`);
  await host.raw(['pack-objects', '-q', 'objects/pack/pack'], `${[tree, inner, ...blobs].join('\n')}\n`);
  for (const id of [tree, inner, ...blobs]) await rm(join(host.path, 'objects', id.slice(0, 2), id.slice(2)));
}

/** An empty mirror of the host. */
async function openMirror(url: string) {
  const root = await mkdtemp(join(tmpdir(), 'gatehouse-mirror-'));
  const git = createGit({ identity: IDENTITY, start: startAside });
  const cache = await openRepositoryCache({ root, git, mergeTreeMode: 'process-per-merge' });
  return {
    git,
    repository: await cache.repository('local', 'acme/app'),
    remote: { url },
    async [Symbol.asyncDispose]() {
      await cache[Symbol.asyncDispose]();
      await rm(root, { recursive: true, force: true });
    },
  };
}

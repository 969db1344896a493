import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ObjectId, parseObjectId } from '../../../src/git/objects/object-id.ts';
import { parseRefName } from '../../../src/git/objects/ref-name.ts';
import { parseCommitId } from '../../../src/model/project.ts';
import { commitUnfolding } from '../git/unfolding-pack.ts';
import {
  configFilesRequest,
  expectKind,
  key,
  type MergerStage,
  openStage,
  repoStateRequest,
} from './merger-stage.ts';

let stage: MergerStage;
beforeEach(async () => {
  stage = await openStage();
});
afterEach(() => stage[Symbol.asyncDispose]());

describe('a repo state request', () => {
  it('answers the heads of all branches or of those named', async () => {
    const app = await stage.host('app');
    const main = await app.commit({ files: { a: '1' } });
    const other = await app.commit({ ref: 'refs/heads/other', parents: [], files: { a: '2' } });
    const all = expectKind(
      await stage.serve(repoStateRequest([{ project: key('app'), branches: [] }])),
      'repo-state',
    );
    expect(all.heads).toEqual([
      { project: key('app'), branch: 'main', commit: main },
      { project: key('app'), branch: 'other', commit: other },
    ]);
    const named = await stage.serve(
      repoStateRequest([{ project: key('app'), branches: ['other', 'absent'] }]),
    );
    expect(expectKind(named, 'repo-state').heads).toEqual([
      { project: key('app'), branch: 'other', commit: other },
    ]);
  });

  it('has the commits in the mirror afterwards', async () => {
    const app = await stage.host('app');
    await app.commit({ files: { a: '1' } });
    const { heads } = expectKind(
      await stage.serve(repoStateRequest([{ project: key('app'), branches: [] }])),
      'repo-state',
    );
    const repository = await stage.cache.repository('local', 'app');
    expect(await repository.reader.missing(heads.map(({ commit }) => commit as never))).toEqual([]);
  });
});

describe('a config files request', () => {
  it('reads every branch at its tip', async () => {
    const app = await stage.host('app');
    await app.commit({ files: { 'zuul.yaml': 'main\n' } });
    await app.commit({
      ref: 'refs/heads/stable',
      parents: [],
      files: { '.zuul.d/a.yaml': 'a\n', '.zuul.d/b/c.yaml': 'c\n' },
    });
    await app.commit({ ref: 'refs/heads/plain', parents: [], files: { README: 'x' } });
    const { branches } = expectKind(await stage.serve(configFilesRequest('app')), 'config-files');
    expect(
      branches.map(({ branch, files }) => [branch, files.map(({ path, text }) => [path, text])]),
    ).toEqual([
      ['main', [['zuul.yaml', 'main\n']]],
      ['plain', []],
      [
        'stable',
        [
          ['.zuul.d/a.yaml', 'a\n'],
          ['.zuul.d/b/c.yaml', 'c\n'],
        ],
      ],
    ]);
  });

  it('leaves out directories with a file .zuul.ignore, and reads the further places that are named', async () => {
    const app = await stage.host('app');
    await app.commit({
      files: {
        'zuul.d/a.yaml': '',
        'zuul.d/play/.zuul.ignore': '',
        'zuul.d/play/b.yaml': '',
        'zuul.d/play/below/c.yaml': '',
        'zuul.d/player.yaml': '',
        'ci/extra.yaml': '',
        'ci/extra.d/d.yaml': '',
        'ci/extra.d/e.txt': '',
        'ci/extra.d/below/f.yaml': '',
        'ci/extra.d/ignored/g.yaml': '',
        'ci/extra.d/ignored/.zuul.ignore': '',
        'other.yaml': '',
      },
    });
    const read = async (extraPaths: readonly string[]) => {
      const outcome = expectKind(
        await stage.serve(configFilesRequest('app', { extraPaths })),
        'config-files',
      );
      return outcome.branches.flatMap(({ files }) => files.map(({ path }) => path));
    };
    const usual = ['zuul.d/a.yaml', 'zuul.d/player.yaml'];
    expect(await read([])).toEqual(usual);
    const paths = [
      'ci/extra.d/',
      'ci/extra.yaml',
      'ci/extra.d/below/',
      'ci/none.d/',
      'ci',
      'ci/extra.yaml/',
      'no/such.yaml',
    ];
    expect(await read(paths)).toEqual([
      ...usual,
      'ci/extra.d/below/f.yaml',
      'ci/extra.d/d.yaml',
      'ci/extra.yaml',
    ]);
  });

  it('does not ask the remote again for a commit it has seen', async () => {
    const app = await stage.host('app');
    const first = parseCommitId(await app.commit({ files: { 'zuul.yaml': '1' } }));
    const second = parseCommitId(await app.commit({ files: { 'zuul.yaml': '2' } }));
    const ask = async (commit?: typeof first) => {
      const atLeast = commit === undefined ? [] : [{ branch: 'main', commit }];
      const outcome = expectKind(
        await stage.serve(configFilesRequest('app', { branches: ['main'], atLeast })),
        'config-files',
      );
      return outcome.branches[0]!.files[0]!.text;
    };
    expect(await ask(first)).toBe('2');
    expect(await ask(first)).toBe('2');
    expect(await ask(second)).toBe('2');
    expect(stage.cache.counters().fetches).toBe(1);
    const third = parseCommitId(await app.commit({ files: { 'zuul.yaml': '3' } }));
    expect(await ask(second)).toBe('2');
    expect(await ask(third)).toBe('3');
    const { fetches, listings } = stage.cache.counters();
    expect(fetches).toBe(2);
    // The branch is asked for as it is now, and is where it was.
    expect(await ask()).toBe('3');
    expect(stage.cache.counters()).toMatchObject({ fetches, listings: listings + 1 });
  });

  it('does not ask the remote for a commit that was made here and landed', async () => {
    const app = await stage.host('app');
    const main = parseObjectId(await app.commit({ files: { 'zuul.yaml': '1' } }));
    const change = parseObjectId(
      await app.commit({ ref: 'refs/pull/1/head', parents: [main], files: { 'zuul.yaml': '2' } }),
    );
    const repository = await stage.cache.repository('local', 'app');
    await repository.fetch(app, [{ ref: parseRefName('refs/heads/main') }]);
    await repository.fetch(app, [{ ref: parseRefName('refs/pull/1/head'), commit: change }]);
    const merged = await repository.chain.merge(main, [{ change, message: 'Merge 1\n' }]);
    if (merged.kind !== 'merged') throw new Error(merged.kind);
    const landed = merged.links[0]!.commit;
    await repository.push(app, [{ ref: parseRefName('refs/heads/main'), from: main, to: landed }]);
    const { fetches } = repository.counters();
    const ask = async (commit: ObjectId) =>
      expectKind(
        await stage.serve(
          configFilesRequest('app', {
            branches: ['main'],
            atLeast: [{ branch: 'main', commit: parseCommitId(commit) }],
          }),
        ),
        'config-files',
      ).branches.map(each => [each.commit, each.files.map(({ text }) => text)]);
    expect(await ask(landed)).toEqual([[landed, ['2']]]);
    expect(repository.counters().fetches).toBe(fetches);
    const rewound = parseObjectId(await app.commit({ parents: [main], files: { 'zuul.yaml': '3' } }));
    expect(await ask(rewound)).toEqual([[rewound, ['3']]]);
  });

  it('names what it does not read: links, large and binary files', async () => {
    const app = await stage.host('app');
    await app.commit({
      files: { 'zuul.d/large.yaml': 'x'.repeat(1_000_001) },
      rawFiles: [[Buffer.from('zuul.d/latin-\xe9.yaml', 'latin1'), 'ok']],
    });
    const blob = (await app.raw(['hash-object', '-w', '--stdin'], Buffer.from([0xff, 0xfe])))
      .toString()
      .trim();
    const link = (await app.raw(['hash-object', '-w', '--stdin'], '/etc/passwd')).toString().trim();
    const stream = `commit refs/heads/main\ncommitter a <a@b> 1767300000 +0000\ndata 0\nfrom refs/heads/main^0\nM 100644 ${blob} zuul.d/bad.yaml\nM 120000 ${link} zuul.yaml\n`;
    await app.raw(['fast-import', '--quiet'], stream);
    const { branches } = expectKind(await stage.serve(configFilesRequest('app')), 'config-files');
    expect(branches[0]!.files).toEqual([
      { path: 'zuul.yaml', text: '', problem: 'is a symbolic link; links are not followed' },
      { path: 'zuul.d/bad.yaml', text: '', problem: 'is not UTF-8' },
      { path: 'zuul.d/large.yaml', text: '', problem: 'is larger than 1000000 bytes' },
      { path: '"zuul.d/latin-\\351.yaml"', text: 'ok' },
    ]);
  });

  it('fails when the project cannot be reached', async () => {
    const outcome = expectKind(await stage.serve(configFilesRequest('gone')), 'failed');
    expect(outcome.text).toMatch(/^Unable to update local\/gone: /);
  });
});

describe('a branch whose tip is too large to read', () => {
  it('is named in the answer, alone and among others, and is fetched once', async () => {
    await using small = await openStage({ memoryBytes: 150_000_000 });
    const app = await small.host('app');
    const main = await app.commit({ files: { 'zuul.yaml': 'main\n' } });
    const huge = await commitUnfolding(app.path, main);
    await app.git('update-ref', 'refs/heads/evil', huge);
    const ask = async (...branches: readonly string[]) =>
      expectKind(await small.serve(configFilesRequest('app', { branches })), 'config-files');
    const { text } = (await ask('evil')).tooLarge?.[0] ?? {};
    expect(text).toBe('too large to read: more than 150 MB of memory, limit [merger] git_memory_limit');
    const tooLarge = [{ branch: 'evil', commit: huge, text }];
    const read = [{ branch: 'main', commit: main }];
    expect(await ask('evil', 'main')).toMatchObject({ branches: read, tooLarge });
    const { fetches } = small.cache.counters();
    for (let time = 1; time <= 3; time += 1)
      expect(await ask('evil')).toMatchObject({ branches: [], tooLarge });
    expect(await ask()).toMatchObject({ branches: read, tooLarge });
    expect(await ask('main')).not.toHaveProperty('tooLarge');
    expect(small.cache.counters().fetches).toBe(fetches);
  });
});

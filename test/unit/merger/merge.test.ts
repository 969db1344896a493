import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { MergeInput } from '../../../src/model/merge.ts';
import { parseCommitId } from '../../../src/model/project.ts';
import { runGit } from '../../fake/git-repository.ts';
import { expectKind, key, type MergerStage, mergeRequest, openStage } from './merger-stage.ts';

let stage: MergerStage;
beforeEach(async () => {
  stage = await openStage();
});
afterEach(() => stage[Symbol.asyncDispose]());

const lines = (changed: number, text: string) =>
  Array.from({ length: 30 }, (_, index) => (index === changed ? text : `${index}`)).join('\n');

describe('a merge request', () => {
  it('merges the changes ahead and the own one, and lists what the own one changed', async () => {
    const app = await stage.host('app');
    const base = await app.commit({ files: { 'a.txt': lines(-1, ''), 'b.txt': 'b' } });
    const ahead = await stage.propose('app', '1', { 'a.txt': lines(1, 'ahead') });
    const own = await stage.propose('app', '2', {
      'a.txt': lines(20, 'own'),
      'new/c.txt': 'c',
      'b.txt': null,
    });
    const outcome = expectKind(await stage.serve(mergeRequest([ahead, own])), 'merged');
    const alone = expectKind(await stage.serve(mergeRequest([ahead])), 'merged');
    expect(outcome.branches).toEqual([
      {
        project: key('app'),
        branch: 'main',
        base,
        before: alone.branches[0]!.commit,
        beforeTree: alone.branches[0]!.tree,
        commit: expect.any(String),
        tree: expect.any(String),
        inputs: [ahead, own].map(({ ref, commit, message }) => ({ ref, commit, message })),
      },
    ]);
    expect(outcome.filesChanged).toEqual([{ project: key('app'), files: ['a.txt', 'b.txt', 'new/c.txt'] }]);
    const repository = await stage.cache.repository('local', 'app');
    const shown = await runGit(repository.path, ['log', '--format=%s', outcome.branches[0]!.commit]);
    expect(shown.toString().split('\n').slice(0, 4)).toEqual(['Merge 2', 'change 2', 'Merge 1', 'change 1']);
  });

  it('brings configuration of the further places that are named for a project', async () => {
    const app = await stage.host('app');
    await app.commit({ files: { 'zuul.yaml': 'a', 'ci.d/b.yaml': 'b' } });
    const own = await stage.propose('app', '1', { 'ci.d/b.yaml': 'c' });
    const configOf = async (
      extraPaths?: readonly { project: typeof own.project; paths: readonly string[] }[],
    ) => {
      const more = extraPaths === undefined ? {} : { extraPaths };
      const outcome = expectKind(await stage.serve(mergeRequest([own], more)), 'merged');
      return outcome.config.flatMap(({ files }) => files.map(({ path, text }) => `${path} ${text}`));
    };
    expect(await configOf([{ project: key('app'), paths: ['ci.d/'] }])).toEqual([
      'zuul.yaml a',
      'ci.d/b.yaml c',
    ]);
    expect(await configOf([{ project: key('lib'), paths: ['ci.d/'] }])).toEqual([]);
    expect(await configOf()).toEqual([]);
  });

  it('brings the configuration of a branch that is always read, changed or not', async () => {
    const app = await stage.host('app');
    await app.commit({ files: { 'zuul.yaml': 'a' } });
    const own = await stage.propose('app', '1', { code: 'c' });
    const configOf = async (alwaysRead: readonly { project: typeof own.project; branch: string }[]) => {
      const outcome = expectKind(await stage.serve(mergeRequest([own], { alwaysRead })), 'merged');
      return outcome.config.map(({ branch, files }) => `${branch}: ${files.map(({ text }) => text)}`);
    };
    expect(await configOf([{ project: key('app'), branch: 'main' }])).toEqual(['main: a']);
    expect(await configOf([{ project: key('app'), branch: 'stable' }])).toEqual([]);
    expect(await configOf([{ project: key('lib'), branch: 'main' }])).toEqual([]);
  });

  it('keeps projects and branches apart', async () => {
    const app = await stage.host('app');
    const lib = await stage.host('lib');
    await app.commit({ files: { a: '1' } });
    await app.commit({ ref: 'refs/heads/stable', parents: [], files: { a: 'stable' } });
    await lib.commit({ files: { l: '1' } });
    const inputs = [
      await stage.propose('app', '1', { one: '1' }),
      await stage.propose('lib', '2', { two: '2' }),
      await stage.propose('app', '3', { three: '3' }, { branch: 'stable' }),
    ];
    const outcome = expectKind(await stage.serve(mergeRequest(inputs, { own: 2 })), 'merged');
    expect(outcome.branches.map(({ project, branch }) => `${project} ${branch}`)).toEqual([
      'local/app main',
      'local/lib main',
      'local/app stable',
    ]);
    expect(outcome.filesChanged).toEqual([
      { project: key('app'), files: ['three'] },
      { project: key('lib'), files: ['two'] },
    ]);
    expect(outcome.steps.map(({ kind, subject }) => `${kind} ${subject}`)).toEqual([
      'FetchRefs local/app',
      'FetchRefs local/lib',
      'MergeChanges local/app',
      'MergeChanges local/lib',
      'MergeChanges local/app',
      'ReadConfig local/app',
      'ReadConfig local/lib',
    ]);
    expect(outcome.worker).toBe('merger-1');
  });

  it('names the change, project and files of a conflict', async () => {
    const app = await stage.host('app');
    await app.commit({ files: { a: '1' } });
    const inputs = [
      await stage.propose('app', '1', { new: 'one' }),
      await stage.propose('app', '2', { new: 'two' }),
    ];
    const outcome = expectKind(await stage.serve(mergeRequest(inputs)), 'conflict');
    expect(outcome).toMatchObject({ change: 'local/app#2', project: key('app'), files: ['new'] });
    expect(outcome.steps.at(-1)).toMatchObject({ kind: 'MergeChanges', result: 'FAILURE' });
  });

  it('reports the earliest of several conflicts', async () => {
    for (const name of ['app', 'lib']) await (await stage.host(name)).commit({ files: { a: '1' } });
    const inputs = [
      await stage.propose('app', '1', { x: '1' }),
      await stage.propose('lib', '2', { x: '1' }),
      await stage.propose('lib', '3', { x: '2' }),
      await stage.propose('app', '4', { x: '2' }),
    ];
    expect(expectKind(await stage.serve(mergeRequest(inputs)), 'conflict').change).toBe('local/lib#3');
  });

  it('names the last change ahead that touched a conflicting file', async () => {
    await (await stage.host('app')).commit({ files: { a: '1', 'd/b': '1' } });
    const inputs = [
      await stage.propose('app', '1', { a: 'one' }),
      await stage.propose('app', '2', { 'd/b': 'two' }),
      await stage.propose('app', '3', { new: '3' }),
      await stage.propose('app', '4', { 'd/b': 'four', other: '4' }),
    ];
    const outcome = expectKind(await stage.serve(mergeRequest(inputs)), 'conflict');
    expect(outcome).toMatchObject({ change: 'local/app#4', files: ['d/b'], with: 'local/app#2' });
  });

  it('names no change when the branch itself conflicts', async () => {
    const app = await stage.host('app');
    await app.commit({ files: { a: '1' } });
    const old = await stage.propose('app', '1', { a: 'one' });
    await app.commit({ files: { a: '2' } });
    const ahead = await stage.propose('app', '2', { new: '2' });
    const outcome = expectKind(await stage.serve(mergeRequest([ahead, old])), 'conflict');
    expect(outcome).toMatchObject({ change: 'local/app#1', files: ['a'] });
    expect(outcome.with).toBeUndefined();
  });

  it('returns the configuration only where the changes touch it', async () => {
    const app = await stage.host('app');
    const lib = await stage.host('lib');
    await app.commit({ files: { 'zuul.yaml': '- job: {name: a}\n', 'src/a': '1' } });
    await lib.commit({ files: { 'zuul.d/jobs.yaml': '- job: {name: l}\n', 'src/l': '1' } });
    const quiet = await stage.propose('app', '1', { 'src/a': '2' });
    const touching = await stage.propose('lib', '2', {
      'zuul.d/more/projects.yaml': '- project: {}\n',
      'zuul.d/README.md': 'no',
      '.zuul.yaml': '- job: {name: second}\n',
    });
    const outcome = expectKind(await stage.serve(mergeRequest([quiet, touching])), 'merged');
    expect(outcome.config).toEqual([
      {
        project: key('lib'),
        branch: 'main',
        commit: outcome.branches[1]!.commit,
        files: [
          { path: '.zuul.yaml', text: '- job: {name: second}\n' },
          { path: 'zuul.d/jobs.yaml', text: '- job: {name: l}\n' },
          { path: 'zuul.d/more/projects.yaml', text: '- project: {}\n' },
        ],
      },
    ]);
  });

  it('returns an empty configuration when the change removes it', async () => {
    const app = await stage.host('app');
    await app.commit({ files: { 'zuul.yaml': '- job: {name: a}\n', b: '1' } });
    const outcome = expectKind(
      await stage.serve(mergeRequest([await stage.propose('app', '1', { 'zuul.yaml': null })])),
      'merged',
    );
    expect(outcome.config).toMatchObject([{ files: [] }]);
  });

  it('gives heads of wanted projects with the merged commits in place of the tips', async () => {
    const app = await stage.host('app');
    const roles = await stage.host('roles');
    await app.commit({ files: { a: '1' } });
    const stable = await app.commit({ ref: 'refs/heads/stable', parents: [], files: { a: 's' } });
    const role = await roles.commit({ files: { r: '1' } });
    await roles.commit({ ref: 'refs/heads/other', parents: [], files: { r: '2' } });
    const states = [
      { project: key('app'), branches: [] },
      { project: key('roles'), branches: ['main', 'absent'] },
    ];
    const outcome = expectKind(
      await stage.serve(mergeRequest([await stage.propose('app', '1', { b: '1' })], { states })),
      'merged',
    );
    expect(outcome.heads).toEqual([
      { project: key('app'), branch: 'main', commit: outcome.branches[0]!.commit },
      { project: key('app'), branch: 'stable', commit: stable },
      { project: key('roles'), branch: 'main', commit: role },
    ]);
  });

  it('takes a pinned commit as it is, with its files and configuration', async () => {
    const app = await stage.host('app');
    const before = parseCommitId(await app.commit({ files: { a: '1' } }));
    const commit = parseCommitId(await app.commit({ files: { a: '2', 'zuul.yaml': '- job: {name: n}\n' } }));
    await app.commit({ files: { a: '3', 'zuul.yaml': null } });
    const pinned = [{ project: key('app'), ref: 'refs/heads/main', branch: 'main', commit, before }];
    const outcome = expectKind(await stage.serve(mergeRequest([], { own: 0, pinned })), 'merged');
    expect(outcome.filesChanged).toEqual([{ project: key('app'), files: ['a', 'zuul.yaml'] }]);
    expect(outcome.config).toMatchObject([{ commit, files: [{ path: 'zuul.yaml' }] }]);
    expect(outcome.heads).toEqual([{ project: key('app'), branch: 'main', commit }]);
  });

  it('names what the branch of a pinned commit holds, where that is wanted', async () => {
    const app = await stage.host('app');
    const tip = parseCommitId(await app.commit({ files: { a: '1' } }));
    const ref = 'refs/heads/queue/main/pr-1';
    const commit = parseCommitId(await app.commit({ ref, parents: [tip], files: { a: '2' } }));
    const group = { project: key('app'), ref, branch: 'main', commit, before: tip } as const;
    const asked = async (pinned: typeof group & { readonly wantsLanded?: true }) =>
      expectKind(await stage.serve(mergeRequest([], { own: 0, pinned: [pinned] })), 'merged');
    const wanted = await asked({ ...group, wantsLanded: true });
    expect(wanted.heads).toEqual([{ project: key('app'), branch: 'main', commit }]);
    expect(wanted.landed).toEqual([{ project: key('app'), branch: 'main', commit: tip }]);
    expect(await asked(group)).not.toHaveProperty('landed');
  });

  it('takes a pinned commit whose predecessor is gone after a forced push', async () => {
    const app = await stage.host('app');
    const commit = parseCommitId(await app.commit({ files: { a: '2' } }));
    const before = parseCommitId('1234567890123456789012345678901234567890');
    const outcome = await stage.serve(
      mergeRequest([], {
        own: 0,
        pinned: [{ project: key('app'), ref: 'refs/heads/main', branch: 'main', commit, before }],
      }),
    );
    expect(expectKind(outcome, 'merged').filesChanged).toEqual([{ project: key('app'), files: [] }]);
  });

  it('makes 20 merges and one fetch for a queue of 20', async () => {
    await (await stage.host('app')).commit({ files: { a: '1' } });
    const inputs: MergeInput[] = [];
    for (let index = 0; index < 20; index += 1)
      inputs.push(await stage.propose('app', `${index}`, { [`f${index}`]: 'x' }));
    const outcomes = await Promise.all(
      inputs.map((_, index) => stage.serve(mergeRequest(inputs.slice(0, index + 1)))),
    );
    expect(outcomes.map(({ kind }) => kind)).toEqual(Array(20).fill('merged'));
    expect(stage.cache.counters()).toMatchObject({ merges: 20, fetches: 1 });
  });

  it('fails, to be tried again, when a project cannot be reached', async () => {
    await (await stage.host('app')).commit({ files: { a: '1' } });
    const input = await stage.propose('app', '1', { b: '1' });
    const outcome = expectKind(
      await stage.serve(mergeRequest([{ ...input, project: key('gone') }])),
      'failed',
    );
    expect(outcome.text).toMatch(/^Unable to update local\/gone: .+nowhere/);
    expect(outcome.trouble).toMatchObject({ project: 'local/gone', reason: 'unreachable' });
    expect(outcome.steps).toMatchObject([{ kind: 'FetchRefs', subject: 'local/gone', result: 'FAILURE' }]);
  });

  it('fails for good where trying again cannot help', async () => {
    await (await stage.host('app')).commit({ files: { a: '1' } });
    const input = await stage.propose('app', '1', { b: '1' });
    const cases = [
      [{ branch: 'absent' }, 'Unable to update local/app: there is no branch absent'],
      [{ ref: '--upload-pack=touch /tmp/x' }, 'does not begin with "refs/"'],
      [{ branch: 'a..b' }, 'holds ".."'],
      [{ commit: parseCommitId('a'.repeat(64)) }, 'SHA-256 repositories are not supported'],
    ] as const;
    for (const [wrong, text] of cases) {
      const outcome = expectKind(await stage.serve(mergeRequest([{ ...input, ...wrong }])), 'failed');
      expect(outcome.text).toContain(text);
      expect(outcome.retryable).toBe(false);
      expect(outcome.trouble).toBeUndefined();
    }
  });

  it('says of a connection that this merger does not have that it is no fault of the change', async () => {
    await (await stage.host('app')).commit({ files: { a: '1' } });
    const input = await stage.propose('app', '1', { b: '1' });
    const asked = mergeRequest([{ ...input, project: 'elsewhere/app' as never }]);
    expect(expectKind(await stage.serve(asked), 'failed').trouble).toMatchObject({
      project: 'elsewhere/app',
      text: 'there is no connection elsewhere',
    });
  });

  it('fails, to be tried again, when the host does not have the commit yet', async () => {
    await (await stage.host('app')).commit({ files: { a: '1' } });
    const input = await stage.propose('app', '1', { b: '1' });
    const commit = parseCommitId('1234567890123456789012345678901234567890');
    const outcome = expectKind(await stage.serve(mergeRequest([{ ...input, commit }])), 'failed');
    expect(outcome).toMatchObject({
      trouble: { reason: 'missing-ref', commit },
      text: `Unable to update local/app: refs/pull/1/head does not have commit ${commit}`,
    });
  });
});

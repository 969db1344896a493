/** An executor on another machine than the merger: commits from the code host alone, and the reasons when they cannot be had. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ProvidedRepository, RepositoryRequest } from '../../../src/executor/deps.ts';
import { obtainedRepositories } from '../../../src/executor/obtain-commit.ts';
import { timeStepsOf } from '../../../src/executor/time-step.ts';
import { parseObjectId } from '../../../src/git/objects/object-id.ts';
import { parseRefName } from '../../../src/git/objects/ref-name.ts';
import { createGit } from '../../../src/git/process/git.ts';
import { openRepositoryCache, type RepositoryCache } from '../../../src/git/repository-cache.ts';
import { startAside } from '../../../src/git/starter/start-aside.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { parseUuid } from '../../../src/lib/ids.ts';
import type { TestedMerge } from '../../../src/model/build-set.ts';
import { type Change, refUpdateKey } from '../../../src/model/change.ts';
import type { MergeInput } from '../../../src/model/merge.ts';
import { parseCommitId } from '../../../src/model/project.ts';
import type { QueueItem } from '../../../src/model/queue-item.ts';
import { createStepRecorder } from '../../../src/tracing/step-recorder.ts';
import { runGit } from '../../fake/git-repository.ts';
import { itemStory } from '../../fake/queue-item.ts';
import { IDENTITY } from '../git/open-repository.ts';
import { expectKind, key, type MergerStage, mergeRequest, openStage } from '../merger/merger-stage.ts';

let stage: MergerStage;
let folder: string;
const caches: RepositoryCache[] = [];

beforeEach(async () => {
  stage = await openStage();
  folder = await mkdtemp(join(tmpdir(), 'gatehouse-elsewhere-'));
});
afterEach(async () => {
  for (const cache of caches.splice(0)) await cache.close();
  await stage[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

/** Another machine: empty mirrors, the same code hosts, the item as stored. */
async function elsewhere(
  stored: QueueItem | undefined | (() => QueueItem),
  options: { email?: string; reachable?: boolean } = {},
) {
  const cache = await openRepositoryCache({
    root: join(folder, String(caches.length)),
    git: createGit({
      start: startAside,
      identity: { ...IDENTITY, ...(options.email === undefined ? {} : { email: options.email }) },
    }),
    mergeTreeMode: 'unbuffered-coprocess',
  });
  caches.push(cache);
  let reads = 0;
  const recorder = createStepRecorder(systemClock());
  const obtained = obtainedRepositories({
    repositories: cache,
    remote: async project =>
      options.reachable === false ? { url: `file://${folder}/nowhere` } : stage.deps.remote(project),
    async readItem() {
      reads += 1;
      return typeof stored === 'function' ? stored() : stored;
    },
  });
  const repositories = {
    provide: (request: RepositoryRequest) =>
      obtained.provide(
        request,
        timeStepsOf(recorder.run, { canonicalName: 'git.example.org/app', project: request.project }),
      ),
  };
  return {
    cache,
    repositories,
    reads: () => reads,
    steps: () => recorder.steps(),
  };
}

function itemWith(tested: TestedMerge, changes?: readonly [Change, ...Change[]]): QueueItem {
  const { item } = itemStory(changes === undefined ? {} : { changes });
  return { ...item, buildset: { ...item.buildset, stage: { state: 'merged', tested } } };
}

async function merged(inputs: readonly MergeInput[]): Promise<TestedMerge> {
  const { branches, heads } = expectKind(await stage.serve(mergeRequest(inputs)), 'merged');
  return { branches, heads };
}

function requestFor(
  item: QueueItem,
  commit: string | undefined,
  more: Partial<RepositoryRequest> = {},
): RepositoryRequest {
  const { tenant, pipeline, uuid, buildset } = item;
  return {
    project: key('app'),
    branch: 'main',
    commit: parseCommitId(commit ?? ''),
    build: { uuid: parseUuid('b'.repeat(32)), tenant, pipeline, item: uuid, buildset: buildset.uuid },
    ...more,
  };
}

const reasonOf = (provided: ProvidedRepository) =>
  provided.kind === 'unavailable' ? provided.reason : `it is there: ${provided.gitDir}`;

async function parentsIn(gitDir: string, commit: string): Promise<string> {
  return (await runGit(gitDir, ['log', '-1', '--format=%P', commit])).toString().trim();
}

describe('a tested merge that a merger of another machine made', () => {
  it('comes out with the same id, by one fetch and one item read, however many builds want it', async () => {
    const app = await stage.host('app');
    await app.commit({ files: { a: '1' } });
    const inputs = [
      await stage.propose('app', '1', { one: '1' }),
      await stage.propose('app', '2', { two: '2' }),
      await stage.propose('app', '3', { three: '3' }),
    ];
    const tested = await merged(inputs);
    const [branch] = tested.branches;
    const item = itemWith(tested);
    const machine = await elsewhere(item);
    const provided = await Promise.all(
      Array.from({ length: 20 }, () => machine.repositories.provide(requestFor(item, branch?.commit))),
    );
    expect(new Set(provided.map(each => each.kind))).toEqual(new Set(['ready']));
    expect(machine.cache.counters()).toMatchObject({ fetches: 1, listings: 0, merges: 3 });
    expect(machine.reads()).toBe(1);
    const steps = machine.steps();
    expect(steps.filter(({ kind }) => kind === 'BuildRepoUpdate')).toMatchObject([
      { subject: 'git.example.org/app', facts: { project: 'git.example.org/app', refs: 5 } },
    ]);
    expect(steps.filter(({ kind }) => kind === 'BuildMergeChanges')).toMatchObject([
      { facts: { changes: 3 } },
    ]);
    // One build asked the code host, the others waited for it: no more than that and their look is theirs.
    const waits = steps.filter(({ kind }) => kind === 'BuildRepoUpdateLock');
    expect(waits).toHaveLength(20);
    const looks = steps.filter(({ kind }) => kind === 'BuildRepoCheck');
    expect(looks.map(({ facts }) => facts?.cached)).toEqual(Array.from({ length: 20 }, () => false));
    expect(steps).toHaveLength(42);
    const merge = steps.find(({ kind }) => kind === 'BuildMergeChanges');
    expect(waits.filter(({ endedAt }) => BigInt(endedAt) >= BigInt(merge?.endedAt ?? 0))).toHaveLength(19);
    const { path } = await machine.cache.repository('local', 'app');
    expect(await parentsIn(path, branch?.commit ?? '')).toBe(`${branch?.before} ${inputs[2]?.commit}`);
    expect((await runGit(path, ['rev-parse', `${branch?.commit}^{tree}`])).toString().trim()).toBe(
      branch?.tree,
    );
  });

  it.each(['squash-merge', 'rebase', 'cherry-pick'] as const)(
    'of mode %s is the very commit that lands, made from what the host has',
    async mode => {
      const app = await stage.host('app');
      await app.commit({ files: { a: '1' } });
      const inputs = [];
      for (const id of ['1', '2']) {
        const first = await stage.propose('app', id, { [`${id}-one`]: '1' });
        // Two commits each: a squash makes one of them, the others make each again.
        const ref = first.ref;
        const commit = parseCommitId(
          await app.commit({ ref, parents: [first.commit], files: { [`${id}-two`]: '2' }, message: 'more' }),
        );
        inputs.push({ ...first, commit, mode });
      }
      const tested = await merged(inputs);
      const [branch] = tested.branches;
      const item = itemWith(tested);
      const machine = await elsewhere(item);
      expect(await machine.repositories.provide(requestFor(item, branch?.commit))).toMatchObject({
        kind: 'ready',
      });
      // The machine that landed it is not the one that tested it: what the host then has is what was built.
      const merger = await stage.cache.repository('local', 'app');
      const [from, to] = [branch?.base, branch?.commit].map(id => parseObjectId(id ?? ''));
      if (from === undefined || to === undefined) throw new Error('nothing was merged');
      const main = parseRefName('refs/heads/main');
      expect(await merger.push(app, [{ ref: main, from, to }])).toEqual({ kind: 'pushed' });
      const { path } = await machine.cache.repository('local', 'app');
      const built = (await runGit(path, ['cat-file', 'commit', branch?.commit ?? ''])).toString();
      expect(built).toBe((await runGit(app.path, ['cat-file', 'commit', main])).toString());
    },
  );

  it('whose changes are all here is made without asking the host', async () => {
    const app = await stage.host('app');
    await app.commit({ files: { a: '1' } });
    const inputs = [
      await stage.propose('app', '1', { one: '1' }),
      await stage.propose('app', '2', { two: '2' }),
    ];
    const [both, second] = [await merged(inputs), await merged(inputs.slice(1))];
    let item = itemWith(both);
    const machine = await elsewhere(() => item);
    await machine.repositories.provide(requestFor(item, both.branches[0]?.commit));
    // The first has left, and the second is merged anew.
    item = itemWith(second);
    expect(await machine.repositories.provide(requestFor(item, second.branches[0]?.commit))).toMatchObject({
      kind: 'ready',
    });
    expect(machine.cache.counters()).toMatchObject({ fetches: 1, listings: 0, merges: 3 });
  });

  it('is not asked for when the mirror has it: no fetch, no read of the item', async () => {
    await (await stage.host('app')).commit({ files: { a: '1' } });
    const item = itemWith(await merged([await stage.propose('app', '1', { one: '1' })]));
    const machine = await elsewhere(item);
    const request = requestFor(
      item,
      item.buildset.stage.state === 'merged' ? item.buildset.stage.tested.branches[0]?.commit : '',
    );
    expect(await machine.repositories.provide(request)).toMatchObject({ kind: 'ready' });
    const done = machine.steps();
    expect(await machine.repositories.provide(request)).toMatchObject({ kind: 'ready' });
    const [look, ...more] = machine.steps().slice(done.length);
    expect([look?.kind, look?.facts?.cached, more]).toEqual(['BuildRepoCheck', true, []]);
    expect(machine.cache.counters()).toMatchObject({ fetches: 1, merges: 1 });
    expect(machine.reads()).toBe(1);
  });

  it('is found after the items ahead have landed as tested and their proposals are gone', async () => {
    const app = await stage.host('app');
    await app.commit({ files: { a: '1' } });
    const ahead = await stage.propose('app', '1', { one: '1' });
    const own = await stage.propose('app', '2', { two: '2' });
    const landed = await merged([ahead]);
    const item = itemWith(await merged([ahead, own]));
    await landAt(landed.branches[0]?.commit ?? '');
    await app.git('update-ref', '-d', ahead.ref);
    const machine = await elsewhere(item);
    const { tested } = stageOf(item);
    expect(await machine.repositories.provide(requestFor(item, tested.branches[0]?.commit))).toMatchObject({
      kind: 'ready',
    });
  });

  it('is made after the items ahead have landed as other commits with the same tree', async () => {
    const app = await stage.host('app');
    const base = await app.commit({ files: { a: '1' } });
    const ahead = await stage.propose('app', '1', { one: '1' });
    const own = await stage.propose('app', '2', { two: '2' });
    const item = itemWith(await merged([ahead, own]));
    await app.commit({ parents: [base], files: { one: '1' }, message: 'squashed' });
    const machine = await elsewhere(item);
    const { tested } = stageOf(item);
    expect(await machine.repositories.provide(requestFor(item, tested.branches[0]?.commit))).toMatchObject({
      kind: 'ready',
    });
  });

  it('is the tip itself when the branch holds the change already', async () => {
    const app = await stage.host('app');
    const base = await app.commit({ files: { a: '1' } });
    await app.git('update-ref', 'refs/pull/1/head', base);
    const change = {
      ...(await stage.propose('app', '9', {})),
      ref: 'refs/pull/1/head',
      commit: parseCommitId(base),
    };
    const item = itemWith(await merged([change]));
    const machine = await elsewhere(item);
    expect(await machine.repositories.provide(requestFor(item, base))).toMatchObject({ kind: 'ready' });
  });

  it('is refused with the remedy when this machine writes other commits', async () => {
    await (await stage.host('app')).commit({ files: { a: '1' } });
    const item = itemWith(await merged([await stage.propose('app', '1', { one: '1' })]));
    const machine = await elsewhere(item, { email: 'other@site.example' });
    const provided = await machine.repositories.provide(
      requestFor(item, stageOf(item).tested.branches[0]?.commit),
    );
    expect(reasonOf(provided)).toMatch(
      /comes out different here: the merges gave [0-9a-f]{40}; \[merger\] git_user_name/,
    );
  });

  it('is refused where it is not recorded how it was made', async () => {
    await (await stage.host('app')).commit({ files: { a: '1' } });
    const tested = await merged([await stage.propose('app', '1', { one: '1' })]);
    const item = itemWith({ ...tested, branches: tested.branches.map(({ inputs: _, ...branch }) => branch) });
    const machine = await elsewhere(item);
    const provided = await machine.repositories.provide(requestFor(item, tested.branches[0]?.commit));
    expect(reasonOf(provided)).toContain('how it was merged is not recorded');
  });

  it('is refused, by name, when a change was pushed over and the code host has dropped it', async () => {
    const app = await stage.host('app');
    await app.commit({ files: { a: '1' } });
    const own = await stage.propose('app', '1', { one: '1' });
    const item = itemWith(await merged([own]));
    await stage.propose('app', '1', { one: 'again' });
    await app.git('prune', '--expire=now');
    const machine = await elsewhere(item);
    const provided = await machine.repositories.provide(
      requestFor(item, stageOf(item).tested.branches[0]?.commit),
    );
    expect(reasonOf(provided)).toBe(
      `refs/pull/1/head does not lead to commit ${own.commit} any more, and the code host does not give it`,
    );
  });

  it('says what the code host said when it cannot be reached', async () => {
    await (await stage.host('app')).commit({ files: { a: '1' } });
    const item = itemWith(await merged([await stage.propose('app', '1', { one: '1' })]));
    const machine = await elsewhere(item, { reachable: false });
    const provided = await machine.repositories.provide(
      requestFor(item, stageOf(item).tested.branches[0]?.commit),
    );
    expect(reasonOf(provided)).toMatch(/^the code host: /);
  });

  it('is not made for a build whose buildset was replaced, or whose item has left', async () => {
    await (await stage.host('app')).commit({ files: { a: '1' } });
    const item = itemWith(await merged([await stage.propose('app', '1', { one: '1' })]));
    const request = requestFor(item, stageOf(item).tested.branches[0]?.commit);
    const reset = { ...item, buildset: { ...item.buildset, uuid: item.uuid } };
    const machines = [await elsewhere(reset), await elsewhere(undefined)];
    const reasons = await Promise.all(
      machines.map(async each => reasonOf(await each.repositories.provide(request))),
    );
    expect(reasons[0]).toContain(`was replaced by ${item.uuid}`);
    expect(reasons[1]).toContain('has left the queue');
    for (const { cache } of machines) expect(cache.counters()).toMatchObject({ fetches: 0 });
  });
});

describe('other commits of a build', () => {
  it('are fetched by the branch that led to them, also when it has moved on', async () => {
    const lib = await stage.host('lib');
    const tip = await lib.commit({ files: { l: '1' } });
    const heads = [{ project: key('lib'), branch: 'main', commit: parseCommitId(tip) }];
    const item = itemWith({ branches: [], heads });
    await lib.commit({ files: { l: '2' } });
    const machine = await elsewhere(item);
    const provided = await machine.repositories.provide(
      // The playbook asked for another branch; the head that was found for it knows better.
      requestFor(item, tip, { project: key('lib'), branch: 'master' }),
    );
    expect(provided).toMatchObject({ kind: 'ready' });
    expect(machine.cache.counters()).toMatchObject({ fetches: 1 });
  });

  it('are what a branch held before the changes, for trusted playbooks, also when it has moved on', async () => {
    const app = await stage.host('app');
    const base = parseCommitId(await app.commit({ files: { a: '1' } }));
    const merged = {
      ...{ project: key('app'), branch: 'main', base, commit: parseCommitId('b'.repeat(40)) },
      ...{ tree: '', before: base, beforeTree: null, inputs: [] },
    };
    const heads = [{ project: key('app'), branch: 'main', commit: merged.commit }];
    const item = itemWith({ branches: [merged], heads });
    await app.commit({ files: { a: '2' } });
    const machine = await elsewhere(item);
    const provided = await machine.repositories.provide(requestFor(item, base, { branch: 'main' }));
    expect(provided).toMatchObject({ kind: 'ready' });
  });

  it('are fetched by the ref that was pushed, branch or tag', async () => {
    const app = await stage.host('app');
    const commit = parseCommitId(await app.commit({ ref: 'refs/tags/v1', parents: [], files: { a: '1' } }));
    const ref = 'refs/tags/v1';
    const change: Change = {
      kind: 'ref',
      key: refUpdateKey(key('app'), ref, commit),
      project: key('app'),
      ref,
      oldCommit: null,
      newCommit: commit,
    };
    const item = itemWith({ branches: [], heads: [] }, [change]);
    const machine = await elsewhere(item);
    expect(await machine.repositories.provide(requestFor(item, commit, { branch: null }))).toMatchObject({
      kind: 'ready',
    });
  });

  it('of unknown origin are refused', async () => {
    await (await stage.host('app')).commit({ files: { a: '1' } });
    const item = itemWith({ branches: [], heads: [] });
    const machine = await elsewhere(item);
    const provided = await machine.repositories.provide(requestFor(item, 'a'.repeat(40), { branch: null }));
    expect(reasonOf(provided)).toContain('neither a merge of this item nor the tip of a branch');
  });
});

describe('messages of commits', () => {
  it('are read once, however many builds have the change ahead of them', async () => {
    const app = await stage.host('app');
    const commit = parseCommitId(await app.commit({ files: { a: '1' }, message: 'Add a\n\nBody\n' }));
    const mirror = await stage.cache.repository('local', 'app');
    await mirror.fetch({ url: app.url }, [{ ref: parseRefName('refs/heads/main') }]);
    let opened = 0;
    const { commitMessage } = obtainedRepositories({
      repositories: {
        ...stage.cache,
        repository(connection, name) {
          opened += 1;
          return stage.cache.repository(connection, name);
        },
      },
      remote: stage.deps.remote,
      readItem: async () => undefined,
    });
    const absent = parseCommitId('a'.repeat(40));
    expect(await commitMessage(key('app'), absent)).toBeUndefined();
    expect(await commitMessage(key('app'), absent)).toBeUndefined();
    expect(opened).toBe(2);
    expect(await commitMessage(key('app'), commit)).toBe('Add a\n\nBody\n');
    expect(await commitMessage(key('app'), commit)).toBe('Add a\n\nBody\n');
    expect(opened).toBe(3);
  });
});

/** Moves the host's branch to a commit the merger made, as a landing does. */
async function landAt(commit: string): Promise<void> {
  const { path } = await stage.cache.repository('local', 'app');
  const { url } = await stage.host('app');
  await runGit(path, ['push', '--quiet', url, `${commit}:refs/heads/main`]);
}

function stageOf(item: QueueItem): { readonly tested: TestedMerge } {
  const { stage: now } = item.buildset;
  if (now.state !== 'merged') throw new Error(`the item is ${now.state}`);
  return now;
}

import { expect, test } from 'vitest';
import { parseNanoseconds } from '../../../../src/lib/clock.ts';
import type { BuildRequest } from '../../../../src/model/build-request.ts';
import { type RefUpdate, refUpdateKey } from '../../../../src/model/change.ts';
import {
  buildRequestCodec,
  mergerRequestCodec,
  pipelineEventCodec,
} from '../../../../src/model/codec/records.ts';
import { type FrozenJob, jobNodeOf, type Playbook } from '../../../../src/model/job.ts';
import type { MergerRequest } from '../../../../src/model/merge.ts';
import type { Pipeline } from '../../../../src/model/pipeline.ts';
import { EMPTY_PIPELINE } from '../../../../src/model/pipeline-state.ts';
import { parseCommitId } from '../../../../src/model/project.ts';
import type { QueueItem } from '../../../../src/model/queue-item.ts';
import { commandOperations } from '../../../../src/scheduler/turn/commands.ts';
import { mergeRequestFor } from '../../../../src/scheduler/turn/merge-requests.ts';
import { openExecutorLabels, registerComponent } from '../../../../src/store/components.ts';
import { EventQueue } from '../../../../src/store/event-queue.ts';
import { RequestQueue } from '../../../../src/store/request-queue.ts';
import { APP, itemStory } from '../../../fake/queue-item.ts';
import { emptyFrozenJob } from '../../../fake/records.ts';
import { openStand, type Stand } from '../stand.ts';

const PLAYBOOK: Playbook = { project: APP, branch: 'master', path: 'ci/run.sh', trusted: false };

function job(labels: readonly string[], run: readonly Playbook[] = [PLAYBOOK]): FrozenJob {
  return emptyFrozenJob({ run, nodes: labels.map(label => ({ name: label, label })) });
}

/** The story's merge tested nothing; playbooks are taken from the head of their branch. */
function withHead(item: QueueItem): QueueItem {
  const { stage } = item.buildset;
  if (stage.state !== 'running') throw new Error(`the buildset is ${stage.state}`);
  const heads = [{ project: APP, branch: 'master', commit: parseCommitId('7'.repeat(40)) }];
  return { ...item, buildset: { ...item.buildset, stage: { ...stage, tested: { branches: [], heads } } } };
}

/** Each list is an executor with these labels. @returns what a turn that asks for a build of `job` writes. */
async function request(stand: Stand, frozen: FrozenJob, executors: readonly (readonly string[])[]) {
  const { store, paths, clock, ids } = stand;
  const events = new EventQueue({ store, path: '/events', codec: pipelineEventCodec, clock });
  const mergeRequests = new RequestQueue<MergerRequest>({ store, path: '/merge', codec: mergerRequestCodec });
  const buildRequests = new RequestQueue<BuildRequest>({ store, path: '/build', codec: buildRequestCodec });
  await events.prepare();
  await buildRequests.prepare();
  for (const labels of executors)
    await registerComponent(stand.connect(), paths, 'executor', {
      host: 'ci',
      pid: 1,
      version: '0',
      state: 'running',
      startedAt: parseNanoseconds('1'),
      labels,
      address: null,
    });
  using known = await openExecutorLabels(store, paths, error => {
    throw error;
  });
  const item = withHead(
    itemStory()
      .merge()
      .merged()
      .freeze([jobNodeOf(frozen)]).item,
  );
  const operations = await commandOperations(
    {
      state: { ...EMPTY_PIPELINE, items: new Map([[item.uuid, item]]) },
      commands: [
        {
          kind: 'request-build',
          item: item.uuid,
          build: ids.uuid(),
          buildset: item.buildset.uuid,
          job: 'unit',
          attempt: 1,
        },
      ],
      left: [],
    },
    {
      clock,
      ids,
      tenant: { name: 'acme', projects: [] },
      pipeline: { name: 'gate', precedence: 'normal' } as Pipeline,
      webRoot: '',
      spans: () => undefined,
      tracePolicy: () => undefined,
      semaphoreOf: () => ({ scope: 'tenant', max: 1 }),
      projects: {
        defaultBranch: () => undefined,
        canonicalName: project => project,
        isTrusted: () => false,
      },
      mergeRequests,
      buildRequests,
      executors: known,
      nodes: { reportOutbox: '/reports', messageOutbox: '/messages', landings: '/landings' },
      messengers: new Set(),
      events,
      eventsOf: () => undefined,
      graphs: { get: () => ({ jobs: [frozen] }) },
      record: () => undefined,
      mergeMessage: () => '',
      mergeMode: () => 'merge',
      likelyStates: () => [],
      landingMode: () => null,
    },
  );
  await store.multi(operations);
  return {
    results: (await events.list()).map(({ value }) => value),
    requested: (await store.children(buildRequests.queuePath))?.length,
    requests: await buildRequests.list(),
  };
}

test('a build goes to the queue when an executor offers its labels', async () => {
  await using stand = openStand();
  const { results, requested } = await request(stand, job(['gpu', 'linux']), [['arm'], ['linux', 'gpu']]);
  expect({ results, requested }).toEqual({ results: [], requested: 1 });
});

test('a build of labels that no executor offers ends immediately as NODE_FAILURE', async () => {
  await using stand = openStand();
  const { results, requested } = await request(stand, job(['gpu']), [['linux'], ['arm', 'linux']]);
  expect(results).toMatchObject([
    {
      kind: 'build-result',
      result: 'NODE_FAILURE',
      detail: 'no executor offers the node label "gpu" (offered: arm, linux)',
      worker: null,
      execution: null,
    },
  ]);
  expect(requested).toBe(0);
});

test.each([
  [['gpu', 'arm'], [['linux']], 'no executor offers the node labels "gpu", "arm" (offered: linux)'],
  [['gpu', 'linux'], [[]], 'no executor offers the node labels "gpu", "linux" (offered: none)'],
  [
    ['gpu', 'linux'],
    [['gpu'], ['linux']],
    'no executor offers the node labels "gpu", "linux" together (offered: gpu, linux)',
  ],
])('a job that wants %j of executors with %j gets: %s', async (wanted, executors, detail) => {
  await using stand = openStand();
  const { results } = await request(stand, job(wanted), executors);
  expect(results).toMatchObject([{ result: 'NODE_FAILURE', detail }]);
});

test('a build waits when there is no executor at all', async () => {
  await using stand = openStand();
  const { results, requested } = await request(stand, job(['gpu']), []);
  expect({ results, requested }).toEqual({ results: [], requested: 1 });
});

test('a job without playbooks needs no executor, with any labels', async () => {
  await using stand = openStand();
  const { results } = await request(stand, job(['gpu'], []), [['linux']]);
  expect(results).toMatchObject([{ result: 'SUCCESS' }]);
});

const mergeContext = {
  now: parseNanoseconds('1'),
  priority: 200,
  mergeMessage: () => '',
  mergeMode: () => 'merge' as const,
  extraPaths: (): readonly string[] => [],
  isAlwaysDynamic: () => false,
  isTrusted: () => false,
};

test('a merge is asked for with the further places of configuration of its own projects', () => {
  const { item } = itemStory();
  const items = new Map([[item.uuid, item]]);
  const asked = (paths: readonly string[]) =>
    mergeRequestFor(item.uuid, item, [], { ...mergeContext, items, extraPaths: () => paths }).extraPaths;
  expect(asked(['ci.yaml', 'ci.d/'])).toEqual([{ project: APP, paths: ['ci.yaml', 'ci.d/'] }]);
  expect(asked([])).toBeUndefined();
});

test('a merge is asked to read the branches that are always dynamic, once each', () => {
  const { item } = itemStory();
  const items = new Map([[item.uuid, item]]);
  const asked = (dynamic: string) =>
    mergeRequestFor(item.uuid, item, [], {
      ...mergeContext,
      items,
      isAlwaysDynamic: (_: string, branch: string) => branch === dynamic,
    }).alwaysRead;
  expect(asked('master')).toEqual([{ project: APP, branch: 'master' }]);
  expect(asked('stable')).toBeUndefined();
});

test('a merge is asked what the branch holds for which a merge group of a config-project is', () => {
  const { item } = itemStory();
  const ref = 'refs/heads/queue/master/pr-1';
  const commit = parseCommitId('c'.repeat(40));
  const push: RefUpdate = {
    ...{ kind: 'ref', key: refUpdateKey(APP, ref, commit), project: APP, ref },
    ...{ oldCommit: null, newCommit: commit },
  };
  const asked = (change: RefUpdate, trusted: boolean) => {
    const of = { ...item, changes: [change] as const };
    const context = { ...mergeContext, items: new Map([[item.uuid, of]]), isTrusted: () => trusted };
    return mergeRequestFor(item.uuid, of, [], context).pinned;
  };
  const group = { ...push, targetBranch: 'master' };
  expect(asked(group, true)).toMatchObject([{ branch: 'master', wantsLanded: true }]);
  expect(asked(group, false)[0]).not.toHaveProperty('wantsLanded');
  expect(asked({ ...push, branch: 'master' }, true)[0]).not.toHaveProperty('wantsLanded');
});

test.each([
  ['the first that an executor offers', [['linux'], ['arm', 'linux']], 'arm', ['gpu', 'linux']],
  ['the first while no executor is there', [], 'gpu', ['arm', 'linux']],
  ['the last where it alone is offered', [['linux']], 'linux', ['gpu', 'arm']],
])('a job with alternative nodesets gets %s', async (_, executors, chosen, others) => {
  await using stand = openStand();
  const nodesets = ['gpu', 'arm', 'linux'].map(label => ({
    nodesetName: `of-${label}`,
    nodes: [{ name: 'n', label }],
  }));
  const [own, ...alternatives] = nodesets;
  const { requests } = await request(stand, { ...job([]), ...own, alternatives }, executors);
  expect(requests).toHaveLength(1);
  const [made] = requests;
  expect(made?.value.job).toMatchObject({
    nodesetName: `of-${chosen}`,
    nodes: [{ name: 'n', label: chosen }],
  });
  expect(made?.value.job.alternatives?.map(each => each.nodesetName)).toEqual(
    others.map(label => `of-${label}`),
  );
});

test('a job of which no executor offers any alternative ends as NODE_FAILURE and says what each lacks', async () => {
  await using stand = openStand();
  const frozen = { ...job(['gpu']), alternatives: [{ nodes: [{ name: 'n', label: 'arm' }] }] };
  const { results } = await request(stand, frozen, [['linux']]);
  expect(results).toMatchObject([
    {
      result: 'NODE_FAILURE',
      detail: 'no executor offers the node label "gpu", nor the node label "arm" (offered: linux)',
    },
  ]);
});

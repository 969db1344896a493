/** Builds that were requested when no executor was there: looked at again when executors come and go, with patience. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { randomIds } from '../../../../src/lib/ids.ts';
import type { BuildRequest } from '../../../../src/model/build-request.ts';
import { buildRequestCodec, pipelineEventCodec } from '../../../../src/model/codec/records.ts';
import type { PipelineEvent } from '../../../../src/model/event.ts';
import { steadyExecutors } from '../../../../src/scheduler/care/steady-executors.ts';
import {
  endUnservableBuilds,
  watchUnservableBuilds,
} from '../../../../src/scheduler/care/unservable-builds.ts';
import { openExecutorLabels, registerComponent } from '../../../../src/store/components.ts';
import { openEmbeddedStore } from '../../../../src/store/embedded/server.ts';
import { EventQueue } from '../../../../src/store/event-queue.ts';
import { storePaths } from '../../../../src/store/paths.ts';
import type { Operation, Store } from '../../../../src/store/port.ts';
import { RequestQueue } from '../../../../src/store/request-queue.ts';
import { claimRequest } from '../../../../src/store/request-worker.ts';
import { NO_TRACING } from '../../../fake/no-tracing.ts';
import { SILENT } from '../../../fake/silent-log.ts';
import { buildRequest } from '../../executor/fixture.ts';
import { manualClock } from '../../store/test-bench.ts';

const paths = storePaths();
const clock = manualClock();
const ids = randomIds();
let server: ReturnType<typeof openEmbeddedStore>;
let store: Store;
let builds: RequestQueue<BuildRequest>;
let events: EventQueue<PipelineEvent>;

beforeEach(async () => {
  server = openEmbeddedStore({ file: ':memory:' });
  store = server.connect();
  builds = new RequestQueue({ store, path: paths.requests('build'), codec: buildRequestCodec });
  await builds.prepare();
  const path = paths.pipeline('acme', 'gate').eventQueue;
  events = new EventQueue<PipelineEvent>({ store, path, codec: pipelineEventCodec, clock });
  await events.prepare();
});
afterEach(() => server.close());

const fence = { commit: (operations: readonly Operation[]) => store.multi(operations) };

async function open(patience = 0) {
  const labels = await openExecutorLabels(store, paths, error => {
    throw error;
  });
  const executors = steadyExecutors(labels, store, paths, clock, patience);
  const pipelineQueue = () => events;
  return {
    store,
    paths,
    clock,
    ids,
    log: SILENT,
    tracing: NO_TRACING,
    executors,
    buildRequests: builds,
    pipelineQueue,
  };
}

/** An executor of its own session. */
async function executor(...labels: string[]): Promise<Store> {
  return executorWith(labels);
}

async function executorWith(labels: readonly string[], ansibleVersions?: readonly string[]): Promise<Store> {
  const session = server.connect();
  const record = {
    host: 'ci',
    pid: 1,
    version: '0',
    state: 'running',
    startedAt: clock.now(),
    labels,
    address: null,
    ...(ansibleVersions === undefined ? {} : { ansibleVersions }),
  } as const;
  await registerComponent(session, paths, 'executor', record);
  return session;
}

async function request(...labels: string[]): Promise<BuildRequest> {
  const nodes = labels.map(label => ({ name: label, label }));
  const made = buildRequest('a'.repeat(40), { run: ['run.sh'] }, { jobFacts: { nodes } });
  await builds.submitNow(made);
  return made;
}

const results = async () =>
  (await events.list()).flatMap(({ value }) =>
    value.kind === 'build-result' ? [{ build: value.build, result: value.result, detail: value.detail }] : [],
  );

describe('a build that waits for a label', () => {
  it('ends as NODE_FAILURE when executors are there and none offers it; the others go on waiting', async () => {
    const [arm, gpu, any] = [await request('arm'), await request('gpu'), await request()];
    const deps = await open();
    await endUnservableBuilds(deps, fence);
    expect(await results()).toEqual([]);
    await executor('gpu');
    await vi.waitUntil(() => deps.executors.canRun(['gpu']) === 'yes', { timeout: 10_000 });
    await endUnservableBuilds(deps, fence);
    expect(await results()).toEqual([
      {
        build: arm.uuid,
        result: 'NODE_FAILURE',
        detail: 'no executor offers the node label "arm" (offered: gpu)',
      },
    ]);
    expect((await builds.list()).map(each => each.uuid)).toEqual([gpu.uuid, any.uuid]);
  });

  it('ends as NODE_FAILURE where no executor with its labels has the version of Ansible that it takes', async () => {
    const wants = async (ansibleVersion: string, ...labels: string[]) => {
      const nodes = labels.map(label => ({ name: label, label }));
      const jobFacts = { nodes, ansibleVersion };
      const made = buildRequest('a'.repeat(40), { run: ['run.yaml'] }, { jobFacts });
      await builds.submitNow(made);
      return made;
    };
    const [nine, elsewhere, eight] = [await wants('9'), await wants('11', 'gpu'), await wants('8', 'gpu')];
    const deps = await open();
    await endUnservableBuilds(deps, fence);
    expect(await results()).toEqual([]);
    await executorWith(['gpu'], ['8']);
    await executorWith([], ['11']);
    await vi.waitUntil(() => deps.executors.ansibleVersions().length === 2, { timeout: 10_000 });
    await endUnservableBuilds(deps, fence);
    expect(await results()).toEqual([
      {
        build: nine.uuid,
        result: 'NODE_FAILURE',
        detail: 'no executor has Ansible 9 (installed: 11, 8); see [executor] ansible_root',
      },
      {
        build: elsewhere.uuid,
        result: 'NODE_FAILURE',
        detail:
          'no executor with its node labels has Ansible 11 (installed: 11, 8); see [executor] ansible_root',
      },
    ]);
    expect((await builds.list()).map(each => each.uuid)).toEqual([eight.uuid]);
  });

  it('is requested again with an alternative that is offered, at the cost of no attempt', async () => {
    const jobFacts = {
      nodes: [{ name: 'n', label: 'arm' }],
      alternatives: [{ nodes: [{ name: 'n', label: 'gpu' }] }],
    };
    const made = buildRequest('a'.repeat(40), { run: ['run.sh'] }, { jobFacts });
    await builds.submitNow(made);
    await executor('gpu');
    const deps = await open();
    await endUnservableBuilds(deps, fence);
    expect((await events.list()).map(({ value }) => value)).toMatchObject([
      { build: made.uuid, result: 'RETRY', workerEnd: 'lost' },
    ]);
    expect(await builds.list()).toEqual([]);
  });

  it('is left to the executor that has claimed it', async () => {
    const made = await request('arm');
    await executor('gpu');
    const deps = await open();
    const [stored] = await builds.list();
    if (stored === undefined) throw new Error('there is no request');
    const raced = {
      commit: async (operations: readonly Operation[]) => {
        await claimRequest(builds, stored, { worker: 'slow', clock });
        return fence.commit(operations);
      },
    };
    await endUnservableBuilds(deps, raced);
    expect(await results()).toEqual([]);
    expect((await builds.list()).map(each => each.uuid)).toEqual([made.uuid]);
  });

  it('is looked at again when executors come, and not before the set of executors is steady', async () => {
    const made = await request('arm');
    const deps = await open(500);
    const stop = new AbortController();
    const watching = watchUnservableBuilds(deps, fence, stop.signal);
    await executor('gpu');
    await vi.waitUntil(() => deps.executors.offered().includes('gpu'), { timeout: 10_000 });
    expect(deps.executors.canRun(['arm'])).toBe('no-executor');
    clock.advance(499);
    expect(deps.executors.canRun(['arm'])).toBe('no-executor');
    const before = server.connect();
    await registerComponent(before, paths, 'executor', {
      host: 'ci2',
      pid: 2,
      version: '0',
      state: 'running',
      startedAt: clock.now(),
      labels: ['linux'],
      address: null,
    });
    await vi.waitUntil(() => deps.executors.offered().includes('linux'), { timeout: 10_000 });
    clock.advance(400);
    expect(deps.executors.canRun(['arm'])).toBe('no-executor');
    expect(await results()).toEqual([]);
    clock.advance(200);
    expect(deps.executors.canRun(['arm'])).toBe('no-such-label');
    await vi.waitUntil(async () => (await results()).length === 1, { timeout: 10_000 });
    expect((await results())[0]).toMatchObject({ build: made.uuid, result: 'NODE_FAILURE' });
    stop.abort();
    await watching;
  });

  it('survives the restart of the only executor that can run it', async () => {
    await request('arm');
    await executor('gpu');
    const arm = await executor('arm');
    const deps = await open(1_000);
    clock.advance(2_000);
    expect(deps.executors.canRun(['arm'])).toBe('yes');
    await arm.close();
    await vi.waitUntil(() => !deps.executors.offered().includes('arm'), { timeout: 10_000 });
    await endUnservableBuilds(deps, fence);
    expect(await results()).toEqual([]);
    await executor('arm');
    await vi.waitUntil(() => deps.executors.canRun(['arm']) === 'yes', { timeout: 10_000 });
    clock.advance(2_000);
    await endUnservableBuilds(deps, fence);
    expect(await results()).toEqual([]);
  });
});

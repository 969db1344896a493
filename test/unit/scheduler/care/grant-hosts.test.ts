/** Hosts for builds that wait: given once, kept with the request, and out of service until clean when an executor vanished. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nodeWaitsNow, nodeWaitText } from '../../../../src/api/node-waits.ts';
import { nodeView } from '../../../../src/cmd/service/node-view.ts';
import { randomIds } from '../../../../src/lib/ids.ts';
import { createMetrics } from '../../../../src/metrics/registry.ts';
import type { BuildRequest } from '../../../../src/model/build-request.ts';
import {
  buildRequestCodec,
  mergerRequestCodec,
  pipelineEventCodec,
} from '../../../../src/model/codec/records.ts';
import type { PipelineEvent } from '../../../../src/model/event.ts';
import { type ExecutorZone, reachesZone } from '../../../../src/model/executor-zone.ts';
import { type StaticHost, withoutTrouble, withTrouble } from '../../../../src/model/static-host.ts';
import { changeHostState } from '../../../../src/nodes/host-state.ts';
import { openHostTable } from '../../../../src/nodes/host-table.ts';
import { createLiveNodes } from '../../../../src/nodes/live-nodes.ts';
import { grantHosts } from '../../../../src/scheduler/care/grant-hosts.ts';
import { settleLostWorkers } from '../../../../src/scheduler/care/lost-workers.ts';
import { type SteadyExecutors, steadyExecutors } from '../../../../src/scheduler/care/steady-executors.ts';
import { endUnservableBuilds } from '../../../../src/scheduler/care/unservable-builds.ts';
import { openExecutorLabels, registerComponent } from '../../../../src/store/components.ts';
import { openEmbeddedStore } from '../../../../src/store/embedded/server.ts';
import { EventQueue } from '../../../../src/store/event-queue.ts';
import { hostRequests } from '../../../../src/store/host-requests.ts';
import { storePaths } from '../../../../src/store/paths.ts';
import type { Operation, Store } from '../../../../src/store/port.ts';
import { RequestQueue } from '../../../../src/store/request-queue.ts';
import { createRequestWorker } from '../../../../src/store/request-worker.ts';
import { NO_TRACING } from '../../../fake/no-tracing.ts';
import { SILENT } from '../../../fake/silent-log.ts';
import { buildRequest } from '../../executor/fixture.ts';
import { manualClock } from '../../store/test-bench.ts';
import { untilMet } from '../until-met.ts';

const paths = storePaths();
const clock = manualClock();
const ids = randomIds();
let server: ReturnType<typeof openEmbeddedStore>;
let store: Store;
let builds: RequestQueue<BuildRequest>;
let events: EventQueue<PipelineEvent>;
let stop: AbortController;
let running: Promise<void>;
let metrics: ReturnType<typeof createMetrics>;
let executors: SteadyExecutors;
let stranded: (readonly [string, string])[];

const queueOver = (session: Store) =>
  new RequestQueue({ store: session, path: paths.requests('build'), codec: buildRequestCodec });
const host = (name: string, labels: readonly string[] = ['debian'], zone?: string): StaticHost => ({
  ...(zone === undefined ? {} : { zone }),
  ...{ name, labels, address: name, port: 22, username: 'zuul', maxParallelJobs: 1 },
  ...{ privateKey: '/key', hostKeys: ['ssh-ed25519 AAAA'] },
});
const nodes = createLiveNodes({ hosts: [], pools: [], tenantLimits: new Map(), outageLimit: null });
const fence = { commit: (operations: readonly Operation[]) => store.multi(operations) };

beforeEach(async () => {
  server = openEmbeddedStore({ file: ':memory:' });
  store = server.connect();
  builds = queueOver(store);
  await builds.prepare();
  events = new EventQueue<PipelineEvent>({
    ...{ store, codec: pipelineEventCodec, clock },
    path: paths.pipeline('acme', 'gate').eventQueue,
  });
  await events.prepare();
  const labels = await openExecutorLabels(store, paths, error => expect.unreachable(String(error)));
  executors = steadyExecutors(labels, store, paths, clock, 0);
  stop = new AbortController();
  stranded = [];
  metrics = createMetrics();
  nodes.adopt({ hosts: [host('one'), host('two')], pools: [], tenantLimits: new Map(), outageLimit: null });
});
afterEach(async () => {
  stop.abort();
  await running;
  executors[Symbol.dispose]();
  await server.close();
});

function launch(): void {
  running = grantHosts(
    {
      ...{ store, paths, clock, ids, log: SILENT, nodes, buildRequests: builds, executors, metrics },
      pipelineQueue: () => events,
    },
    fence,
    { onPublished: async () => {}, onStranded: async due => void stranded.push(...due) },
    stop.signal,
  );
}

async function submit(): Promise<BuildRequest> {
  const request = buildRequest('a'.repeat(40), { run: ['run.sh'] });
  await store.multi(
    builds.submit(request, {
      ...{ tenant: 'acme', nodes: [{ name: 'builder', label: 'debian' }] },
      of: { pipeline: 'gate', item: request.item, buildset: request.buildset },
      requestedAt: clock.now(),
    }),
  );
  return request;
}

/** An executor of its own session. */
async function executorOf(zone: ExecutorZone = {}): Promise<Store> {
  const session = server.connect();
  await registerComponent(session, paths, 'executor', {
    ...{
      host: 'ci',
      pid: 1,
      version: '0',
      state: 'running',
      startedAt: clock.now(),
      labels: [],
      address: null,
    },
    ...zone,
  });
  return session;
}

const requests = () => hostRequests(builds).read();
async function given(): Promise<readonly string[]> {
  const { granted } = await requests();
  return granted.flatMap(({ grant }) => grant.hosts.map(each => each.host)).toSorted();
}

describe('hosts', () => {
  it('are given to those that wait in their order, and again when a build has ended', async () => {
    const [first] = [await submit(), await submit(), await submit()];
    launch();
    await untilMet(async () => expect(await given()).toEqual(['one', 'two']));
    expect((await requests()).waiting).toHaveLength(1);
    const session = server.connect();
    const worker = createRequestWorker(queueOver(session), {
      ...{ worker: 'executor', clock },
      accepts: (_, { granted }) => granted !== undefined,
    });
    const claim = await worker.next(stop.signal);
    expect(claim.request.value.uuid).toBe(first?.uuid);
    await claim.complete([]);
    await untilMet(async () => expect((await requests()).waiting).toEqual([]));
    expect(await given()).toEqual(['one', 'two']);
  });

  it('that are given back are given to another build, or the same, at its old place', async () => {
    nodes.adopt({ hosts: [host('one')], pools: [], tenantLimits: new Map(), outageLimit: null });
    const request = await submit();
    launch();
    const session = server.connect();
    const worker = createRequestWorker(queueOver(session), { worker: 'executor', clock });
    const claim = await worker.next(stop.signal);
    expect(claim.request.granted?.hosts).toEqual([{ node: 'builder', host: 'one' }]);
    await changeHostState({ store, paths }, 'one', state => withTrouble(state, 'it is ill', clock.now()));
    expect(await claim.handBack([])).toBe('done');
    const { waiting } = await requests();
    expect(waiting.map(({ uuid }) => uuid)).toEqual([request.uuid]);
    await changeHostState({ store, paths }, 'one', state => state && withoutTrouble(state));
    expect((await worker.next(stop.signal)).request.value).toEqual(request);
  });

  it('of a zone go to executors of that zone, and to none before one is there or after it has gone', async () => {
    nodes.adopt({
      hosts: [host('one', ['debian'], 'd-m-z')],
      pools: [],
      tenantLimits: new Map(),
      outageLimit: 30,
    });
    const plain = await executorOf();
    launch();
    const request = await submit();
    const view = nodeView({ paths, clock, log: SILENT, components: () => [{ kind: 'executor' }] }, store);
    await untilMet(async () => {
      const [wait] = nodeWaitsNow(await view.nodes());
      expect(wait && nodeWaitText(wait)).toBe(
        'place 1 of 1 in the queue; of 1 host with debian 0 free, 1 quarantined, no executor of zone d-m-z is running',
      );
    });
    expect((await requests()).waiting).toHaveLength(1);
    await untilMet(async () => {
      // From when it was noticed that the zone is empty, which nothing says.
      clock.advance(30);
      await executorOf();
      expect(stranded[0]?.[1]).toMatch(/one: no executor of zone d-m-z is running$/);
    });
    const own = await executorOf({ zone: 'd-m-z' });
    await untilMet(async () => expect(await given()).toEqual(['one']));
    const left = new AbortController();
    const other = createRequestWorker(queueOver(plain), {
      ...{ worker: 'other', clock, isFor: ({ zone }) => reachesZone({}, zone) },
      accepts: () => expect.unreachable(),
    });
    const waiting = other.next(left.signal).catch((error: unknown) => error);
    const worker = createRequestWorker(queueOver(own), {
      ...{ worker: 'own', clock, isFor: ({ zone }) => reachesZone({ zone: 'd-m-z' }, zone) },
    });
    const claim = await worker.next(stop.signal);
    expect(claim.request.granted).toMatchObject({ hosts: [{ host: 'one' }], zone: 'd-m-z' });
    expect(await claim.handBack([])).toBe('done');
    await untilMet(async () => expect(await given()).toEqual(['one']));
    await own.close();
    await untilMet(() => expect(executors.canRun([], undefined, 'd-m-z')).toBe('no-such-label'));
    await endUnservableBuilds(
      {
        ...{ store, paths, clock, ids, log: SILENT, tracing: NO_TRACING, executors, buildRequests: builds },
        pipelineQueue: () => events,
      },
      fence,
    );
    const last = (await events.list()).at(-1)?.value;
    expect(last).toMatchObject({
      kind: 'build-result',
      build: request.uuid,
      result: 'RETRY',
      workerEnd: 'lost',
    });
    left.abort();
    await waiting;
  });

  it('that are out of service for too long end the wait, as the metrics say', async () => {
    nodes.adopt({
      hosts: [host('one'), host('two', ['arm'])],
      pools: [],
      tenantLimits: new Map(),
      outageLimit: 30,
    });
    launch();
    await untilMet(async () =>
      expect((await metrics.exposition(undefined)).body).toMatch(/^gatehouse_nodes\{state="ready"\} 2$/m),
    );
    await changeHostState({ store, paths }, 'one', () => ({
      held: { reason: 'a new disk', since: clock.now() },
    }));
    await untilMet(async () =>
      expect((await metrics.exposition(undefined)).body).toMatch(/^gatehouse_nodes\{state="hold"\} 1$/m),
    );
    const request = await submit();
    await untilMet(async () => expect((await requests()).waiting).toHaveLength(1));
    expect(stranded).toEqual([]);
    clock.advance(30);
    await untilMet(() => expect(stranded[0]?.[0]).toBe(request.uuid));
    expect(stranded[0]?.[1]).toMatch(/^no host .* one: held: a new disk$/);
    await untilMet(async () =>
      expect((await metrics.exposition(undefined)).body).toMatch(
        /^gatehouse_node_requests\{state="requested"\} 1$/m,
      ),
    );
    stop.abort();
    await running;
    expect((await metrics.exposition(undefined)).body).not.toMatch(/^gatehouse_nodes\{/m);
  });

  it('of an executor that vanished are given to nothing before its leftovers are removed', async () => {
    nodes.adopt({ hosts: [host('one')], pools: [], tenantLimits: new Map(), outageLimit: null });
    const request = await submit();
    launch();
    const session = server.connect();
    await createRequestWorker(queueOver(session), { worker: 'executor', clock }).next(stop.signal);
    await session.close();
    const other = await submit();
    const mergeRequests = new RequestQueue({
      store,
      path: paths.requests('merge'),
      codec: mergerRequestCodec,
    });
    await mergeRequests.prepare();
    await settleLostWorkers({
      ...{ store, paths, clock, ids, log: SILENT, tracing: NO_TRACING, since: clock.now() },
      ...{ mergeRequests, buildRequests: builds, pipelineQueue: () => events },
    });
    expect((await events.list()).map(({ value }) => value)).toMatchObject([
      { kind: 'nodes-granted', build: request.uuid, hosts: ['one'] },
      { kind: 'build-result', build: request.uuid, result: 'RETRY' },
    ]);
    expect(await given()).toEqual([]);
    using table = await openHostTable(store, paths, () => {});
    expect(table.rows()).toMatchObject([{ state: { trouble: { leftovers: [request.uuid] } } }]);
    expect(table.canServe([{ name: 'a', label: 'debian' }])).toBe('later');
    expect((await requests()).waiting.map(({ uuid }) => uuid)).toEqual([other.uuid]);
    await changeHostState({ store, paths }, 'one', state => state && withoutTrouble(state));
    await untilMet(async () => expect(await given()).toEqual(['one']));
  });
});

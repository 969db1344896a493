/** Hosts for builds that wait: given once, kept with the request, and out of service until clean when an executor vanished. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { randomIds } from '../../../../src/lib/ids.ts';
import { createMetrics } from '../../../../src/metrics/registry.ts';
import type { BuildRequest } from '../../../../src/model/build-request.ts';
import {
  buildRequestCodec,
  mergerRequestCodec,
  pipelineEventCodec,
} from '../../../../src/model/codec/records.ts';
import type { PipelineEvent } from '../../../../src/model/event.ts';
import { type StaticHost, withoutTrouble, withTrouble } from '../../../../src/model/static-host.ts';
import { changeHostState } from '../../../../src/nodes/host-state.ts';
import { openHostTable } from '../../../../src/nodes/host-table.ts';
import { createLiveNodes } from '../../../../src/nodes/live-nodes.ts';
import { grantHosts } from '../../../../src/scheduler/care/grant-hosts.ts';
import { settleLostWorkers } from '../../../../src/scheduler/care/lost-workers.ts';
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
let stranded: (readonly [string, string])[];

const queueOver = (session: Store) =>
  new RequestQueue({ store: session, path: paths.requests('build'), codec: buildRequestCodec });
const host = (name: string, labels: readonly string[] = ['debian']): StaticHost => ({
  ...{ name, labels, address: name, port: 22, username: 'zuul', maxParallelJobs: 1 },
  ...{ privateKey: '/key', hostKeys: ['ssh-ed25519 AAAA'] },
});
const nodes = createLiveNodes({ hosts: [], tenantLimits: new Map(), outageLimit: null });
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
  stop = new AbortController();
  stranded = [];
  metrics = createMetrics();
  nodes.adopt({ hosts: [host('one'), host('two')], tenantLimits: new Map(), outageLimit: null });
});
afterEach(async () => {
  stop.abort();
  await running;
  await server.close();
});

function launch(): void {
  running = grantHosts(
    {
      ...{ store, paths, clock, ids, log: SILENT, nodes, buildRequests: builds, metrics },
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

const requests = () => hostRequests(builds).read();
async function given(): Promise<readonly string[]> {
  const { granted } = await requests();
  return granted.flatMap(({ grant }) => grant.hosts.map(each => each.host)).toSorted();
}

describe('hosts', () => {
  it('are given to those that wait in their order, and again when a build has ended', async () => {
    const [first] = [await submit(), await submit(), await submit()];
    launch();
    await vi.waitFor(async () => expect(await given()).toEqual(['one', 'two']));
    expect((await requests()).waiting).toHaveLength(1);
    const session = server.connect();
    const worker = createRequestWorker(queueOver(session), {
      ...{ worker: 'executor', clock },
      accepts: (_, { granted }) => granted !== undefined,
    });
    const claim = await worker.next(stop.signal);
    expect(claim.request.value.uuid).toBe(first?.uuid);
    await claim.complete([]);
    await vi.waitFor(async () => expect((await requests()).waiting).toEqual([]));
    expect(await given()).toEqual(['one', 'two']);
  });

  it('that are given back are given to another build, or the same, at its old place', async () => {
    nodes.adopt({ hosts: [host('one')], tenantLimits: new Map(), outageLimit: null });
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

  it('that are out of service for too long end the wait, as the metrics say', async () => {
    nodes.adopt({ hosts: [host('one'), host('two', ['arm'])], tenantLimits: new Map(), outageLimit: 30 });
    launch();
    await vi.waitFor(async () =>
      expect((await metrics.exposition(undefined)).body).toMatch(/^gatehouse_nodes\{state="ready"\} 2$/m),
    );
    await changeHostState({ store, paths }, 'one', () => ({
      held: { reason: 'a new disk', since: clock.now() },
    }));
    await vi.waitFor(async () =>
      expect((await metrics.exposition(undefined)).body).toMatch(/^gatehouse_nodes\{state="hold"\} 1$/m),
    );
    const request = await submit();
    await vi.waitFor(async () => expect((await requests()).waiting).toHaveLength(1));
    expect(stranded).toEqual([]);
    clock.advance(30);
    await vi.waitFor(() => expect(stranded[0]?.[0]).toBe(request.uuid));
    expect(stranded[0]?.[1]).toMatch(/^no host .* one: held: a new disk$/);
    await vi.waitFor(async () =>
      expect((await metrics.exposition(undefined)).body).toMatch(
        /^gatehouse_node_requests\{state="requested"\} 1$/m,
      ),
    );
    stop.abort();
    await running;
    expect((await metrics.exposition(undefined)).body).not.toMatch(/^gatehouse_nodes\{/m);
  });

  it('of an executor that vanished are given to nothing before its leftovers are removed', async () => {
    nodes.adopt({ hosts: [host('one')], tenantLimits: new Map(), outageLimit: null });
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
    await vi.waitFor(async () => expect(await given()).toEqual(['one']));
  });
});

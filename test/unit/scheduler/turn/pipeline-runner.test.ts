import { expect, test } from 'vitest';
import type { BuildRequest } from '../../../../src/model/build-request.ts';
import type { ChangeRecord } from '../../../../src/model/change.ts';
import {
  buildRequestCodec,
  changeRecordCodec,
  internalEventCodec,
  mergerRequestCodec,
  pipelineEventCodec,
} from '../../../../src/model/codec/records.ts';
import type { PipelineEvent, TriggerEvent } from '../../../../src/model/event.ts';
import type { Tenant } from '../../../../src/model/layout.ts';
import type { MergerRequest } from '../../../../src/model/merge.ts';
import { createFairShare } from '../../../../src/scheduler/fair-share.ts';
import { createNoticeRules } from '../../../../src/scheduler/notices/notice-rules.ts';
import { createExpectedDurations } from '../../../../src/scheduler/turn/expected-durations.ts';
import { createJobGraphs } from '../../../../src/scheduler/turn/job-graphs.ts';
import { pipelineClock } from '../../../../src/scheduler/turn/pipeline-clock.ts';
import type { PipelineContext } from '../../../../src/scheduler/turn/pipeline-context.ts';
import { createPipelineForecasts } from '../../../../src/scheduler/turn/pipeline-forecasts.ts';
import { createPipelineRunner } from '../../../../src/scheduler/turn/pipeline-runner.ts';
import { pipelineSemaphores } from '../../../../src/scheduler/turn/pipeline-semaphores.ts';
import { createRechecks } from '../../../../src/scheduler/turn/rechecks.ts';
import { ensureNode } from '../../../../src/store/ensure-node.ts';
import { EventQueue } from '../../../../src/store/event-queue.ts';
import { loadPipeline } from '../../../../src/store/load-pipeline.ts';
import { check, create, set } from '../../../../src/store/port.ts';
import { createQuarantine } from '../../../../src/store/quarantine.ts';
import { RequestQueue } from '../../../../src/store/request-queue.ts';
import { WHOLE_TRACES } from '../../../../src/tracing/live-tracing.ts';
import { gatePipeline } from '../../../fake/pipeline.ts';
import { APP, proposedChange } from '../../../fake/queue-item.ts';
import { eventually, openStand, type Stand } from '../stand.ts';

const pipeline = gatePipeline();

/** A pipeline of tenant acme on a store in memory; merge requests are submitted and not taken. */
async function open(stand: Stand, share = createFairShare()) {
  const { store, paths, clock, ids, log } = stand;
  const places = paths.pipeline('acme', 'gate');
  for (const path of [paths.tenants, paths.spanOutbox, paths.historyOutbox, paths.blobs])
    await ensureNode(store, path);
  const events = new EventQueue<PipelineEvent>({
    store,
    path: places.eventQueue,
    codec: pipelineEventCodec,
    clock,
  });
  const mergeRequests = new RequestQueue<MergerRequest>({ store, path: '/merge', codec: mergerRequestCodec });
  const buildRequests = new RequestQueue<BuildRequest>({ store, path: '/build', codec: buildRequestCodec });
  const records = new Map<string, ChangeRecord>();
  let marks = 0;
  const graphs = createJobGraphs(store, paths);
  const tenant: Tenant = { name: 'acme', projects: [], maxJobTimeout: 10_800 };
  const context: PipelineContext = {
    clock: pipelineClock(clock),
    ids,
    log,
    tenant,
    pipeline,
    retired: false,
    events,
    internalEvents: new EventQueue({
      ...{ store, clock, codec: internalEventCodec },
      path: paths.tenant('acme').internal,
    }),
    isAwaited: () => false,
    tenantsOf: async () => [],
    graphs,
    changes: {
      operations: () => [],
      remember: () => {},
      fresh: async () => {},
      conflict: async () => false,
      mark: () => ++marks,
    },
    store,
    paths,
    semaphores: pipelineSemaphores({ store, paths, tenant: 'acme', wake: () => {} }),
    semaphoreOf: () => ({ scope: 'tenant', max: 1 }),
    layoutCheck: check(paths.tenants),
    layoutVersion: 1,
    driverOf: () => ({ config: {} }) as never,
    record: key => records.get(key),
    dependentsOf: () => [],
    sameTopic: () => [],
    queueOf: () => ({ key: 'q', name: 'q', allowsCycles: false, byTopic: false }),
    rechecks: createRechecks(),
    pending: { waiting: 0, sort: async entries => ({ taken: entries, freezes: new Map() }) },
    learn: () => {},
    webRoot: 'http://localhost',
    projects: {
      defaultBranch: () => undefined,
      canonicalName: project => project,
      isTrusted: () => false,
    },
    mergeRequests,
    buildRequests,
    executors: { canRun: () => 'yes', offered: () => [], ansibleVersions: () => [] },
    eventsOf: () => undefined,
    mergeMessage: change => change.id,
    mergeMode: () => 'merge',
    likelyStates: () => [],
    landingMode: () => null,
    landsSeveral: () => false,
    messengers: new Set(),
    expected: createExpectedDurations(),
    notices: createNoticeRules([], { clock, log }),
    forecasts: createPipelineForecasts({
      ...{ tenant: 'acme', pipeline: 'gate', clock, log },
      expected: createExpectedDurations(),
    }),
    metrics: undefined,
    spans: () => undefined,
    tracePolicy: () => undefined,
    keep: () => WHOLE_TRACES.keep,
    nodes: {
      state: places.state,
      item: places.item,
      staged: places.staged,
      spanOutbox: paths.spanOutbox,
      historyOutbox: paths.historyOutbox,
      landings: '/landings',
      messageOutbox: paths.messageOutbox('acme', 'gate'),
      reportOutbox: paths.reportOutbox('acme', 'gate'),
    },
  };
  const runner = createPipelineRunner({
    metrics: undefined,
    name: 'one',
    tenant: 'acme',
    pipeline: 'gate',
    store,
    paths,
    clock,
    ids,
    log,
    events,
    context: () => context,
    tracing: stand.tracing,
    mergeRequests,
    buildRequests,
    connections: new Map(),
    outbox: paths.reportOutbox('acme', 'gate'),
    messages: { outbox: paths.messageOutbox('acme', 'gate'), messengers: new Map() },
    quarantine: createQuarantine({ store, path: paths.quarantine, clock, log }),
    pauseSwitch: stand.pauseSwitch,
    share,
    layout: { upToDate: async () => {}, refresh: async () => {}, settled: async () => {} },
  });
  const stop = new AbortController();
  const loop = runner.run(stop.signal);
  await eventually(
    async () =>
      (await store.get(places.eventQueue)) !== undefined && (await store.get('/merge/queue')) !== undefined,
    'the pipeline is prepared',
  );
  return {
    events,
    mergeRequests,
    approve(id: string): PipelineEvent {
      const change = proposedChange(id);
      const record: ChangeRecord = {
        change,
        status: 'open',
        dependsOn: [],
        unresolvedDependencies: [],
        facts: {},
        fetchedAt: clock.now(),
      };
      records.set(change.key, changeRecordCodec.decode(changeRecordCodec.encode(record)));
      const uuid = ids.uuid();
      const span = { traceId: uuid as never, spanId: uuid.slice(0, 16) as never };
      const trigger: TriggerEvent = {
        uuid,
        connection: 'local',
        driver: 'git',
        type: 'approved',
        project: APP,
        branch: 'master',
        ref: null,
        change,
        facts: {},
        configMayHaveChanged: [],
        branchesChanged: false,
        receivedAt: clock.now(),
        sampled: false,
        span,
      };
      return { kind: 'enqueue', uuid: ids.uuid(), trigger, tenantSpan: span, matched: 'event approved' };
    },
    items: async () =>
      [
        ...(
          await loadPipeline(store, places, createQuarantine({ ...stand, path: '/quarantine' }))
        ).items.values(),
      ].map(item => item.changes[0].kind === 'change' && item.changes[0].id),
    async end() {
      stop.abort(new Error('the test is over'));
      await loop;
    },
  };
}

test('an approved change becomes an item whose merge is asked for, in one commit', async () => {
  await using stand = openStand();
  const gate = await open(stand);
  await stand.store.multi(gate.events.put(gate.approve('master/one')));
  await eventually(async () => (await gate.items()).length === 1, 'the item');
  expect(await gate.events.depth()).toBe(0);
  expect((await gate.mergeRequests.list()).map(each => each.value.kind)).toEqual(['merge']);
  await gate.end();
});

test('an event that makes every turn fail becomes a dead letter; the others count', async () => {
  await using stand = openStand();
  const gate = await open(stand);
  const poison = { ...gate.approve('master/two'), trigger: null } as unknown as PipelineEvent;
  await stand.store.multi(
    [gate.approve('master/one'), poison, gate.approve('master/three')].flatMap(event =>
      gate.events.put(event),
    ),
  );
  await eventually(async () => (await gate.events.depth()) === 0, 'the queue is empty');
  expect(await gate.items()).toEqual(expect.arrayContaining(['master/one', 'master/three']));
  expect(await gate.events.deadLetters()).toHaveLength(1);
  await gate.end();
});

test('a code host is asked again although the turn that leaves it alone took longer than that', async () => {
  await using stand = openStand();
  const gate = await open(stand);
  await stand.store.multi(gate.events.put(gate.approve('master/one')));
  await eventually(async () => (await gate.mergeRequests.list()).length === 1, 'the merge is asked for');
  const [asked] = await gate.mergeRequests.list();
  if (asked?.value.item === undefined) throw new Error('no request of an item');
  const { item, buildset } = asked.value.item;
  const { multi } = stand.store;
  const refused: PipelineEvent = {
    kind: 'merger-result',
    uuid: stand.ids.uuid(),
    request: asked.value.uuid,
    item,
    buildset,
    at: stand.clock.now(),
    outcome: {
      kind: 'failed',
      text: 'Unable to update local/app',
      retryable: true,
      trouble: { project: APP, reason: 'limited', text: 'answers 403' },
      steps: [],
      worker: 'merger-1',
    },
  };
  // Every commit from here on takes longer than the first wait for the host, which is a second.
  const slow = stand.store as { multi: typeof multi };
  slow.multi = async operations => {
    const done = await multi.call(stand.store, operations);
    stand.clock.advance(5_000);
    return done;
  };
  await stand.store.multi(gate.events.put(refused));
  await eventually(
    async () => (await gate.mergeRequests.list()).length === 2,
    'the merge is asked for again',
  );
  await gate.end();
});

test('a second scheduler goes on where the first one stopped', async () => {
  await using stand = openStand();
  const first = await open(stand);
  await stand.store.multi(first.events.put(first.approve('master/one')));
  await eventually(async () => (await first.items()).length === 1, 'the item');
  await first.end();
  const second = await open(stand);
  await stand.store.multi(second.events.put(second.approve('master/two')));
  await eventually(async () => (await second.items()).length === 2, 'the second item');
  expect(await second.mergeRequests.list()).toHaveLength(2);
  await second.end();
});

test('a holder whose epoch was taken writes nothing any more', async () => {
  await using stand = openStand();
  const gate = await open(stand);
  const places = stand.paths.pipeline('acme', 'gate');
  await stand.store.multi([set(places.epoch, new TextEncoder().encode('another holder'))]);
  await stand.store.multi(gate.events.put(gate.approve('master/one')));
  // The loop notices at its next write, takes the fence again, and does the work under the new epoch.
  await eventually(async () => (await gate.items()).length === 1, 'the item');
  expect(stand.logged.filter(line => line.startsWith('info: pipeline acme/gate failed'))).toHaveLength(1);
  expect(await gate.mergeRequests.list()).toHaveLength(1);
  await gate.end();
});

test('a scheduler that holds more than its share works before it gives a pipeline back', async () => {
  await using stand = openStand();
  const { lock } = stand.paths.pipeline('acme', 'gate');
  await ensureNode(stand.store, lock);
  await stand.store.multi([create(`${lock}/somebody-lock-9999999999`)]);
  const share = createFairShare();
  for (let others = 0; others < 5; others++) share.hold();
  const gate = await open(stand, share);
  await stand.store.multi(gate.events.put(gate.approve('master/one')));
  await eventually(async () => (await gate.items()).length === 1, 'the item');
  await gate.end();
});

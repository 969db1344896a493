import { expect, test } from 'vitest';
import { parseNanoseconds } from '../../../../src/lib/clock.ts';
import type { Change, ChangeKey, ChangeRecord } from '../../../../src/model/change.ts';
import { spansCodec, tenantEventCodec } from '../../../../src/model/codec/records.ts';
import type { TenantEvent } from '../../../../src/model/event.ts';
import { parseCommitId, projectKey } from '../../../../src/model/project.ts';
import { HostNotAsked } from '../../../../src/scheduler/changes/resolve-dependencies.ts';
import type { ConfigurationToRead } from '../../../../src/scheduler/tenant/reconfigure.ts';
import {
  processTenantEvents,
  type TenantEventsDeps,
} from '../../../../src/scheduler/tenant/tenant-events.ts';
import { ensureNode } from '../../../../src/store/ensure-node.ts';
import { EventQueue } from '../../../../src/store/event-queue.ts';
import { acquireFence } from '../../../../src/store/fence.ts';
import { listOutbox, readOutbox } from '../../../../src/store/outbox.ts';
import { rootSpanOf } from '../../../../src/tracing/span-ids.ts';
import { gatePipeline } from '../../../fake/pipeline.ts';
import { proposedChange } from '../../../fake/queue-item.ts';
import { eventually, openStand } from '../stand.ts';

const AWAY = projectKey({ connection: 'away', name: 'org/far' });
const HERE = projectKey({ connection: 'here', name: 'org/near' });

class HostAway extends Error {
  readonly retryable = true;
}

/** A tenant's event queue on a store, and what handles it; each test adds the deps it needs. */
async function openTenant(stand: ReturnType<typeof openStand>) {
  const { store, paths, clock, ids, log } = stand;
  const places = paths.tenant('acme');
  const queue = new EventQueue<TenantEvent>({
    store,
    path: places.triggerQueue,
    codec: tenantEventCodec,
    clock,
  });
  await queue.prepare();
  await ensureNode(store, paths.spanOutbox);
  await ensureNode(store, paths.historyOutbox);
  const changes = {
    record: () => undefined,
    fresh: async () => {},
    conflict: async () => false,
    remember: () => {},
    operations: () => [],
  };
  const deps = {
    topics: { membersOf: async () => null },
    tenant: 'acme',
    clock,
    ids,
    log,
    paths,
    queue,
    pauses: [1],
    changes,
    tracing: { spans: () => ({ names: 'gatehouse' }) },
    pipelines: () => [],
    retired: () => [],
    exclusionOf: () => undefined,
    isUnread: () => false,
    driverOf: () => undefined,
  } as unknown as TenantEventsDeps;
  return {
    queue,
    changes,
    deps,
    /** @returns ends the handling. */
    async run(own: TenantEventsDeps) {
      const stop = new AbortController();
      const fence = await acquireFence(store, {
        lockPath: places.lock,
        epochPath: places.epoch,
        lastOperationPath: places.lastOperation,
        guid: ids.uuid(),
      });
      const running = processTenantEvents(own, fence, stop.signal);
      running.catch(() => {});
      return async () => {
        stop.abort();
        await running.finally(() => fence.release());
      };
    },
  };
}

/** One pipeline that wants every event. */
const wantingAll = {
  pipelines: () => [gatePipeline({ triggers: [{ connection: 'here', config: {}, definedAt: 'x' }] })],
  driverOf: () => ({ config: { matches: () => ({ met: true, text: 'wanted' }) } }),
  eventsOf: () => ({ put: () => [] }),
} as unknown as Pick<TenantEventsDeps, 'pipelines' | 'driverOf' | 'eventsOf'>;

function recordOf(change: Change): ChangeRecord {
  return {
    change,
    status: 'open',
    dependsOn: [],
    unresolvedDependencies: ['https://far.example.org/7'],
    facts: {},
    fetchedAt: parseNanoseconds('1'),
  };
}

function triggerEvent(
  { ids, clock }: ReturnType<typeof openStand>,
  change: Change,
  configMayHaveChanged: readonly string[] = [],
): TenantEvent {
  const cause = ids.uuid();
  return {
    kind: 'trigger',
    uuid: ids.uuid(),
    tenant: 'acme',
    queuedAt: clock.now(),
    trigger: {
      uuid: cause,
      connection: 'here',
      driver: 'git',
      type: 'ref-updated',
      project: HERE,
      branch: 'master',
      ref: null,
      change,
      facts: {},
      configMayHaveChanged,
      branchesChanged: false,
      receivedAt: clock.now(),
      sampled: true,
      span: rootSpanOf(cause),
    },
  };
}

test('events of a host that is away wait for it, however long; those of other hosts go on', async () => {
  await using stand = openStand();
  const { store, clock, ids } = stand;
  const { queue, deps, run } = await openTenant(stand);
  const looks: string[] = [];
  let isAway = true;
  const look = (project: typeof AWAY): TenantEvent => ({
    kind: 'first-look',
    uuid: ids.uuid(),
    tenant: 'acme',
    project,
    queuedAt: clock.now(),
  });
  await store.multi([...queue.put(look(AWAY)), ...queue.put(look(HERE)), ...queue.put(look(AWAY))]);

  const stop = await run({
    ...deps,
    // First looks need nothing of a scheduler but that it reads configuration.
    async reconfigure({ project }) {
      looks.push(project);
      return project === AWAY && isAway ? 'unread' : 'read';
    },
  });
  await eventually(
    async () => (await queue.depth()) === 2 && looks.length > 20,
    'the event of the host that is here',
  );
  expect(looks.filter(project => project === HERE)).toHaveLength(1);
  isAway = false;
  await eventually(async () => (await queue.depth()) === 0, 'the others');
  expect(await queue.deadLetters()).toEqual([]);
  await stop();
});

test('events that come in while others wait do not wait with them', async () => {
  await using stand = openStand();
  const { store, ids, clock } = stand;
  const { queue, deps, run } = await openTenant(stand);
  const look = (project: typeof AWAY): TenantEvent => ({
    kind: 'first-look',
    uuid: ids.uuid(),
    tenant: 'acme',
    project,
    queuedAt: clock.now(),
  });
  let asked = 0;
  const stop = await run({
    ...deps,
    pauses: [3_600_000],
    async reconfigure({ project }) {
      asked += 1;
      return project === AWAY ? 'unread' : 'read';
    },
  });
  await store.multi(queue.put(look(AWAY)));
  await eventually(async () => asked === 1, 'the event that waits');
  await store.multi([...queue.put(look(AWAY)), ...queue.put(look(HERE))]);
  await eventually(async () => (await queue.depth()) === 2, 'the event of the other project');
  expect(asked).toBe(2);
  await stop();
});

test('configuration that a host did not give is read as soon as it does; the event goes on without', async () => {
  await using stand = openStand();
  const { queue, deps, run } = await openTenant(stand);
  const asked: ConfigurationToRead[] = [];
  let matched = 0;
  let serves = false;
  await stand.store.multi([
    ...queue.put(triggerEvent(stand, proposedChange('master/login'), ['master'])),
    ...queue.put(triggerEvent(stand, proposedChange('master/other'), ['master'])),
  ]);
  const stop = await run({
    ...deps,
    driverOf() {
      matched += 1;
      return undefined;
    },
    async reconfigure(wanted) {
      asked.push(wanted);
      return serves ? 'read' : 'unread';
    },
  });
  await eventually(async () => matched === 2 && asked.length > 10, 'both events, and some tries');
  // One event waits for the configuration, however many events need it.
  expect(await queue.depth()).toBe(1);
  serves = true;
  await eventually(async () => (await queue.depth()) === 0, 'the configuration');
  expect(asked[0]?.branches).toEqual(['master']);
  expect(asked.slice(1).every(({ branches }) => branches === null)).toBe(true);
  await stop();
});

test('configuration of another branch is read although that of a branch we landed on waits for the host', async () => {
  await using stand = openStand();
  const { store, ids, clock } = stand;
  const { queue, deps, run } = await openTenant(stand);
  const asked: ConfigurationToRead[] = [];
  let serves = false;
  const landed = { branch: 'stable', commit: parseCommitId('1'.repeat(40)) };
  const stop = await run({
    ...deps,
    async reconfigure(wanted) {
      asked.push(wanted);
      return serves ? 'read' : 'unread';
    },
  });
  await store.multi(
    queue.put({
      kind: 'first-look',
      uuid: ids.uuid(),
      tenant: 'acme',
      project: HERE,
      landed,
      queuedAt: clock.now(),
    }),
  );
  await eventually(async () => asked.length > 1, 'the branch that waits');
  await store.multi(queue.put(triggerEvent(stand, proposedChange('master/login'), ['master'])));
  await eventually(async () => asked.some(({ branches }) => branches === null), 'all branches to wait');
  expect(await queue.depth()).toBe(2);
  serves = true;
  const before = asked.length;
  await eventually(async () => (await queue.depth()) === 0, 'both');
  expect(new Set(asked.slice(before).map(({ branches }) => branches?.join() ?? 'all'))).toEqual(
    new Set(['stable', 'all']),
  );
  await stop();
});

test('a change that names one of a host that is away waits for it; others of its project go on', async () => {
  await using stand = openStand();
  const { store } = stand;
  const { queue, deps, changes, run } = await openTenant(stand);
  const [naming, plain] = [proposedChange('master/naming'), proposedChange('master/plain')];
  const handled: string[] = [];
  let asked = 0;
  let isAway = true;
  const triggers = [
    ...queue.put(triggerEvent(stand, naming)),
    ...queue.put(triggerEvent(stand, naming)),
    ...queue.put(triggerEvent(stand, plain)),
  ];
  await store.multi(triggers);

  const stop = await run({
    ...deps,
    ...wantingAll,
    changes: {
      ...changes,
      mark: () => 0,
      changedSince: () => false,
      record: (key: ChangeKey) => recordOf(key === naming.key ? naming : plain),
    } as never,
    dependencies: {
      async resolve(record) {
        if (record.change.key === naming.key && ++asked > 0 && isAway)
          throw new HostNotAsked('https://far.example.org/7', 'far', new HostAway('no route to host'));
        handled.push(record.change.key);
        return record;
      },
    },
  });
  await eventually(async () => asked > 20 && (await queue.depth()) === 2, 'the other change');
  expect(handled).toEqual([plain.key]);
  isAway = false;
  await eventually(async () => (await queue.depth()) === 0, 'the change that waited');
  expect(handled).toEqual([plain.key, naming.key, naming.key]);
  expect(await queue.deadLetters()).toEqual([]);
  await stop();
});

test('an event that waits for the host of a dependency reads its own configuration once', async () => {
  await using stand = openStand();
  const { queue, deps, changes, run } = await openTenant(stand);
  const naming = proposedChange('master/naming');
  const read: ConfigurationToRead[] = [];
  let asked = 0;
  await stand.store.multi([
    ...queue.put(triggerEvent(stand, naming, ['master'])),
    ...queue.put(triggerEvent(stand, naming, ['stable'])),
  ]);
  const stop = await run({
    ...deps,
    ...wantingAll,
    changes: {
      ...changes,
      mark: () => 0,
      changedSince: () => false,
      record: () => recordOf(naming),
    } as never,
    reconfigure: async wanted => {
      read.push(wanted);
      return 'read';
    },
    dependencies: {
      async resolve(record) {
        asked += 1;
        if (asked <= 10)
          throw new HostNotAsked('https://far.example.org/7', 'far', new HostAway('no route to host'));
        return record;
      },
    },
  });
  await eventually(async () => (await queue.depth()) === 0, 'both events');
  expect(asked).toBe(12);
  expect(read.map(({ branches }) => branches)).toEqual([['master'], ['stable']]);
  await stop();
});

test('an event whose commit conflicts without end is given up like any that cannot be handled', async () => {
  await using stand = openStand();
  const { queue, deps, changes, run } = await openTenant(stand);
  let tries = 0;
  await stand.store.multi(queue.put(triggerEvent(stand, proposedChange('master/login'))));
  const own = {
    ...deps,
    changes: { ...changes, conflict: async () => true } as never,
    driverOf() {
      tries += 1;
      throw new Error('always the same conflict');
    },
  };
  // The scheduler begins this loop again after a failure.
  for (let failures = 0; failures < 3; failures++) {
    const stop = await run(own);
    await eventually(async () => tries === 51 * (failures + 1), 'the conflicts');
    await expect(stop()).rejects.toThrow('always the same conflict');
  }
  const stop = await run(own);
  await eventually(async () => (await queue.depth()) === 0, 'the event');
  await stop();
  expect(await queue.deadLetters()).toHaveLength(1);
});

test('that an event led to a new layout is traced with the layout, also when the event is handled twice', async () => {
  await using stand = openStand();
  const { store, paths, clock, ids } = stand;
  const { queue, deps, changes, run } = await openTenant(stand);
  let version = 7;
  let looks = 0;
  const event = triggerEvent(stand, proposedChange('master/login'), ['master']);
  await store.multi(queue.put(event));
  const stop = await run({
    ...deps,
    changes: { ...changes, conflict: async () => true } as never,
    driverOf() {
      looks += 1;
      if (looks === 1) throw new Error('a commit conflict');
      return undefined;
    },
    // Like a tenant whose configuration reads differently once.
    async reconfigure(_wanted, rowsFor, fence) {
      if (version === 8) return 'read';
      version = 8;
      const now = clock.now();
      const rows = rowsFor({ startedAt: now, endedAt: now, version, errors: 0, reads: [] });
      await fence.commit(rows, ids.uuid());
      return 'read';
    },
  });
  await eventually(async () => (await queue.depth()) === 0, 'the event');
  await stop();
  const rows = await readOutbox(store, await listOutbox(store, paths.spanOutbox));
  const spans = rows.flatMap(row => spansCodec.decode(row.data));
  const { spanId } = rootSpanOf(event.uuid);
  expect(looks).toBe(2);
  expect(spans.map(({ name, parent }) => [name.split(' ')[0], parent])).toEqual([
    ['Reconfigure', spanId],
    ['TenantEvent', null],
    ['EventQueued', spanId],
  ]);
});

import { expect, test } from 'vitest';
import { spansCodec, tenantEventCodec } from '../../../../src/model/codec/records.ts';
import type { TenantEvent } from '../../../../src/model/event.ts';
import { projectKey } from '../../../../src/model/project.ts';
import {
  processTenantEvents,
  type TenantEventsDeps,
} from '../../../../src/scheduler/tenant/tenant-events.ts';
import { ensureNode } from '../../../../src/store/ensure-node.ts';
import { EventQueue } from '../../../../src/store/event-queue.ts';
import { acquireFence } from '../../../../src/store/fence.ts';
import { listOutbox, readOutbox } from '../../../../src/store/outbox.ts';
import { rootSpanOf } from '../../../../src/tracing/span-ids.ts';
import { proposedChange } from '../../../fake/queue-item.ts';
import { eventually, openStand } from '../stand.ts';

const AWAY = projectKey({ connection: 'away', name: 'org/far' });
const HERE = projectKey({ connection: 'here', name: 'org/near' });

class HostAway extends Error {
  readonly retryable = true;
}

test('events of a host that is away wait for it, however long; those of other hosts go on', async () => {
  await using stand = openStand();
  const { store, paths, clock, ids, log } = stand;
  const places = paths.tenant('acme');
  const queue = new EventQueue<TenantEvent>({
    store,
    path: places.triggerQueue,
    codec: tenantEventCodec,
    clock,
  });
  await queue.prepare();
  const looks: string[] = [];
  let isAway = true;
  // First looks need nothing of a scheduler but that it reads configuration.
  const deps = {
    tenant: 'acme',
    clock,
    ids,
    log,
    queue,
    pauses: [1],
    changes: {
      record: () => undefined,
      fresh: async () => {},
      conflict: async () => false,
      remember: () => {},
    },
    async reconfigure({ project }: { readonly project: string }) {
      looks.push(project);
      if (project === AWAY && isAway) throw new HostAway('no route to host');
      return null;
    },
  } as unknown as TenantEventsDeps;
  const look = (project: typeof AWAY): TenantEvent => ({
    kind: 'first-look',
    uuid: ids.uuid(),
    tenant: 'acme',
    project,
    queuedAt: clock.now(),
  });
  await store.multi([...queue.put(look(AWAY)), ...queue.put(look(HERE)), ...queue.put(look(AWAY))]);

  const stop = new AbortController();
  const fence = await acquireFence(store, {
    lockPath: places.lock,
    epochPath: places.epoch,
    lastOperationPath: places.lastOperation,
    guid: ids.uuid(),
  });
  const running = processTenantEvents(deps, fence, stop.signal);
  await eventually(
    async () => (await queue.depth()) === 2 && looks.length > 20,
    'the event of the host that is here',
  );
  expect(looks.filter(project => project === HERE)).toHaveLength(1);
  isAway = false;
  await eventually(async () => (await queue.depth()) === 0, 'the others');
  expect(await queue.deadLetters()).toEqual([]);
  stop.abort();
  await running;
});

test('that an event led to a new layout is told with the layout, also when the event is looked at twice', async () => {
  await using stand = openStand();
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
  let version = 7;
  let looks = 0;
  const deps = {
    tenant: 'acme',
    clock,
    ids,
    log,
    paths,
    queue,
    changes: {
      record: () => undefined,
      fresh: async () => {},
      conflict: async () => true,
      remember: () => {},
      operations: () => [],
    },
    tracing: { spans: () => ({ names: 'gatehouse' }) },
    pipelines: () => [],
    retired: () => [],
    isUnread: () => false,
    driverOf() {
      looks += 1;
      if (looks === 1) throw new Error('somebody else wrote first');
      return undefined;
    },
    // Like a tenant whose configuration reads differently once.
    reconfigure: (async (_news, tell, fence) => {
      if (version === 8) return;
      version = 8;
      const now = clock.now();
      const rows = tell({ startedAt: now, endedAt: now, version, errors: 0, reads: [] });
      await fence.commit(rows, ids.uuid());
    }) satisfies TenantEventsDeps['reconfigure'],
  } as unknown as TenantEventsDeps;
  const [uuid, cause] = [ids.uuid(), ids.uuid()];
  const event: TenantEvent = {
    kind: 'trigger',
    uuid,
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
      change: proposedChange('master/login'),
      facts: {},
      configMayHaveChanged: ['master'],
      branchesChanged: false,
      receivedAt: clock.now(),
      sampled: true,
      span: rootSpanOf(cause),
    },
  };
  await store.multi(queue.put(event));
  const stop = new AbortController();
  const fence = await acquireFence(store, {
    lockPath: places.lock,
    epochPath: places.epoch,
    lastOperationPath: places.lastOperation,
    guid: ids.uuid(),
  });
  const running = processTenantEvents(deps, fence, stop.signal);
  await eventually(async () => (await queue.depth()) === 0, 'the event');
  stop.abort();
  await running;
  const rows = await readOutbox(store, await listOutbox(store, paths.spanOutbox));
  const spans = rows.flatMap(row => spansCodec.decode(row.data));
  const { spanId } = rootSpanOf(uuid);
  expect(looks).toBe(2);
  expect(spans.map(({ name, parent }) => [name.split(' ')[0], parent])).toEqual([
    ['Reconfigure', spanId],
    ['TenantEvent', null],
    ['EventQueued', spanId],
  ]);
});

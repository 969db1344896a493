import { expect, test } from 'vitest';
import { parseNanoseconds } from '../../../../src/lib/clock.ts';
import { derivedUuid, type Uuid } from '../../../../src/lib/ids.ts';
import { type ChangeRecord, refUpdateKey } from '../../../../src/model/change.ts';
import type { LandingMode } from '../../../../src/model/landed.ts';
import { type CommitId, parseCommitId } from '../../../../src/model/project.ts';
import type { ReportIntent } from '../../../../src/model/report-intent.ts';
import { landingOperations } from '../../../../src/scheduler/changes/own-merges.ts';
import { ensureNode } from '../../../../src/store/ensure-node.ts';
import { rootSpanOf } from '../../../../src/tracing/span-ids.ts';
import { asArrived, checkTraces } from '../../../fake/check-traces.ts';
import { APP } from '../../../fake/queue-item.ts';
import { NO_DETAILS } from '../../../fake/records.ts';
import { eventually, openStand, type Stand } from '../stand.ts';
import { change, type FakeSource, NOTHING, openConnection, trigger } from './connection-stand.ts';

async function open(
  stand: Stand,
  process: FakeSource['process'],
  more: Pick<FakeSource, 'coalesceKey' | 'lane'> = {},
) {
  const connection = await openConnection(stand);
  return { ...connection, ...(await connection.hold({ process, ...more })) };
}

const TREE = 'e'.repeat(40);

function landing(item: Uuid, commit: CommitId, mode: LandingMode = 'push'): ReportIntent {
  const before = { before: commit, beforeTree: null };
  const tested = { project: APP, branch: 'master', base: commit, commit, ...before, tree: TREE };
  const part = { connection: 'local', config: {}, merges: true, mode, change, tested };
  return {
    uuid: item,
    tenant: 'acme',
    pipeline: 'gate',
    item,
    action: 'success',
    result: 'SUCCESS',
    requestedAt: parseNanoseconds('1795000000000000000'),
    message: '',
    url: '',
    details: NO_DETAILS,
    parts: [part],
  };
}

test('an event moves to its tenants in one commit, with its changes and its trace', async () => {
  await using stand = openStand();
  const record: ChangeRecord = {
    change,
    status: 'open',
    dependsOn: [],
    unresolvedDependencies: [],
    facts: {},
    fetchedAt: stand.clock.now(),
  };
  const world = await open(stand, async event => ({
    ...NOTHING,
    events: [trigger(event, 'proposed')],
    changes: [record],
    memory: [{ key: 'refs', value: { seen: 1 } }],
  }));
  await world.offer('d1');
  await eventually(async () => (await world.tenantQueue.depth()) === 1, 'the tenant has it');
  expect(await world.queue.depth()).toBe(0);
  expect(world.changes.record(change.key)).toEqual(record);
  const [entry] = await world.tenantQueue.list();
  if (entry?.value.kind !== 'trigger') throw new Error('no trigger');
  const spans = await world.spans();
  const root = spans.find(span => span.parent === null);
  expect(root).toMatchObject({
    name: 'GitEvent proposed',
    traceId: entry.value.trigger.span.traceId,
    spanId: entry.value.trigger.span.spanId,
  });
  expect(root?.attributes['gatehouse.event.outcome']).toBe('forwarded');
  expect(spans.map(span => span.name)).toEqual([
    'GitEvent proposed',
    'EventReceive',
    'EventQueued',
    'EventProcess',
    'EventForward',
  ]);
  await world.end();
});

test('an event of a project no tenant holds ends as discarded, with the reason', async () => {
  await using stand = openStand();
  const other = 'local/acme/other' as typeof APP;
  const world = await open(stand, async event => ({
    ...NOTHING,
    events: [trigger(event, 'proposed', other)],
  }));
  await world.offer('d1');
  await eventually(async () => (await world.spans()).length > 0, 'the trace');
  expect((await world.spans())[0]?.attributes).toMatchObject({
    'gatehouse.event.outcome': 'discarded',
    'gatehouse.reason': 'no tenant holds the project',
  });
  await world.end();
});

test('something people did in vain is remembered with its reason', async () => {
  await using stand = openStand();
  const world = await open(stand, async () => ({
    ...NOTHING,
    refusals: [{ change, text: 'approves 1234, but the proposal is at 5678' }],
  }));
  await world.offer('d1');
  await eventually(async () => (await world.history()).length > 0, 'the decision');
  expect(await world.history()).toMatchObject([
    {
      kind: 'decisions',
      decisions: [{ code: 'event-refused', text: 'approves 1234, but the proposal is at 5678' }],
    },
  ]);
  await world.end();
});

test('an event that cannot be processed is quarantined, and the next one goes on', async () => {
  await using stand = openStand();
  const world = await open(stand, async event => {
    if (event.deliveryId === 'bad') throw new Error('not understood');
    return { ...NOTHING, events: [trigger(event, 'proposed')] };
  });
  await world.offer('bad');
  await world.offer('good');
  await eventually(async () => (await world.tenantQueue.depth()) === 1, 'the good one');
  expect(await world.queue.deadLetters()).toHaveLength(1);
  const spans = await world.spans();
  const root = spans.find(span => span.attributes['gatehouse.event.outcome'] === 'failed');
  expect(root).toMatchObject({
    status: { code: 'error' },
    attributes: { 'gatehouse.reason': 'not-understood' },
  });
  const process = spans.find(span => span.traceId === root?.traceId && span.name === 'EventProcess');
  expect(process?.attributes['gatehouse.attempt_count']).toBe(5);
  expect(process?.events).toHaveLength(5);
  expect(checkTraces(spans.map(asArrived))).toEqual([]);
  expect(
    stand.logged.some(line => line.startsWith('error: an event of connection local cannot be processed')),
  ).toBe(true);
  await world.end();
});

test('an answer that does not fit into one commit is quarantined with its size, and the next event goes on', async () => {
  await using stand = openStand();
  const world = await open(stand, async event => {
    const events = Array.from({ length: event.deliveryId === 'huge' ? 600 : 1 }, () =>
      trigger(event, 'proposed'),
    );
    return { ...NOTHING, events };
  });
  await world.offer('huge');
  await world.offer('good');
  await eventually(async () => (await world.tenantQueue.depth()) === 1, 'the good one');
  expect(await world.queue.deadLetters()).toMatchObject([
    { error: expect.stringContaining('does not fit into one commit: 600 events') },
  ]);
  await world.end();
});

test('what the driver forgets is gone from its memory', async () => {
  await using stand = openStand();
  const values: unknown[] = [];
  const world = await open(stand, async (event, { memory }) => {
    values.push(await memory.get('pull/1'));
    const value = event.deliveryId === 'd1' ? { seen: true } : undefined;
    return { ...NOTHING, memory: [{ key: 'pull/1', value }] };
  });
  for (const delivery of ['d1', 'd2', 'd3']) {
    await world.offer(delivery);
    await eventually(async () => (await world.queue.depth()) === 0, delivery);
  }
  expect(values).toEqual([undefined, { seen: true }, undefined]);
  await world.end();
});

test('while the host cannot be reached nothing is quarantined', async () => {
  await using stand = openStand();
  let tries = 0;
  const world = await open(stand, async event => {
    tries += 1;
    if (tries <= 2) throw Object.assign(new Error('connection refused'), { retryable: true });
    return { ...NOTHING, events: [trigger(event, 'proposed')] };
  });
  await world.offer('d1');
  await eventually(async () => (await world.tenantQueue.depth()) === 1, 'the third try');
  expect(await world.queue.deadLetters()).toEqual([]);
  const process = (await world.spans()).find(span => span.name === 'EventProcess');
  expect(process?.attributes['gatehouse.attempt_count']).toBe(3);
  expect(process?.events.map(({ name, attributes }) => [name, attributes])).toEqual(
    Array(2).fill(['attempt-failed', { 'gatehouse.reason': 'host-unreachable' }]),
  );
  await world.end();
});

test('a project seen for the first time has its configuration compared before anything behind it is matched', async () => {
  await using stand = openStand();
  const world = await open(stand, async event => ({
    ...NOTHING,
    events: [trigger(event, 'proposed')],
    firstLooks: [APP],
  }));
  await world.offer('d1');
  await eventually(async () => (await world.tenantQueue.depth()) === 2, 'both events');
  expect((await world.tenantQueue.list()).map(({ value }) => value.kind)).toEqual(['first-look', 'trigger']);
  await world.end();
});

test('an event that only updates tenants is traced as such, and its effects link to it', async () => {
  await using stand = openStand();
  const record = { change, status: 'open', dependsOn: [], unresolvedDependencies: [], facts: {} } as const;
  const world = await open(stand, async () => ({
    ...NOTHING,
    changes: [{ ...record, fetchedAt: stand.clock.now() }],
    updated: [change.key],
    queries: [
      {
        kind: 'HostQuery',
        subject: 'refs acme/app',
        startedAt: stand.clock.now(),
        endedAt: stand.clock.now(),
      },
    ],
  }));
  await world.offer('d1');
  await eventually(async () => (await world.tenantQueue.depth()) === 1, 'the tenant hears of it');
  const spans = await world.spans();
  expect(spans[0]?.attributes).toMatchObject({
    'gatehouse.event.outcome': 'updated',
    'gatehouse.tenants': ['acme'],
  });
  expect(spans.find(span => span.name === 'HostQuery refs acme/app')?.parent).toBe(
    spans.find(span => span.name === 'EventProcess')?.spanId,
  );
  const [entry] = await world.tenantQueue.list();
  expect(entry?.value).toMatchObject({
    kind: 'updated',
    origin: { span: { traceId: spans[0]?.traceId, spanId: spans[0]?.spanId }, sampled: true },
  });
  expect(checkTraces(spans.map(asArrived))).toEqual([]);
  await world.end();
});

test('an event about our own merge links to the item that merged', async () => {
  await using stand = openStand();
  const item = stand.ids.uuid();
  const commit = parseCommitId('c'.repeat(40));
  await ensureNode(stand.store, stand.paths.landings);
  await stand.store.multi(landingOperations(landing(item, commit), stand.paths.landings));
  const moved = { kind: 'ref', key: refUpdateKey(APP, 'refs/heads/master', commit), project: APP } as const;
  const world = await open(stand, async event => ({
    ...NOTHING,
    events: [
      {
        ...trigger(event, 'ref-updated'),
        change: { ...moved, ref: 'refs/heads/master', branch: 'master', oldCommit: null, newCommit: commit },
      },
    ],
  }));
  await world.offer('d1');
  await eventually(async () => (await world.spans()).length > 0, 'the trace');
  const [root] = await world.spans();
  expect(root?.attributes['gatehouse.link.caused_by']).toBe(item);
  expect(root?.links).toMatchObject([rootSpanOf(item)]);
  await world.end();
});

test('an event about a commit that the host made of our change links to the item by the tree', async () => {
  await using stand = openStand();
  const item = stand.ids.uuid();
  const [tested, made] = [parseCommitId('c'.repeat(40)), parseCommitId('d'.repeat(40))];
  await ensureNode(stand.store, stand.paths.landings);
  const asked = landing(item, tested, 'api');
  await stand.store.multi(landingOperations(asked, stand.paths.landings));
  const world = await open(stand, async event => ({
    ...NOTHING,
    events: ['master', 'stable'].map(branch => ({
      ...trigger(event, 'ref-updated'),
      uuid: derivedUuid(event.uuid, branch),
      branch,
      tree: TREE,
      change: {
        kind: 'ref' as const,
        key: refUpdateKey(APP, `refs/heads/${branch}`, made),
        project: APP,
        ref: `refs/heads/${branch}`,
        branch,
        oldCommit: null,
        newCommit: made,
      },
    })),
  }));
  await world.offer('d1');
  await eventually(async () => (await world.spans()).length > 1, 'the traces');
  const roots = (await world.spans()).filter(({ parent }) => parent === null);
  expect(roots.map(({ attributes }) => attributes['gatehouse.link.caused_by'])).toEqual([item, undefined]);
  await world.end();
});

test('what a read left unread is read next, as an event of its own', async () => {
  await using stand = openStand();
  const seen: string[] = [];
  const world = await open(stand, async event => {
    seen.push(event.deliveryId);
    return {
      ...NOTHING,
      events: [trigger(event, 'proposed')],
      ...(seen.length < 3
        ? { again: { type: 'refs-changed', deliveryId: `rest-${seen.length}`, payload: {} } }
        : {}),
    };
  });
  await world.offer('d1');
  await eventually(async () => (await world.tenantQueue.depth()) === 3, 'all are taken');
  expect(seen).toEqual(['d1', 'rest-1', 'rest-2']);
  expect(await world.queue.depth()).toBe(0);
  await world.end();
});

test('one read answers all events that waited for it, and one trace names them; later events need another', async () => {
  await using stand = openStand();
  const seen: string[] = [];
  const under = Promise.withResolvers<void>();
  const world = await open(
    stand,
    async event => {
      seen.push(event.deliveryId);
      if (event.deliveryId === 'd1') await under.promise;
      return { ...NOTHING, discarded: 'the refs are as they were' };
    },
    { coalesceKey: () => 'acme/app', lane: event => event.deliveryId.slice(0, 1) },
  );
  await world.offer('d1');
  await eventually(async () => seen.length === 1, 'the first look has begun');
  for (const id of ['d2', 'd3', 'd4']) await world.offer(id);
  await world.offer('x');
  await eventually(async () => seen.includes('x'), 'what was stored before it is known');
  under.resolve();
  await eventually(async () => (await world.queue.depth()) === 0, 'all are answered');
  expect(seen).toEqual(['d1', 'x', 'd2']);
  const roots = (await world.spans()).filter(
    span => span.parent === null && span.attributes['gatehouse.delivery.id'] !== 'x',
  );
  expect(
    roots.map(({ attributes }) => [
      attributes['gatehouse.delivery.id'],
      attributes['gatehouse.delivery.answered'],
      attributes['gatehouse.delivery.answered_count'],
    ]),
  ).toEqual([
    ['d1', undefined, undefined],
    ['d2', ['d3', 'd4'], 2],
  ]);
  await world.end();
});

test('events of one failed read are quarantined together', async () => {
  await using stand = openStand();
  let tries = 0;
  const under = Promise.withResolvers<void>();
  const world = await open(
    stand,
    async event => {
      if (event.deliveryId === 'other') {
        await under.promise;
        return { ...NOTHING, discarded: 'nothing' };
      }
      tries += 1;
      throw new Error('poison');
    },
    { coalesceKey: event => (event.deliveryId === 'other' ? undefined : 'acme/app') },
  );
  for (const id of ['other', 'd1', 'd2', 'd3']) await world.offer(id);
  under.resolve();
  await eventually(async () => (await world.queue.deadLetters()).length === 3, 'they are quarantined');
  expect(tries).toBe(5);
  await world.end();
});

test('a delivery that comes twice is processed once', async () => {
  await using stand = openStand();
  const world = await open(stand, async event => ({ ...NOTHING, events: [trigger(event, 'proposed')] }));
  expect(await world.offer('d1')).toBe('stored');
  await eventually(async () => (await world.tenantQueue.depth()) === 1, 'the first');
  expect(await world.offer('d1')).toBe('duplicate');
  expect(await world.queue.depth()).toBe(0);
  await world.end();
});

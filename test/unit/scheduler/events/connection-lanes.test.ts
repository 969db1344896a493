/** Lanes of a connection, over a made-up host whose answers are given one by one. Its time is counted in answers, not measured. */
import { afterEach, expect, test, vi } from 'vitest';
import type { ProcessedEvent, ProcessedLater } from '../../../../src/driver/source.ts';
import { addMilliseconds } from '../../../../src/lib/clock.ts';
import { createMetrics } from '../../../../src/metrics/registry.ts';
import { driverMemoryCodec } from '../../../../src/model/codec/records.ts';
import type { ConnectionEvent } from '../../../../src/model/event.ts';
import { REMOTE_PAUSES } from '../../../../src/scheduler/remote-fault.ts';
import { asArrived, checkTraces } from '../../../fake/check-traces.ts';
import { eventually, openStand, type Stand } from '../stand.ts';
import { type FakeSource, NOTHING, openConnection, trigger } from './connection-stand.ts';

afterEach(() => void vi.useRealTimers());

interface Question {
  readonly event: ConnectionEvent;
  answer(outcome: ProcessedEvent | ProcessedLater): void;
}

const laneOf = (deliveryId: string) => deliveryId.split('-')[0] ?? '';

/** A host that answers when the test says. Deliveries are called `<lane>-<number>`. */
function askedHost() {
  const open: Question[] = [];
  const source: FakeSource = {
    lane: event => laneOf(event.deliveryId),
    process: event =>
      new Promise(resolve => {
        const question = {
          event,
          answer: (outcome: ProcessedEvent | ProcessedLater) => {
            open.splice(open.indexOf(question), 1);
            resolve(outcome);
          },
        };
        open.push(question);
      }),
  };
  const ids = () => open.map(({ event }) => event.deliveryId);
  return {
    source,
    open,
    ids,
    serve: (id: string) => {
      const question =
        open.find(({ event }) => event.deliveryId === id) ?? expect.unreachable(`${id} is not asked`);
      question.answer({ ...NOTHING, events: [trigger(question.event, id)] });
    },
  };
}

async function openHost(stand: Stand) {
  const host = askedHost();
  const connection = await openConnection(stand);
  const metrics = createMetrics();
  const holder = await connection.hold(host.source, { metrics });
  const handedOn = async () =>
    (await connection.tenantQueue.list()).flatMap(({ value }) =>
      value.kind === 'trigger' ? [value.trigger.type] : [],
    );
  return { ...connection, ...holder, ...host, handedOn, metrics };
}

const LIMITED: ProcessedLater = { later: { reason: 'limited', text: 'HTTP 403: rate limit exceeded' } };

test('a hundred events of twenty repositories take no longer than seven of them one after the other', async () => {
  await using stand = openStand();
  const world = await openHost(stand);
  const names = Array.from({ length: 100 }, (_, index) => `r${index % 20}-${Math.floor(index / 20)}`);
  for (const name of names) await world.offer(name);
  let rounds = 0;
  for (let served: string[] = []; served.length < 100; rounds++) {
    const lanes = new Set(names.filter(name => !served.includes(name)).map(laneOf));
    // Each answer takes the host as long as any other: all that are under way are answered at the same time.
    await eventually(() => world.open.length === Math.min(16, lanes.size), 'the next are asked');
    const asked = world.ids();
    expect(new Set(asked.map(laneOf)).size).toBe(asked.length);
    for (const id of asked) world.serve(id);
    served = [...served, ...asked];
  }
  expect(rounds).toBe(7);
  await eventually(async () => (await world.queue.depth()) === 0, 'the last commit');
  expect((await world.handedOn()).toSorted()).toEqual(names.toSorted());
  await world.end();
});

test('a repository whose host hangs delays no other, and its own events keep their order', async () => {
  await using stand = openStand();
  const world = await openHost(stand);
  for (const id of ['slow-1', 'slow-2', 'other-1', 'other-2']) await world.offer(id);
  for (const id of ['other-1', 'other-2']) {
    await eventually(() => world.ids().includes(id), `${id} is asked`);
    world.serve(id);
  }
  await eventually(async () => (await world.queue.depth()) === 2, 'the other repository is done');
  expect(world.ids()).toEqual(['slow-1']);
  await world.offer('new-1');
  await eventually(() => world.ids().includes('new-1'), 'an idle repository is looked at at once');
  for (const id of ['slow-1', 'slow-2', 'new-1']) {
    await eventually(() => world.ids().includes(id), `${id} is asked`);
    world.serve(id);
  }
  await eventually(async () => (await world.queue.depth()) === 0, 'all are done');
  expect((await world.handedOn()).filter(id => !id.startsWith('new'))).toEqual([
    ...['other-1', 'other-2'],
    ...['slow-1', 'slow-2'],
  ]);
  await world.end();
});

test('a limited repository rests until the time the host named, shows it, and holds up no other', async () => {
  await using stand = openStand();
  const world = await openHost(stand);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  for (const id of ['app-1', 'app-2', 'lib-1']) await world.offer(id);
  await eventually(() => world.open.length === 2, 'both repositories are looked at');
  const notBefore = addMilliseconds(stand.clock.now(), 600_000);
  const asked = stand.clock.now();
  const steps = [{ kind: 'HostQuery', subject: 'pull', startedAt: asked, endedAt: asked }] as const;
  world.open[0]?.answer({ later: { ...LIMITED.later, notBefore }, steps });
  world.serve('lib-1');
  await eventually(async () => (await world.queue.depth()) === 2, 'the other repository is done');
  const { body } = await world.metrics.exposition(undefined);
  expect(body).toContain('gatehouse_connection_lanes_waiting{connection="local",reason="limited"} 1');
  expect(stand.logged).toContain(
    'warn: an event of connection local waits for the code host (limited): HTTP 403: rate limit exceeded',
  );
  stand.clock.advance(590_000);
  await vi.advanceTimersByTimeAsync(590_000);
  expect(world.ids()).toEqual([]);
  stand.clock.advance(11_000);
  await vi.advanceTimersByTimeAsync(11_000);
  for (const id of ['app-1', 'app-2']) {
    await eventually(() => world.ids().includes(id), `${id} is asked`);
    world.serve(id);
  }
  await eventually(async () => (await world.queue.depth()) === 0, 'all are done');
  expect(await world.handedOn()).toEqual(['lib-1', 'app-1', 'app-2']);
  expect((await world.metrics.exposition(undefined)).body).not.toContain('lanes_waiting{');
  expect(stand.logged.filter(line => line.includes('go on'))).toHaveLength(1);
  const spans = await world.spans();
  const wait =
    spans.find(({ name }) => name === 'HostWait limited') ?? expect.unreachable('no wait is drawn');
  expect(wait.attributes).toMatchObject({ 'gatehouse.reason': 'limited', 'gatehouse.attempt_count': 1 });
  expect(spans.find(({ spanId }) => spanId === wait.parent)?.name).toBe('EventProcess');
  expect(Number((BigInt(wait.end ?? 0) - BigInt(wait.start)) / 1_000_000n)).toBeGreaterThanOrEqual(600_000);
  const query =
    spans.find(({ name }) => name === 'HostQuery pull') ??
    expect.unreachable('the first attempt is not drawn');
  expect(query.parent).toBe(wait.parent);
  expect(checkTraces(spans.map(asArrived))).toEqual([]);
  await world.end();
});

test('a storm of events of one lane is answered by its first read and one after it, and delays no other lane', async () => {
  await using stand = openStand();
  const connection = await openConnection(stand);
  const read: string[] = [];
  const source: FakeSource = {
    lane: event => laneOf(event.deliveryId),
    coalesceKey: event => laneOf(event.deliveryId),
    comesInStorms: event => event.deliveryId.startsWith('storm'),
    process: async ({ deliveryId }) => {
      read.push(deliveryId);
      return NOTHING;
    },
  };
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const holder = await connection.hold(source);
  for (let half = 0; half < 10; half++) {
    await connection.offer(`storm-${half}`);
    await connection.offer(`calm-${half}`);
    await eventually(async () => (await connection.queue.depth()) === half, 'the other lane is done');
    await vi.advanceTimersByTimeAsync(500);
  }
  await vi.advanceTimersByTimeAsync(2_000);
  await eventually(async () => (await connection.queue.depth()) === 0, 'the storm is answered');
  expect(read.filter(id => id.startsWith('storm'))).toEqual(['storm-0', 'storm-1']);
  expect(read).toHaveLength(12);
  await vi.advanceTimersByTimeAsync(2_000);
  for (let second = 0; second < 20; second++) {
    await connection.offer(`storm-later-${second}`);
    await vi.advanceTimersByTimeAsync(900);
  }
  await eventually(() => read.length >= 14, 'a storm that does not end is read meanwhile');
  await holder.end();
});

test('repositories that hang at every attempt leave room for those that are served', async () => {
  await using stand = openStand();
  const world = await openHost(stand);
  const ill = Array.from({ length: 16 }, (_, index) => `ill${index}-1`);
  for (const id of ill) await world.offer(id);
  await eventually(() => world.open.length === 16, 'all that fit are asked');
  for (const question of [...world.open]) question.answer(LIMITED);
  await eventually(() => world.open.length === 4, 'some are asked again');
  const well = Array.from({ length: 12 }, (_, index) => `well${index}-1`);
  for (const id of well) await world.offer(id);
  for (const id of well) {
    await eventually(() => world.ids().includes(id), `${id} is asked`);
    world.serve(id);
  }
  await eventually(async () => (await world.queue.depth()) === 16, 'those that are served are done');
  while ((await world.queue.depth()) > 0) {
    for (const id of world.ids()) world.serve(id);
    await new Promise(setImmediate);
  }
  expect((await world.handedOn()).toSorted()).toEqual([...ill, ...well].toSorted());
  await world.end();
});

test('a host that never serves is asked ever more rarely, without end, and the event stays', async () => {
  await using stand = openStand();
  const connection = await openConnection(stand);
  let asked = 0;
  const source: FakeSource = {
    process: async () => {
      asked += 1;
      return LIMITED;
    },
  };
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const holder = await connection.hold(source, { pauses: REMOTE_PAUSES });
  await connection.offer('d1');
  await eventually(() => asked === 1, 'it is asked');
  for (let minute = 0; minute < 20; minute++) {
    stand.clock.advance(60_000);
    await vi.advanceTimersByTimeAsync(60_000);
    await eventually(() => vi.getTimerCount() > 0, 'the next attempt has a time');
  }
  expect(asked).toBeGreaterThan(15);
  expect(asked).toBeLessThan(60);
  expect(await connection.queue.depth()).toBe(1);
  expect(await connection.queue.deadLetters()).toEqual([]);
  expect(stand.logged.filter(line => line.startsWith('warn:'))).toHaveLength(1);
  expect(stand.logged.filter(line => line.startsWith('error:'))).toHaveLength(1);
  await holder.end();
});

test('lanes that write one key of the driver’s memory do not overwrite each other: the slower one looks again', async () => {
  await using stand = openStand();
  const connection = await openConnection(stand);
  const looks: string[] = [];
  let both = Promise.withResolvers<void>();
  const holder = await connection.hold({
    lane: event => event.deliveryId,
    async process(event, { memory }) {
      const before = (await memory.get('count')) ?? 0;
      looks.push(event.deliveryId);
      if (looks.length % 3 === 2) both.resolve();
      await both.promise;
      return {
        ...NOTHING,
        events: [trigger(event, event.deliveryId)],
        memory: [{ key: 'count', value: Number(before) + 1 }],
      };
    },
  });
  const path = stand.paths.connection('local').memoryOf('count');
  // The key is made by the first two, and written anew by the others.
  for (const [pair, count] of [
    [['a', 'b'], 2],
    [['c', 'd'], 4],
  ] as const) {
    both = Promise.withResolvers<void>();
    for (const id of pair) await connection.offer(id);
    await eventually(async () => (await connection.tenantQueue.depth()) === count, 'both are handed on');
    expect(looks).toHaveLength((count * 3) / 2);
    expect(driverMemoryCodec.decode((await stand.store.get(path))?.data ?? new Uint8Array())).toBe(count);
  }
  await holder.end();
});

test('a driver that does not return delays neither the end of the fence nor the next holder', async () => {
  await using stand = openStand();
  const connection = await openConnection(stand);
  const session = stand.connect();
  const host = askedHost();
  const first = await connection.hold(host.source, { session });
  await connection.offer('a-1');
  await eventually(() => host.open.length === 1, 'it is asked');
  await session.close();
  await expect(first.loop).rejects.toThrow();
  const second = await connection.hold(host.source);
  await eventually(() => host.open.length === 2, 'the next holder asks');
  for (const { event, answer } of [...host.open]) answer({ ...NOTHING, events: [trigger(event, 'a-1')] });
  await eventually(async () => (await connection.queue.depth()) === 0, 'it is done');
  expect(await connection.tenantQueue.depth()).toBe(1);
  await second.end();
});

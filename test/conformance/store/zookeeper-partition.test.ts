/**
 * What a network does short of losing single messages: it stands still, comes back, resets everything, lets one direction
 * through. A session that loses contact must know it before another can take over, and none may write with an old epoch.
 */
import { afterEach, describe, expect, test } from 'vitest';
import { acquireLock } from '../../../src/store/lock.ts';
import { create, type Store } from '../../../src/store/port.ts';
import { describeOnZooKeeper } from '../../setup/zookeeper.ts';
import { eventually } from './eventually.ts';
import { type FaultyLink, openFaultyLink } from './faulty-link.ts';
import { type FencedWriter, logProblems, readLog, startFencedWriter } from './fenced-writer.ts';
import { StateLog } from './state-log.ts';

const SESSION_MS = 2000;

describeOnZooKeeper('a partition', () => {
  let link: FaultyLink;
  const open = async (sessionTimeoutMs: number): Promise<FaultyLink> => {
    link = await openFaultyLink({ sessionTimeoutMs });
    return link;
  };
  afterEach(async () => await link[Symbol.asyncDispose]());

  test('that is over before half the session costs nothing but time', async () => {
    const { store, proxy, root } = await open(20_000);
    const log = new StateLog(store);
    const session = store.sessionId;
    await store.multi([create(`${root}/mine`, new Uint8Array(0), { ephemeral: true })]);
    proxy.set({ kind: 'hang' });
    const waiting = store.multi([create(`${root}/x`)]);
    await new Promise(resolve => setTimeout(resolve, 500));
    proxy.set({ kind: 'pass' });
    expect(await waiting).toEqual([{ path: `${root}/x`, version: 0 }]);
    expect(log.states).toEqual([]);
    expect(store.sessionId).toBe(session);
    expect((await store.get(`${root}/mine`))?.stat.ephemeralOwner).toBe(session);
  });

  test('that is over after half the session suspends, and the session goes on', async () => {
    const { store, proxy, root } = await open(4000);
    const log = new StateLog(store);
    const session = store.sessionId;
    const resyncs: string[] = [];
    store.watch(root, event => event.kind === 'resync' && resyncs.push(event.path));
    await store.multi([create(`${root}/mine`, new Uint8Array(0), { ephemeral: true })]);
    proxy.set({ kind: 'hang' });
    await eventually(() => expect(log.states).toContain('suspended'), 5000);
    proxy.set({ kind: 'pass' });
    await eventually(() => expect(log.states).toContain('connected'), 5000);
    expect(log.states).toEqual(['suspended', 'connected']);
    expect(store.sessionId).toBe(session);
    expect(await link.observer.get(`${root}/mine`)).toBeDefined();
    await store.multi([create(`${root}/after`)]);
    // Held back, not lost: whether the connection was cut or went on decides if anything was missed.
    expect(resyncs.length).toBeLessThanOrEqual(1);
  });

  test('that outlasts the session ends it by our own clock, and every call ends', async () => {
    const { store, proxy, root } = await open(SESSION_MS);
    const log = new StateLog(store);
    proxy.set({ kind: 'hang' });
    const start = performance.now();
    const pending = [store.multi([create(`${root}/x`)]), store.get(root), store.sync(), store.children(root)];
    const outcomes = await Promise.allSettled(pending);
    for (const outcome of outcomes)
      expect(outcome).toMatchObject({
        status: 'rejected',
        reason: { code: expect.stringMatching(/ConnectionLoss|SessionExpired/) },
      });
    await eventually(() => expect(log.states.at(-1)).toBe('lost'), 2 * SESSION_MS);
    expect((log.first('lost') ?? 0) - start).toBeLessThan(1.5 * SESSION_MS);
    expect(log.first('suspended')).toBeLessThan(log.first('lost') ?? 0);
    await expect(store.get(root)).rejects.toMatchObject({ code: 'SessionExpired' });
  });

  test('a hundred resets in a row cost no session and no write', async () => {
    const { proxy, root, observer } = await open(20_000);
    await observer.multi([create(`${root}/log`)]);
    const writer = startFencedWriter({ root, connect: () => link.connectBehind('writer') });
    await eventually(() => expect(writer.acknowledged.length).toBeGreaterThan(5));
    for (let round = 0; round < 100; round++) {
      proxy.cut();
      await new Promise(resolve => setTimeout(resolve, 10));
    }
    const before = writer.acknowledged.length;
    await eventually(() => expect(writer.acknowledged.length).toBeGreaterThan(before + 5));
    await writer[Symbol.asyncDispose]();
    expect(writer.sessions).toHaveLength(1);
    expect(logProblems(await readLog(observer, root), [writer])).toEqual([]);
  });

  test('slow links that break now and then: twenty contenders for one lock are served one at a time, in their order', {
    timeout: 90_000,
  }, async () => {
    const { proxy, root, observer, connectBehind } = await open(20_000);
    const stores = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => await connectBehind(`contender${index}`)),
    );
    proxy.set({ kind: 'delay', ms: 20 });
    const served: number[] = [];
    const first = Promise.withResolvers<void>();
    let holders = 0;
    const turns: Promise<void>[] = [];
    for (const [index, store] of stores.entries()) {
      turns.push(serve(index, store));
      await eventually(async () => expect(await observer.children(`${root}/lock`)).toHaveLength(index + 1));
      if (index === 0) await eventually(() => expect(served).toEqual([0]));
    }
    const breaking = setInterval(() => proxy.cut(), 1000);
    first.resolve();
    await Promise.all(turns);
    clearInterval(breaking);
    expect(served).toEqual(stores.map((_, index) => index));
    expect(await observer.children(`${root}/lock`)).toEqual([]);

    async function serve(index: number, store: Store): Promise<void> {
      const lock = await acquireLock(store, { path: `${root}/lock`, guid: `guid${index}` });
      holders += 1;
      expect(holders).toBe(1);
      served.push(index);
      // The first one holds until all have asked.
      if (index === 0) await first.promise;
      holders -= 1;
      await lock.release();
    }
  });

  describe.each(['dropRequests', 'dropReplies', 'hang', 'refuse'] as const)(
    '%s at the holder of a lock',
    kind => {
      test('the holder knows before the successor writes; epochs never mix; the holder comes back', async () => {
        const { proxy, root, observer } = await open(SESSION_MS);
        await observer.multi([create(`${root}/log`)]);
        const holder = startFencedWriter({ root, connect: () => link.connectBehind('holder') });
        await eventually(() => expect(holder.acknowledged.length).toBeGreaterThan(5));
        const successor = startFencedWriter({ root, connect: () => link.connect('successor') });
        try {
          const firstEpoch = holder.epoch;
          const cutAt = performance.now();
          proxy.set({ kind });
          await eventually(() => expect(successor.acknowledged.length).toBeGreaterThan(5), 4 * SESSION_MS);
          const takenAt = firstEffect(successor, successor.epoch);
          expect(successor.epoch).toBeGreaterThan(firstEpoch);
          expect(lastEffect(holder, firstEpoch)).toBeLessThan(takenAt);
          // Self-fenced at half the session: no effect was begun later.
          expect(lastEffect(holder, firstEpoch) - cutAt).toBeLessThan(0.75 * SESSION_MS);
          // As long as requests arrive the server keeps the session: until the holder gives up by itself.
          const heardMs = kind === 'dropReplies' ? SESSION_MS : 0;
          expect(takenAt - cutAt).toBeLessThan(heardMs + SESSION_MS + 2000);
          proxy.set({ kind: 'pass' });
          await successor[Symbol.asyncDispose]();
          await eventually(() => expect(holder.epoch).toBeGreaterThan(successor.epoch), 4 * SESSION_MS);
          await eventually(() => expect(firstEffect(holder, holder.epoch)).toBeGreaterThan(0));
        } finally {
          proxy.set({ kind: 'pass' });
          await successor[Symbol.asyncDispose]();
          await holder[Symbol.asyncDispose]();
        }
        expect(logProblems(await readLog(observer, root), [holder, successor])).toEqual([]);
      });
    },
  );
});

function firstEffect(writer: FencedWriter, epoch: number): number {
  return writer.effects.find(effect => effect.epoch === epoch)?.at ?? Number.NaN;
}

function lastEffect(writer: FencedWriter, epoch: number): number {
  return writer.effects.findLast(effect => effect.epoch === epoch)?.at ?? Number.NaN;
}

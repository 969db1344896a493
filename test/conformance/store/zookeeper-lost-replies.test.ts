/**
 * Requests and replies that the network loses, one by one, for each thing that is built on the port: for every fault, what
 * was asked for happens once, or is known not to have happened, and nothing is left behind.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/lib/clock.ts';
import { randomIds } from '../../../src/lib/ids.ts';
import { isConnectionLoss } from '../../../src/store/connection.ts';
import { EventQueue } from '../../../src/store/event-queue.ts';
import { acquireFence, type Fence } from '../../../src/store/fence.ts';
import { create, remove, type Store, set } from '../../../src/store/port.ts';
import { RequestQueue } from '../../../src/store/request-queue.ts';
import { createRequestWorker } from '../../../src/store/request-worker.ts';
import type { FaultProxy } from '../../fake/fault-proxy.ts';
import { describeOnZooKeeper } from '../../setup/zookeeper.ts';
import { textCodec } from '../../unit/store/test-bench.ts';
import { type FaultyLink, openFaultyLink } from './faulty-link.ts';

const ids = randomIds();
const clock = systemClock();
const NOTHING = new Uint8Array(0);

interface Job {
  readonly uuid: string;
  readonly priority: number;
}
const jobCodec = {
  encode: (job: Job) => new TextEncoder().encode(JSON.stringify(job)),
  decode: (bytes: Uint8Array): Job => JSON.parse(new TextDecoder().decode(bytes)),
};

describeOnZooKeeper('a lost request or reply', () => {
  let link: FaultyLink;
  const at = (path: string): string => link.root + path;
  const version = async (path: string) => {
    await link.observer.sync();
    return (await link.observer.get(at(path)))?.stat.version;
  };
  const names = async (path: string): Promise<readonly string[]> => {
    await link.observer.sync();
    return (await link.observer.children(at(path))) ?? [];
  };

  beforeEach(async () => {
    // Long: none of these faults may cost the session.
    link = await openFaultyLink({ sessionTimeoutMs: 30_000 });
  });
  afterEach(async () => {
    const { sessionState } = link.store;
    await link[Symbol.asyncDispose]();
    expect(sessionState).not.toBe('lost');
  });

  describe('of a bare multi', () => {
    beforeEach(async () => {
      await link.observer.multi([create(at('/old'))]);
    });

    const cases = [
      ['create', () => [create(at('/new'))], async () => (await version('/new')) === 0],
      ['set', () => [set(at('/old'), Buffer.from('x'), 0)], async () => (await version('/old')) === 1],
      ['delete', () => [remove(at('/old'), 0)], async () => (await version('/old')) === undefined],
      [
        'several operations',
        () => [create(at('/new')), set(at('/old'), NOTHING, 0), create(at('/new/x'))],
        async () => (await version('/new/x')) === 0,
      ],
    ] as const;

    test.each(cases)(
      '%s: a lost reply leaves the outcome open, and it was applied',
      async (_, operations, applied) => {
        const call = link.losingReply(() => link.store.multi(operations()), applied);
        await expect(call).rejects.toMatchObject({ code: 'ConnectionLoss' });
        expect(await applied()).toBe(true);
      },
    );

    test.each(cases)(
      '%s: a lost request leaves the outcome open, and it was not',
      async (_, operations, applied) => {
        const call = link.losingRequest(() => link.store.multi(operations()));
        await expect(call).rejects.toMatchObject({ code: 'ConnectionLoss' });
        expect(await applied()).toBe(false);
      },
    );
  });

  describe('of a fence', () => {
    const acquire = (store: Store) =>
      acquireFence(store, {
        lockPath: at('/lock'),
        epochPath: at('/epoch'),
        lastOperationPath: at('/last'),
        guid: ids.uuid(),
      });
    /** The parents are there, so that the next thing written is the contender. */
    const prepared = async () => await (await acquire(link.observer)).release();

    test('a contender in doubt is found again, and is the only one', async () => {
      await prepared();
      const fence = await link.losingReply(
        () => acquire(link.store),
        async () => (await names('/lock')).length === 1,
        '-lock-',
      );
      expect(await names('/lock')).toHaveLength(1);
      expect(await fence.commit([], ids.uuid())).toMatchObject({ kind: 'committed' });
      await fence.release();
      expect(await names('/lock')).toEqual([]);
    });

    test('a contender that never arrived is made once', async () => {
      await prepared();
      const fence = await link.losingRequest(() => acquire(link.store));
      expect(await names('/lock')).toHaveLength(1);
      await fence.release();
      expect(await names('/lock')).toEqual([]);
    });

    test('a release in doubt leaves no contender', async () => {
      const first = await acquire(link.store);
      await link.losingReply(
        () => first.release(),
        async () => (await names('/lock')).length === 0,
      );
      const second = await acquire(link.store);
      await link.losingRequest(() => second.release());
      expect(await names('/lock')).toEqual([]);
    });

    test('a commit in doubt that was applied is known to be', async () => {
      const fence = await acquire(link.store);
      await fence.commit([create(at('/state'))], ids.uuid());
      const committed = await link.losingReply(
        () => fence.commit([set(at('/state'), Buffer.from('1'), 0)], ids.uuid()),
        async () => (await version('/state')) === 1,
      );
      expect(committed.kind).toBe('committed-unseen');
      expect(fence.held).toBe(true);
      expect(await fence.commit([set(at('/state'), Buffer.from('2'), 1)], ids.uuid())).toMatchObject({
        kind: 'committed',
      });
    });

    test('a commit that never arrived is sent again', async () => {
      const fence = await acquire(link.store);
      const committed = await link.losingRequest(() => fence.commit([create(at('/state'))], ids.uuid()));
      expect(committed.kind).toBe('committed');
      expect(await version('/state')).toBe(0);
    });

    test('commits in a storm of cuts, holes and half frames are there once each, in order', async () => {
      await link.observer.multi([create(at('/log'))]);
      const fence = await acquire(link.store);
      const wanted: string[] = [];
      const storm = rage(link.proxy);
      // Each kind of fault four times, however quick the machine.
      while (wanted.length < 100 || storm.faults < 24) {
        const id = ids.uuid();
        try {
          await fence.commit([create(`${at('/log')}/`, Buffer.from(id), { sequential: true })], id);
          wanted.push(id);
        } catch (error) {
          // Sent as often as the fence does, and known not to be there.
          if (!isConnectionLoss(error)) throw error;
        }
      }
      await storm.end();
      expect(await logged(link, fence)).toEqual(wanted);
    });

    async function logged({ observer }: FaultyLink, fence: Fence): Promise<readonly string[]> {
      expect(fence.lost.aborted).toBe(false);
      const paths = (await names('/log')).map(name => `${at('/log')}/${name}`);
      return (await observer.getMany(paths)).map(node => Buffer.from(node?.data ?? []).toString());
    }
  });

  describe('of an event queue', () => {
    let queue: EventQueue<string>;
    beforeEach(async () => {
      queue = new EventQueue({
        store: link.store,
        path: at('/events'),
        seenPath: at('/seen'),
        codec: textCodec,
        clock,
      });
      await queue.prepare();
    });

    test('an offer in doubt is stored once, and known again', async () => {
      const stored = link.losingReply(
        () => queue.offer('push', 'delivery-1'),
        async () => (await names('/events')).length === 1,
      );
      expect(await stored).toBe('stored');
      expect(await link.losingRequest(() => queue.offer('push', 'delivery-2'))).toBe('stored');
      expect(await queue.offer('push', 'delivery-1')).toBe('duplicate');
      expect(await queue.offer('push', 'delivery-2')).toBe('duplicate');
      expect(await names('/events')).toHaveLength(2);
    });
  });

  describe('of a request', () => {
    let queue: RequestQueue<Job>;
    const job: Job = { uuid: 'job1', priority: 200 };
    beforeEach(async () => {
      queue = new RequestQueue({ store: link.store, path: at('/requests'), codec: jobCodec });
      await queue.prepare();
    });
    const claim = () => createRequestWorker(queue, { worker: 'w', clock }).next(AbortSignal.timeout(10_000));
    const submitted = async () => (await names('/requests/queue')).length === 1;
    const claimed = async () => (await names('/requests/claimed')).length === 1;

    test('submitting in doubt submits once', async () => {
      await link.losingReply(() => queue.submitNow(job), submitted);
      expect(await names('/requests/queue')).toHaveLength(1);
      const other = { ...job, uuid: 'job2' };
      await link.losingRequest(() => queue.submitNow(other));
      expect(await names('/requests/queue')).toHaveLength(2);
    });

    test('a claim in doubt is ours, and reported and completed once', async () => {
      await queue.submitNow(job);
      const mine = await link.losingReply(claim, claimed, '/claimed/job1');
      expect(mine.request.uuid).toBe('job1');
      const started = async () => (await version('/started')) === 0;
      expect(await link.losingReply(() => mine.report([create(at('/started'))], ids.uuid()), started)).toBe(
        'done',
      );
      const done = async () => (await version('/done')) === 0;
      expect(await link.losingReply(() => mine.complete([create(at('/done'))]), done)).toBe('done');
      expect(mine.lost.aborted).toBe(false);
      expect([...(await names('/requests/queue')), ...(await names('/requests/claimed'))]).toEqual([]);
    });

    test('a claim, report and result that never arrived arrive when sent again', async () => {
      await queue.submitNow(job);
      const mine = await link.losingRequest(claim);
      expect(await link.losingRequest(() => mine.report([create(at('/started'))], ids.uuid()))).toBe('done');
      expect(await link.losingRequest(() => mine.complete([create(at('/done'))]))).toBe('done');
      expect([await version('/started'), await version('/done')]).toEqual([0, 0]);
      expect([...(await names('/requests/queue')), ...(await names('/requests/claimed'))]).toEqual([]);
    });
  });
});

/** One fault after the other, each a little after the end of the last one. */
function rage(proxy: FaultProxy): { readonly faults: number; end(): Promise<void> } {
  const faults = [
    () => proxy.cut(),
    () => proxy.set({ kind: 'dropReplies' }),
    () => proxy.setToClient({ kind: 'limitBytes', bytes: 30 }),
    () => proxy.set({ kind: 'dropRequests' }),
    () => proxy.setToServer({ kind: 'limitBytes', bytes: 50 }),
    () => proxy.set({ kind: 'refuse' }),
  ];
  let count = 0;
  let over = false;
  const running = run();
  return {
    get faults() {
      return count;
    },
    async end() {
      over = true;
      await running;
    },
  };

  async function run(): Promise<void> {
    while (!over) {
      faults[count % faults.length]?.();
      count += 1;
      await breath(15);
      proxy.set({ kind: 'pass' });
      await breath(60);
    }
  }
}

async function breath(ms: number): Promise<void> {
  await new Promise<void>(resolve => setTimeout(resolve, ms));
}

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type EmbeddedStore, openEmbeddedStore } from '../../../src/store/embedded/server.ts';
import { acquireFence, type Fence, Fenced } from '../../../src/store/fence.ts';
import { check, create, MAX_MULTI_BYTES, remove, type Store, set } from '../../../src/store/port.ts';
import { eventually } from '../../conformance/store/eventually.ts';
import { FaultyStore } from './faulty-store.ts';

const LOCK = '/gate/lock';
const EPOCH = '/gate/epoch';
const LAST = '/gate/lastOp';
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

let server: EmbeddedStore;
let a: FaultyStore;
let b: FaultyStore;
let observer: Store;
let lastGuid = 0;

beforeEach(() => {
  server = openEmbeddedStore({ file: ':memory:' });
  a = new FaultyStore(server.connect());
  b = new FaultyStore(server.connect());
  observer = server.connect();
});
afterEach(async () => {
  await server.close();
});

const acquire = (store: Store, signal?: AbortSignal): Promise<Fence> =>
  acquireFence(store, {
    lockPath: LOCK,
    epochPath: EPOCH,
    lastOperationPath: LAST,
    guid: `guid${++lastGuid}`,
    signal,
  });

const contenders = async (count: number): Promise<void> => {
  await eventually(async () => expect(await observer.children(LOCK)).toHaveLength(count));
};

describe('acquiring a fence', () => {
  test('makes what is missing and names its contender by guid and session', async () => {
    const fence = await acquire(a);
    expect(fence.held).toBe(true);
    expect(await observer.children(LOCK)).toEqual([
      expect.stringMatching(`^guid${lastGuid}-${a.sessionId}-lock-\\d{10}$`),
    ]);
  });

  test('raises the epoch each time', async () => {
    const first = await acquire(a);
    await first.release();
    const second = await acquire(b);
    expect(second.epoch).toBeGreaterThan(first.epoch);
  });

  test('a second contender waits until the first releases', async () => {
    const first = await acquire(a);
    const waiting = acquire(b);
    await contenders(2);
    await first.release();
    const second = await waiting;
    expect(first.held).toBe(false);
    expect(second.held).toBe(true);
  });

  test('a second contender takes over when the session of the first expires', async () => {
    const first = await acquire(a);
    const waiting = acquire(b);
    await contenders(2);
    await server.expire(a.sessionId);
    expect((await waiting).held).toBe(true);
    expect(first.held).toBe(false);
    expect(first.lost.aborted).toBe(true);
  });

  test('contenders are served in the order they came, and a release wakes only the next one', async () => {
    const stores = Array.from({ length: 5 }, () => new FaultyStore(server.connect()));
    const order: number[] = [];
    const first = await acquire(a);
    const turns: Promise<void>[] = [];
    for (const [index, store] of stores.entries()) {
      turns.push(
        acquire(store).then(async fence => {
          order.push(index);
          if (index > 0) await fence.release();
          else held = fence;
        }),
      );
      await contenders(index + 2);
    }
    let held: Fence | undefined;
    await eventually(() => expect(stores.map(store => store.calls.children)).toEqual([1, 1, 1, 1, 1]));
    await observer.sync();
    const before = stores.map(store => store.calls.children);
    await first.release();
    await eventually(() => expect(held).toBeDefined());
    const woken = stores.map((store, index) => store.calls.children - (before[index] ?? 0));
    expect(woken).toEqual([1, 0, 0, 0, 0]);
    await held?.release();
    await Promise.all(turns);
    expect(order).toEqual([0, 1, 2, 3, 4]);
  });

  test('a contender in the middle that gives up leaves the others in order', async () => {
    const first = await acquire(a);
    const impatient = new AbortController();
    const givenUp = expect(acquire(b, impatient.signal)).rejects.toThrow('no patience');
    await contenders(2);
    const third = acquire(new FaultyStore(server.connect()));
    await contenders(3);
    impatient.abort(new Error('no patience'));
    await givenUp;
    expect(await observer.children(LOCK)).toHaveLength(2);
    await first.release();
    expect((await third).held).toBe(true);
  });

  test('a contender whose session ends while it waits gets an error', async () => {
    await acquire(a);
    const waiting = expect(acquire(b)).rejects.toMatchObject({ code: 'SessionExpired' });
    await contenders(2);
    await server.expire(b.sessionId);
    await waiting;
  });

  test.each(['lose-request', 'lose-reply'] as const)(
    'with every reply in doubt (%s) it has one contender and one epoch',
    async fault => {
      await (await acquire(a)).release();
      const epochBefore = (await observer.get(EPOCH))?.stat.version ?? -1;
      b.faults.push(fault, fault); // creating the contender, raising the epoch
      const fence = await acquire(b);
      expect(await observer.children(LOCK)).toHaveLength(1);
      expect(fence.epoch).toBe(epochBefore + 1);
      expect(await fence.commit([create('/gate/x')], 'op')).toMatchObject({ kind: 'committed' });
    },
  );

  test('a contender of the same guid but another session is not adopted', async () => {
    const request = { lockPath: LOCK, epochPath: EPOCH, lastOperationPath: LAST, guid: 'same' };
    await acquireFence(a, request);
    b.faults.push('lose-request');
    const waiting = acquireFence(b, request);
    await contenders(2);
    await server.expire(a.sessionId);
    expect((await waiting).held).toBe(true);
  });

  test('a contender that is out of contact while the lock becomes free finds out when it is back', async () => {
    const first = await acquire(a);
    const waiting = acquire(b);
    await contenders(2);
    b.suspend();
    await first.release();
    b.resume();
    expect((await waiting).held).toBe(true);
  });
});

describe('committing through a fence', () => {
  let fence: Fence;
  beforeEach(async () => {
    fence = await acquire(a);
  });

  test('applies the operations and returns the results of just these', async () => {
    const done = await fence.commit([create('/gate/x', bytes('1')), set('/gate/x', bytes('2'))], 'op1');
    expect(done).toEqual({
      kind: 'committed',
      results: [
        { path: '/gate/x', version: 0 },
        { path: '/gate/x', version: 1 },
      ],
    });
    expect(Buffer.from((await observer.get(LAST))?.data ?? []).toString()).toBe('op1');
  });

  test('a commit of nothing asks whether we are still in charge', async () => {
    expect(await fence.commit([], 'op')).toEqual({ kind: 'committed', results: [] });
    await server.expire(a.sessionId);
    await expect(fence.commit([], 'op2')).rejects.toThrow(Fenced);
  });

  test('a failing operation is the caller’s, by the caller’s count; the fence holds on', async () => {
    const failing = fence.commit([create('/gate/x'), check('/gate/none')], 'op1');
    await expect(failing).rejects.toMatchObject({ code: 'NoNode', path: '/gate/none', failedOperation: 1 });
    expect(await observer.get('/gate/x')).toBeUndefined();
    expect(fence.held).toBe(true);
    expect((await fence.commit([create('/gate/x')], 'op2')).kind).toBe('committed');
  });

  test('too large a commit is the caller’s mistake', async () => {
    const huge = fence.commit([create('/gate/x', new Uint8Array(MAX_MULTI_BYTES))], 'op1');
    await expect(huge).rejects.toMatchObject({ code: 'TooLarge', failedOperation: 0 });
    expect(fence.held).toBe(true);
  });

  test('a lost request is sent again, a lost reply is not: each applies once', async () => {
    await fence.commit([create('/gate/n')], 'op0');
    a.faults.push('lose-request');
    expect((await fence.commit([set('/gate/n', bytes('1'))], 'op1')).kind).toBe('committed');
    a.faults.push('lose-reply');
    expect(await fence.commit([set('/gate/n', bytes('2'))], 'op2')).toEqual({ kind: 'committed-unseen' });
    a.faults.push('lose-request', 'lose-request', 'lose-reply');
    expect((await fence.commit([set('/gate/n', bytes('3'))], 'op3')).kind).toBe('committed-unseen');
    expect((await observer.get('/gate/n'))?.stat.version).toBe(3);
  });

  test('requests lost again and again end in an error that says so, not applied', async () => {
    a.faults.push(...Array.from({ length: 5 }, () => 'lose-request' as const));
    await expect(fence.commit([create('/gate/x')], 'op')).rejects.toMatchObject({ code: 'ConnectionLoss' });
    expect(await observer.get('/gate/x')).toBeUndefined();
    expect(fence.held).toBe(true);
  });

  test('commits asked for together run in order, also when replies get lost', async () => {
    a.faults.push('lose-reply', undefined, 'lose-request', 'lose-reply');
    const kinds = await Promise.all([
      fence.commit([create('/gate/s')], 'op1'),
      fence.commit([set('/gate/s', bytes('2'), 0)], 'op2'),
      fence.commit([set('/gate/s', bytes('3'), 1)], 'op3'),
    ]);
    expect(kinds.map(({ kind }) => kind)).toEqual(['committed-unseen', 'committed', 'committed-unseen']);
    expect((await observer.get('/gate/s'))?.stat.version).toBe(2);
  });

  test('a commit in doubt waits for the connection and then knows', async () => {
    a.faults.push('lose-reply');
    a.beforeMulti = () => a.suspend();
    const inDoubt = fence.commit([create('/gate/x')], 'op1');
    await eventually(async () => expect(await observer.get('/gate/x')).toBeDefined());
    expect(fence.held).toBe(false);
    a.beforeMulti = () => {};
    a.resume();
    expect((await inDoubt).kind).toBe('committed-unseen');
    expect(fence.held).toBe(true);
  });

  test('a commit in doubt when the session ends is fenced with unknown outcome', async () => {
    a.faults.push('lose-reply');
    a.beforeMulti = () => a.suspend();
    const inDoubt = expect(fence.commit([create('/gate/x')], 'op1')).rejects.toMatchObject({
      name: 'Fenced',
      outcome: 'unknown',
    });
    await eventually(async () => expect(await observer.get('/gate/x')).toBeDefined());
    a.giveUp();
    await inDoubt;
    expect(fence.lost.aborted).toBe(true);
    await expect(fence.commit([], 'op2')).rejects.toMatchObject({ outcome: 'not-applied' });
  });

  test('without a place for the last operation a lost reply is the caller’s to resolve', async () => {
    const bare = await acquireFence(b, { lockPath: '/bare/lock', epochPath: '/bare/epoch', guid: 'bare' });
    b.faults.push('lose-reply');
    await expect(bare.commit([create('/bare/x')], 'op')).rejects.toMatchObject({ code: 'ConnectionLoss' });
    expect(await observer.get('/bare/x')).toBeDefined();
  });
});

describe('a holder that lost its lock', () => {
  test('whose session expired unnoticed cannot write, once or ever', async () => {
    const stale = await acquire(a);
    // The client does not know: the store behind says so only when asked.
    await server.expire(a.sessionId);
    const successor = await acquire(b);
    await expect(stale.commit([create('/gate/x')], 'op')).rejects.toThrow(Fenced);
    const calls = a.calls.multi;
    await expect(stale.commit([create('/gate/x')], 'op')).rejects.toThrow(Fenced);
    expect(a.calls.multi).toBe(calls);
    expect(await observer.get('/gate/x')).toBeUndefined();
    expect(successor.held).toBe(true);
  });

  test('whose lock node was removed cannot write though its session lives', async () => {
    const stale = await acquire(a);
    const [node] = (await observer.children(LOCK)) ?? [];
    await observer.multi([remove(`${LOCK}/${node}`)]);
    await expect(stale.commit([create('/gate/x')], 'op')).rejects.toMatchObject({
      name: 'Fenced',
      outcome: 'not-applied',
    });
    expect(stale.held).toBe(false);
    expect(stale.lost.aborted).toBe(true);
  });

  test('cannot write when only the epoch has changed', async () => {
    const stale = await acquire(a);
    await observer.multi([set(EPOCH, bytes('another process'))]);
    await expect(stale.commit([create('/gate/x')], 'op')).rejects.toThrow(Fenced);
  });

  test('does not claim that a write in doubt failed when a successor wrote over the evidence', async () => {
    const stale = await acquire(a);
    const [node] = (await observer.children(LOCK)) ?? [];
    a.faults.push('lose-reply');
    a.afterMulti = async () => {
      await observer.multi([remove(`${LOCK}/${node}`), set(LAST, bytes('theirs'))]);
    };
    await expect(stale.commit([create('/gate/x')], 'op')).rejects.toMatchObject({
      name: 'Fenced',
      outcome: 'unknown',
    });
    expect(await observer.get('/gate/x')).toBeDefined();
  });

  test('believes nothing while out of contact and believes again when back in time', async () => {
    const fence = await acquire(a);
    a.suspend();
    expect(fence.held).toBe(false);
    expect(fence.lost.aborted).toBe(false);
    a.resume();
    expect(fence.held).toBe(true);
  });

  test('two contenders that write for a while through losses never overlap', async () => {
    await observer.multi([create('/log')]);
    const writer = async (store: FaultyStore, name: string): Promise<void> => {
      for (let round = 0; round < 10; round++) {
        const fence = await acquire(store);
        for (let n = 0; n < 3; n++) {
          store.faults.push(
            (round + n) % 3 === 0 ? 'lose-reply' : (round + n) % 3 === 1 ? 'lose-request' : undefined,
          );
          const entry = bytes(`${fence.epoch} ${name} ${n}`);
          await fence.commit([create('/log/', entry, { sequential: true })], `${name}-${round}-${n}`);
        }
        await fence.release();
      }
    };
    await Promise.all([writer(a, 'a'), writer(b, 'b')]);
    const names = (await observer.children('/log')) ?? [];
    const nodes = await observer.getMany(names.map(name => `/log/${name}`));
    const lines = nodes.map(node => Buffer.from(node?.data ?? []).toString());
    expect(lines).toHaveLength(60);
    const epochs = lines.map(line => Number(line.split(' ')[0]));
    expect(epochs).toEqual(epochs.toSorted((x, y) => x - y));
    expect(new Set(lines).size).toBe(60);
  });
});

describe('releasing a fence', () => {
  test('waits for the commit under way, can be done twice, and frees the lock', async () => {
    const fence = await acquire(a);
    const commit = fence.commit([create('/gate/x')], 'op');
    await Promise.all([fence.release(), fence.release()]);
    expect((await commit).kind).toBe('committed');
    expect(await observer.children(LOCK)).toEqual([]);
    await expect(fence.commit([], 'op2')).rejects.toThrow(Fenced);
  });

  test.each(['lose-request', 'lose-reply'] as const)(
    'frees the lock although replies get lost (%s)',
    async fault => {
      const fence = await acquire(a);
      a.faults.push(fault);
      await fence.release();
      expect(await observer.children(LOCK)).toEqual([]);
    },
  );

  test('is quiet when the session is over', async () => {
    const fence = await acquire(a);
    await server.expire(a.sessionId);
    await fence.release();
    const closed = await acquire(b);
    await b.close();
    await closed.release();
  });
});

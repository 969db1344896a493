import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  abandonedRequests,
  createBodySweeper,
  discarded,
  requeued,
  staleMarks,
} from '../../../src/store/abandoned-requests.ts';
import { type EmbeddedStore, openEmbeddedStore } from '../../../src/store/embedded/server.ts';
import { type BytesCodec, EventQueue } from '../../../src/store/event-queue.ts';
import { create, type Operation, remove, type Store } from '../../../src/store/port.ts';
import type { Claim } from '../../../src/store/request-claim.ts';
import { RequestQueue } from '../../../src/store/request-queue.ts';
import { claimRequest, createRequestWorker } from '../../../src/store/request-worker.ts';
import { operationBytes } from '../../../src/store/size.ts';
import { eventually } from '../../conformance/store/eventually.ts';
import { FaultyStore } from './faulty-store.ts';
import { manualClock, textCodec } from './test-bench.ts';

interface Job {
  readonly uuid: string;
  readonly priority: number;
  readonly label: string;
}

const codec: BytesCodec<Job> = {
  encode: job => new TextEncoder().encode(JSON.stringify(job)),
  decode: bytes => {
    const job = JSON.parse(new TextDecoder().decode(bytes));
    if (job.label === 'from the future') throw new Error('unknown version');
    return job;
  },
};
const clock = manualClock();

let server: EmbeddedStore;
let scheduler: FaultyStore;
let asking: RequestQueue<Job>;
let stop: AbortController;

beforeEach(async () => {
  server = openEmbeddedStore({ file: ':memory:' });
  scheduler = new FaultyStore(server.connect());
  asking = queueOver(scheduler);
  await asking.prepare();
  stop = new AbortController();
});
afterEach(async () => {
  stop.abort();
  await server.close();
});

const queueOver = (store: Store): RequestQueue<Job> =>
  new RequestQueue({ store, path: '/requests/build/default', codec });

const job = (uuid: string, priority = 200, label = 'any'): Job => ({ uuid, priority, label });
const submit = async (...jobs: Job[]): Promise<void> => {
  await scheduler.multi(jobs.flatMap(each => asking.submit(each)));
};
const uuids = async (): Promise<string[]> => (await asking.list()).map(request => request.uuid);

/** A worker with a session of its own. */
function hire(name = 'executor') {
  const store = new FaultyStore(server.connect());
  const queue = queueOver(store);
  const next = (accepts?: (request: Job) => boolean): Promise<Claim<Job>> =>
    createRequestWorker(queue, { worker: name, clock, ...(accepts === undefined ? {} : { accepts }) }).next(
      stop.signal,
    );
  return { store, queue, next };
}

describe('a request queue', () => {
  test('serves by priority, then in the order asked', async () => {
    await submit(job('n1'), job('low', 300), job('n2'));
    await submit(job('high', 100), job('n3'));
    expect(await uuids()).toEqual(['high', 'n1', 'n2', 'n3', 'low']);
    const worker = hire();
    const served: string[] = [];
    for (let i = 0; i < 5; i++) served.push((await worker.next()).request.value.uuid);
    expect(served).toEqual(['high', 'n1', 'n2', 'n3', 'low']);
  });

  test('refuses a priority that does not fit in its order', () => {
    for (const priority of [-1, 1000, 1.5, Number.NaN])
      expect(() => asking.submit(job('x', priority))).toThrow(RangeError);
  });

  test.each(['lose-request', 'lose-reply'] as const)(
    'submits once although the answer is in doubt (%s)',
    async fault => {
      scheduler.faults.push(fault, fault);
      await asking.submitNow(job('x'));
      expect(await uuids()).toEqual(['x']);
    },
  );

  test('shows a taken request with its worker and time', async () => {
    await submit(job('x'));
    await hire('executor1').next();
    expect((await asking.list())[0]).toMatchObject({
      state: { kind: 'taken', worker: 'executor1', at: clock.now() },
      attempt: 1,
      value: job('x'),
    });
  });
});

describe('what a request asks for', () => {
  const large = job('x', 200, 'x'.repeat(100_000));
  const bodies = () => scheduler.children('/requests/build/default/bodies');
  const recorded = (store: Store) => {
    const written: Operation[] = [];
    const multi = store.multi.bind(store);
    store.multi = operations => {
      written.push(...operations);
      return multi(operations);
    };
    return { bytes: () => written.reduce((sum, operation) => sum + operationBytes(operation), 0) };
  };

  test('is written once: taking, moving, putting back and completing a request write its state alone', async () => {
    await submit(large);
    const worker = hire();
    const byWorker = recorded(worker.store);
    const byScheduler = recorded(scheduler);
    for (const move of await asking.reprioritize(new Map([['x', 150]]))) await scheduler.multi(move);
    expect((await worker.next()).request.value).toEqual(large);
    await server.expire(worker.store.sessionId);
    const [abandoned] = await abandonedRequests(asking);
    if (abandoned?.kind !== 'lost-worker') throw new Error('expected a lost worker');
    await scheduler.multi(requeued(asking, abandoned.request));
    const other = hire();
    const byOther = recorded(other.store);
    const claim = await other.next();
    expect(claim.request).toMatchObject({ attempt: 2, value: large });
    expect(await claim.complete()).toBe('done');
    expect(byScheduler.bytes() + byWorker.bytes() + byOther.bytes()).toBeLessThan(3000);
    expect(await bodies()).toEqual([]);
  });

  test('goes with a request that is withdrawn or given up, and comes again with one that is queued again', async () => {
    await submit(job('x'), job('y'), job('z', 300));
    await scheduler.multi(await asking.withdraw('x'));
    expect(await bodies()).toEqual(['y', 'z']);
    const worker = hire();
    const claim = await worker.next();
    expect(await claim.complete(worker.queue.resubmit(claim.request, 2))).toBe('done');
    expect((await asking.list()).map(({ uuid, attempt }) => [uuid, attempt])).toEqual([
      ['y', 2],
      ['z', 1],
    ]);
    await worker.next();
    await server.expire(worker.store.sessionId);
    const [abandoned] = await abandonedRequests(asking);
    await scheduler.multi(discarded(asking, abandoned!));
    expect(await bodies()).toEqual(['z']);
  });

  test('is not there: the request is broken and can be given up or withdrawn', async () => {
    await submit(job('x'), job('y'));
    await scheduler.multi([remove(asking.bodyPath('x')), remove(asking.bodyPath('y'))]);
    const [abandoned] = await abandonedRequests(asking);
    expect(abandoned).toMatchObject({ kind: 'unreadable', request: { uuid: 'x' } });
    await scheduler.multi(discarded(asking, abandoned!));
    await scheduler.multi(await asking.withdraw('y'));
    expect(await asking.everything()).toEqual([]);
  });

  test('vanishes under a worker, who completes the request all the same', async () => {
    await submit(job('x'));
    const claim = await hire().next();
    await scheduler.multi([remove(asking.bodyPath('x'))]);
    expect(await claim.complete([create('/result')])).toBe('done');
    expect(await scheduler.get('/result')).toBeDefined();
    expect(await asking.everything()).toEqual([]);
  });

  test('is swept when it was without a request twice, never beside one', async () => {
    await submit(job('x'), job('held'));
    await scheduler.multi([create(asking.bodyPath('early')), create(asking.bodyPath('orphan'))]);
    const sweeper = createBodySweeper(asking);
    expect(await sweeper.stale()).toEqual([]);
    await submit(job('late'));
    await scheduler.multi([
      create('/requests/build/default/queue/200-early-', undefined, { sequential: true }),
    ]);
    const stale = await sweeper.stale();
    expect(stale.map(({ path }) => path)).toEqual(['/requests/build/default/bodies/orphan']);
    await scheduler.multi(stale);
    expect(await sweeper.stale()).toEqual([]);
  });
});

describe('taking requests', () => {
  test('a waiting worker is woken by a new request', async () => {
    const waiting = hire().next();
    await scheduler.sync();
    await submit(job('x'));
    expect((await waiting).request.uuid).toBe('x');
  });

  test('of many workers exactly one gets a request, and all requests are served once', async () => {
    const workers = Array.from({ length: 5 }, (_, index) => hire(`executor${index}`));
    const served: string[] = [];
    const loops = workers.map(async worker => {
      for (;;) {
        const claim = await worker.next();
        served.push(claim.request.uuid);
        expect(await claim.complete()).toBe('done');
      }
    });
    for (let round = 0; round < 10; round++)
      await submit(...Array.from({ length: 5 }, (_, n) => job(`${round}-${n}`)));
    await eventually(() => expect(served).toHaveLength(50));
    expect(new Set(served).size).toBe(50);
    expect(await uuids()).toEqual([]);
    stop.abort();
    const ends = await Promise.allSettled(loops);
    expect(ends.every(end => end.status === 'rejected' && end.reason === stop.signal.reason)).toBe(true);
  });

  test('a worker does not read again what it has declined', async () => {
    await submit(...Array.from({ length: 20 }, (_, index) => job(`gpu${index}`, 200, 'gpu')));
    const { store, queue } = hire();
    const asked: string[] = [];
    const worker = createRequestWorker(queue, {
      worker: 'cpu',
      clock,
      accepts: ({ uuid, label }) => {
        asked.push(uuid);
        return label !== 'gpu';
      },
    });
    const first = worker.next(stop.signal);
    await vi.waitUntil(() => asked.length === 20, { timeout: 10_000 });
    const read = store.calls.get;
    await submit(job('cpu1'));
    expect((await first).request.value.uuid).toBe('cpu1');
    // The new one and its body, and the read of the own claim.
    expect(store.calls.get - read).toBeLessThanOrEqual(4);
    expect(asked).toHaveLength(21);
  });

  test('a worker takes only what it accepts', async () => {
    await submit(...Array.from({ length: 20 }, (_, n) => job(`arm${n}`, 100, 'arm')), job('x', 300, 'x86'));
    expect((await hire().next(request => request.label === 'x86')).request.uuid).toBe('x');
  });

  test('an unreadable request is stepped over', async () => {
    await submit(job('future', 100, 'from the future'), job('x'));
    expect((await hire().next()).request.uuid).toBe('x');
  });

  test.each(['lose-request', 'lose-reply'] as const)(
    'a claim in doubt (%s) is settled by looking',
    async fault => {
      await submit(job('x'));
      const worker = hire();
      worker.store.faults.push(fault);
      const claim = await worker.next();
      expect(claim.request.uuid).toBe('x');
      expect(await scheduler.children('/requests/build/default/claimed')).toEqual(['x']);
      expect(await claim.complete()).toBe('done');
    },
  );

  test('a claim that another worker made while ours was lost is not ours', async () => {
    await submit(job('x'));
    const [first, second] = [hire(), hire()];
    const [request] = await first.queue.list();
    first.store.faults.push('lose-request');
    const [a, b] = await Promise.all([
      claimRequest(first.queue, request!, { worker: 'of the same name', clock }),
      claimRequest(second.queue, request!, { worker: 'of the same name', clock }),
    ]);
    expect(a).toBeUndefined();
    expect(b?.request.uuid).toBe('x');
  });

  test('a worker whose session ends gets an error instead of waiting for ever', async () => {
    const worker = hire();
    const waiting = expect(worker.next()).rejects.toMatchObject({ code: 'SessionExpired' });
    await scheduler.sync();
    await server.expire(worker.store.sessionId);
    await waiting;
  });

  test('a request that came while the worker was out of contact is found when it is back', async () => {
    const worker = hire();
    const waiting = worker.next();
    await scheduler.sync();
    worker.store.suspend();
    await submit(job('x'));
    worker.store.resume();
    expect((await waiting).request.uuid).toBe('x');
  });
});

describe('finishing requests', () => {
  const results = (): EventQueue<string> =>
    new EventQueue({ store: scheduler, path: '/results', codec: textCodec, clock });
  let result: readonly Operation[];
  beforeEach(async () => {
    await results().prepare();
    result = results().put('SUCCESS');
  });
  const claimed = async (worker = hire()): Promise<Claim<Job>> => {
    await submit(job('x'));
    return await worker.next();
  };
  const reported = async (): Promise<string[]> => (await results().list()).map(entry => entry.value);

  test('request and claim go and the result comes, in one instant', async () => {
    const claim = await claimed();
    expect(await claim.complete(result)).toBe('done');
    expect(await reported()).toEqual(['SUCCESS']);
    expect(await uuids()).toEqual([]);
    expect(await scheduler.children('/requests/build/default/claimed')).toEqual([]);
    expect(claim.lost.aborted).toBe(false);
    expect(await claim.complete(result)).toBe('lost');
    expect(await reported()).toEqual(['SUCCESS']);
  });

  test.each(['lose-request', 'lose-reply'] as const)(
    'the result comes once although the answer is in doubt (%s)',
    async fault => {
      const worker = hire();
      const claim = await claimed(worker);
      worker.store.faults.push(fault, fault);
      expect(await claim.complete(result)).toBe('done');
      expect(await reported()).toEqual(['SUCCESS']);
    },
  );

  test('a result that cannot be written leaves the request with its worker', async () => {
    const claim = await claimed();
    const failing = claim.complete([create('/fine'), create('/nowhere/x')]);
    await expect(failing).rejects.toMatchObject({ code: 'NoNode', path: '/nowhere/x', failedOperation: 1 });
    expect(await claim.complete(result)).toBe('done');
  });

  test('a worker whose session ended learns that the claim is lost, and its result is refused', async () => {
    const worker = hire();
    const claim = await claimed(worker);
    await server.expire(worker.store.sessionId);
    await eventually(() => expect(claim.lost.aborted).toBe(true));
    expect(await claim.complete(result)).toBe('lost');
    expect(await reported()).toEqual([]);
  });

  test('a worker whose claim was removed is notified, and its result is refused', async () => {
    const claim = await claimed();
    await scheduler.multi([remove('/requests/build/default/claimed/x')]);
    expect(await claim.complete(result)).toBe('lost');
    await eventually(() => expect(claim.lost.aborted).toBe(true));
    expect(await reported()).toEqual([]);
  });

  test('a short loss of contact does not end the claim', async () => {
    const worker = hire();
    const claim = await claimed(worker);
    worker.store.suspend();
    const completing = claim.complete(result);
    worker.store.resume();
    expect(await completing).toBe('done');
    expect(claim.lost.aborted).toBe(false);
  });

  test('reports on the way are applied once each, in order, also through losses', async () => {
    const worker = hire();
    const claim = await claimed(worker);
    worker.store.faults.push('lose-reply', 'lose-request', undefined, 'lose-reply');
    const outcomes = await Promise.all([
      claim.report(results().put('started'), 'op1'),
      claim.report(results().put('paused'), 'op2'),
      claim.report(results().put('resumed'), 'op3'),
      claim.complete(result),
    ]);
    expect(outcomes).toEqual(['done', 'done', 'done', 'done']);
    expect(await reported()).toEqual(['started', 'paused', 'resumed', 'SUCCESS']);
  });

  test('a report after the claim was lost is refused', async () => {
    const worker = hire();
    const claim = await claimed(worker);
    await server.expire(worker.store.sessionId);
    expect(await claim.report(results().put('started'), 'op1')).toBe('lost');
    expect(await reported()).toEqual([]);
  });
});

describe('stopping requests', () => {
  test('one that no worker has is withdrawn', async () => {
    await submit(job('x'), job('y'));
    await scheduler.multi(await asking.withdraw('x'));
    expect(await uuids()).toEqual(['y']);
  });

  test('withdrawing fails when a worker takes it meanwhile, and then becomes a cancel', async () => {
    await submit(job('x'));
    const withdraw = await asking.withdraw('x');
    const claim = await hire().next();
    await expect(scheduler.multi(withdraw)).rejects.toMatchObject({ code: 'BadVersion' });
    await scheduler.multi(await asking.withdraw('x'));
    await eventually(() => expect(claim.cancelled.aborted).toBe(true));
    expect(await asking.withdraw('x')).toEqual([]);
  });

  test('taking fails when it is withdrawn meanwhile', async () => {
    await submit(job('x'));
    const worker = hire();
    const [request] = await worker.queue.list();
    await scheduler.multi(await asking.withdraw('x'));
    expect(await claimRequest(worker.queue, request!, { worker: 'w', clock })).toBeUndefined();
    expect(await scheduler.children('/requests/build/default/claimed')).toEqual([]);
  });

  test('one that is gone needs nothing', async () => {
    expect(await asking.withdraw('none')).toEqual([]);
  });

  test('hundreds are withdrawn at once', async () => {
    const many = Array.from({ length: 300 }, (_, n) => job(`r${n}`));
    await submit(...many);
    await hire().next();
    await scheduler.multi(await asking.withdrawAll(many.map(each => each.uuid)));
    expect(await uuids()).toEqual(['r0']);
    expect(await scheduler.children('/requests/build/default/cancelled')).toEqual(['r0']);
  });

  test('a cancelled worker is notified, completes, and leaves no mark', async () => {
    await submit(job('x'));
    const claim = await hire().next();
    expect(claim.cancelled.aborted).toBe(false);
    await scheduler.multi([asking.cancel('x')]);
    await eventually(() => expect(claim.cancelled.aborted).toBe(true));
    expect(claim.lost.aborted).toBe(false);
    expect(await claim.complete()).toBe('done');
    expect(await scheduler.children('/requests/build/default/cancelled')).toEqual([]);
  });

  test('a request cancelled before it was taken is cancelled from the start', async () => {
    await submit(job('x'));
    await scheduler.multi([asking.cancel('x')]);
    const claim = await hire().next();
    await eventually(() => expect(claim.cancelled.aborted).toBe(true));
  });

  test('a cancel missed while out of contact is found when back', async () => {
    await submit(job('x'));
    const worker = hire();
    const claim = await worker.next();
    await scheduler.sync();
    worker.store.suspend();
    await scheduler.multi([asking.cancel('x')]);
    worker.store.resume();
    await eventually(() => expect(claim.cancelled.aborted).toBe(true));
  });

  test('a cancel that came too late is swept', async () => {
    await submit(job('x'), job('y'));
    const claim = await hire().next();
    await claim.complete();
    await scheduler.multi([asking.cancel('x'), asking.cancel('y')]);
    const stale = await staleMarks(asking);
    expect(stale.map(operation => operation.path)).toEqual(['/requests/build/default/cancelled/x']);
    await scheduler.multi(stale);
    expect(await scheduler.children('/requests/build/default/cancelled')).toEqual(['y']);
  });
});

describe('a request that paused', () => {
  test('goes on once its requester lets it, also when that was before it asked, and leaves no mark', async () => {
    await submit(job('x'));
    const claim = await hire().next();
    const never = new AbortController().signal;
    const resumed = claim.resumed(never);
    await scheduler.multi([...(await asking.resumeAll(['x', 'gone']))]);
    await resumed;
    await claim.resumed(never);
    expect(await asking.resumeAll(['x'])).toEqual([]);
    await claim.complete();
    expect(await scheduler.children('/requests/build/default/resumed')).toEqual([]);
  });

  test('goes on after a mark that it missed while out of contact, and ends its wait when that is over', async () => {
    await submit(job('x'), job('y'));
    const worker = hire();
    const claim = await worker.next();
    const resumed = claim.resumed(new AbortController().signal);
    await scheduler.sync();
    worker.store.suspend();
    await scheduler.multi([...(await asking.resumeAll(['x']))]);
    worker.store.resume();
    await resumed;
    const ended = new AbortController();
    const waiting = (await worker.next()).resumed(ended.signal);
    ended.abort();
    await waiting;
  });

  test('and was lost leaves a mark that is swept', async () => {
    await submit(job('x'));
    const claim = await hire().next();
    await scheduler.multi([...(await asking.resumeAll(['x']))]);
    await claim.complete();
    const stale = await staleMarks(asking);
    expect(stale.map(operation => operation.path)).toEqual(['/requests/build/default/resumed/x']);
    await scheduler.multi(stale);
    expect(await staleMarks(asking)).toEqual([]);
  });
});

describe('lost workers', () => {
  const lose = async (): Promise<void> => {
    const worker = hire();
    await worker.next();
    await server.expire(worker.store.sessionId);
  };

  test('leave requests that show as abandoned; those that wait or are held do not', async () => {
    await submit(job('lost', 100));
    await lose();
    await submit(job('held', 150), job('waiting'));
    await hire().next();
    expect(await abandonedRequests(asking)).toMatchObject([
      {
        kind: 'lost-worker',
        cancelled: false,
        request: { uuid: 'lost', state: { kind: 'taken', worker: 'executor' } },
      },
    ]);
  });

  test('are found among some requests by reading those alone', async () => {
    await submit(job('lost'));
    await lose();
    await submit(...Array.from({ length: 50 }, (_, index) => job(`waiting${index}`)));
    const read: string[] = [];
    const counting: Pick<Store, 'children' | 'getMany' | 'sync' | 'sessionState'> = {
      children: path => scheduler.children(path),
      sync: () => scheduler.sync(),
      getMany(paths) {
        read.push(...paths);
        return scheduler.getMany(paths);
      },
      sessionState: 'connected',
    };
    const counted = queueOver(counting as Store);
    expect(await abandonedRequests(counted, new Set(['lost', 'waiting7', 'ended']))).toMatchObject([
      { kind: 'lost-worker', request: { uuid: 'lost' } },
    ]);
    // Each with its body.
    expect(read).toHaveLength(4);
    expect(await abandonedRequests(counted, new Set(['ended']))).toEqual([]);
    expect(read).toHaveLength(4);
  });

  test('are replaced: the request goes back to its place with one attempt more', async () => {
    await submit(job('x'), job('y'));
    await lose();
    const [abandoned] = await abandonedRequests(asking);
    if (abandoned?.kind !== 'lost-worker') throw new Error('expected a lost worker');
    await scheduler.multi(requeued(asking, abandoned.request));
    const claim = await hire().next();
    expect(claim.request).toMatchObject({ uuid: 'x', attempt: 2, value: job('x') });
    expect((await asking.list())[0]).toMatchObject({ attempt: 2, state: { kind: 'taken' } });
  });

  test('wake a waiting worker when the request is put back', async () => {
    await submit(job('x'));
    await lose();
    const waiting = hire().next();
    await scheduler.sync();
    const [abandoned] = await abandonedRequests(asking);
    if (abandoned?.kind !== 'lost-worker') throw new Error('expected a lost worker');
    await scheduler.multi(requeued(asking, abandoned.request));
    expect((await waiting).request.attempt).toBe(2);
  });

  test('that are not lost after all keep their request: neither requeue nor discard applies', async () => {
    await submit(job('x'));
    await hire().next();
    const [request] = await asking.list();
    await expect(scheduler.multi(requeued(asking, request!))).rejects.toMatchObject({ code: 'NodeExists' });
    const discard = discarded(asking, { kind: 'lost-worker', request: request!, cancelled: false });
    await expect(scheduler.multi(discard)).rejects.toMatchObject({ code: 'NodeExists' });
  });

  test('are requeued by one of two sweepers', async () => {
    await submit(job('x'));
    await lose();
    const [abandoned] = await abandonedRequests(asking);
    if (abandoned?.kind !== 'lost-worker') throw new Error('expected a lost worker');
    await scheduler.multi(requeued(asking, abandoned.request));
    await expect(scheduler.multi(requeued(asking, abandoned.request))).rejects.toMatchObject({
      code: 'BadVersion',
    });
    expect((await asking.list())[0]?.attempt).toBe(2);
  });

  test('of a cancelled request are not replaced: it is given up, with its mark', async () => {
    await submit(job('x'));
    await lose();
    await scheduler.multi([asking.cancel('x')]);
    const [abandoned] = await abandonedRequests(asking);
    expect(abandoned?.cancelled).toBe(true);
    await scheduler.multi([...discarded(asking, abandoned!), create('/result')]);
    expect(await uuids()).toEqual([]);
    expect(await scheduler.children('/requests/build/default/cancelled')).toEqual([]);
    expect(await scheduler.get('/result')).toBeDefined();
  });

  test('are not alone: an unreadable request shows too and can be given up by its uuid', async () => {
    await submit(job('future', 100, 'from the future'));
    const [abandoned] = await abandonedRequests(asking);
    expect(abandoned).toMatchObject({
      kind: 'unreadable',
      request: { uuid: 'future', error: { message: 'unknown version' } },
    });
    await scheduler.multi(discarded(asking, abandoned!));
    expect(await abandonedRequests(asking)).toEqual([]);
  });
});

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { connected, settle, withRetry } from '../../../src/store/connection.ts';
import { type EmbeddedStore, openEmbeddedStore } from '../../../src/store/embedded/server.ts';
import { ensureNode } from '../../../src/store/ensure-node.ts';
import { create, StoreError } from '../../../src/store/port.ts';
import { wakeUps } from '../../../src/store/wake-ups.ts';
import { eventually } from '../../conformance/store/eventually.ts';
import { FaultyStore } from './faulty-store.ts';

let server: EmbeddedStore;
let store: FaultyStore;
beforeEach(() => {
  server = openEmbeddedStore({ file: ':memory:' });
  store = new FaultyStore(server.connect());
});
afterEach(async () => {
  await server.close();
});

describe('waiting for the connection', () => {
  test('returns at once when connected, else when it comes back', async () => {
    await connected(store);
    store.suspend();
    let back = false;
    const waiting = connected(store).then(() => {
      back = true;
    });
    await server.connect().sync();
    expect(back).toBe(false);
    store.resume();
    await waiting;
  });

  test('fails when the session ends instead, or when aborted', async () => {
    store.suspend();
    const stop = new AbortController();
    const aborted = expect(connected(store, stop.signal)).rejects.toThrow('enough');
    const ended = expect(connected(store)).rejects.toMatchObject({ code: 'SessionExpired' });
    stop.abort(new Error('enough'));
    await aborted;
    store.giveUp();
    await ended;
  });

  test('a question is asked again when the connection breaks in the middle, after a sync', async () => {
    let asked = 0;
    const answer = await settle(store, async () => {
      asked += 1;
      if (asked === 1) throw new StoreError('ConnectionLoss', '/');
      return asked;
    });
    expect(answer).toBe(2);
    expect(store.calls.sync).toBe(2);
  });

  test('a question that fails otherwise is not asked again', async () => {
    await expect(settle(store, () => Promise.reject(new Error('other')))).rejects.toThrow('other');
  });

  test('a store that stays broken while connected is asked ever more slowly, until aborted', async () => {
    const stop = new AbortController();
    let asked = 0;
    const broken = async (): Promise<never> => {
      asked += 1;
      if (asked === 5) stop.abort(new Error('enough'));
      throw new StoreError('ConnectionLoss', '/');
    };
    const started = performance.now();
    await expect(settle(store, broken, stop.signal)).rejects.toThrow('enough');
    expect(asked).toBe(5);
    expect(performance.now() - started).toBeGreaterThan(5 + 10 + 20 + 40 - 5);
  });

  test.each(['lose-request', 'lose-reply'] as const)('a write in doubt (%s) is done once', async fault => {
    store.faults.push(fault, fault);
    await withRetry(
      store,
      () => store.multi([create('/x')]),
      async () => (await store.get('/x')) !== undefined,
    );
    expect(await store.children('/')).toEqual(['x']);
  });
});

describe('making parents', () => {
  test('makes what is missing and is content with what is there', async () => {
    await ensureNode(store, '/a/b/c');
    await ensureNode(store, '/a/b/c');
    await ensureNode(store, '/a/b/d');
    expect(await store.children('/a/b')).toEqual(['c', 'd']);
    expect(store.calls.multi).toBe(2);
  });

  test('is safe when many do it at once and when replies get lost', async () => {
    const stores = Array.from({ length: 5 }, () => new FaultyStore(server.connect()));
    stores[0]?.faults.push('lose-reply', 'lose-request');
    stores[1]?.faults.push('lose-request');
    await Promise.all(stores.map(each => ensureNode(each, '/a/b/c')));
    expect(await store.get('/a/b/c')).toBeDefined();
  });

  test('reports a parent that cannot have children', async () => {
    await store.multi([create('/e', undefined, { ephemeral: true })]);
    await expect(ensureNode(store, '/e/x')).rejects.toMatchObject({ code: 'NoChildrenForEphemerals' });
  });
});

describe('wake-ups', () => {
  test('come once at the start and once for any number of changes meanwhile', async () => {
    const stop = new AbortController();
    let looks = 0;
    let busy: Promise<void> | undefined;
    const loop = (async () => {
      for await (const _ of wakeUps(store, '/', stop.signal)) {
        looks += 1;
        await busy;
      }
    })();
    await eventually(() => expect(looks).toBe(1));
    const { promise, resolve } = Promise.withResolvers<void>();
    busy = promise;
    await store.multi([create('/1')]);
    await eventually(() => expect(looks).toBe(2));
    for (const name of ['2', '3', '4']) await store.multi([create(`/${name}`)]);
    resolve();
    await eventually(() => expect(looks).toBe(3));
    await store.sync();
    expect(looks).toBe(3);
    stop.abort();
    await loop;
  });

  test('leave out what does not concern, but never a resync', async () => {
    const stop = new AbortController();
    let looks = 0;
    const loop = (async () => {
      for await (const _ of wakeUps(store, '/', stop.signal, event => event.path === '/mine')) looks += 1;
    })();
    await eventually(() => expect(looks).toBe(1));
    await store.multi([create('/other')]);
    await store.sync();
    expect(looks).toBe(1);
    await store.multi([create('/mine')]);
    await eventually(() => expect(looks).toBe(2));
    store.suspend();
    store.resume();
    await eventually(() => expect(looks).toBe(3));
    stop.abort();
    await loop;
  });

  test('do not come while out of contact', async () => {
    const stop = new AbortController();
    let looks = 0;
    store.suspend();
    const loop = (async () => {
      for await (const _ of wakeUps(store, '/', stop.signal)) looks += 1;
    })();
    await server.connect().sync();
    expect(looks).toBe(0);
    store.resume();
    await eventually(() => expect(looks).toBeGreaterThan(0));
    stop.abort();
    await loop;
  });

  test('end at once when aborted before or during', async () => {
    for await (const _ of wakeUps(store, '/', AbortSignal.abort())) expect.fail('should not wake');
    const stop = new AbortController();
    for await (const _ of wakeUps(store, '/', stop.signal)) stop.abort();
  });
});

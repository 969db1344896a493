/** What a session must do when its connection breaks and another one is had in time. For stores that have connections. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  create,
  type OperationResult,
  remove,
  type Store,
  StoreError,
  set,
  type WatchEvent,
} from '../../../src/store/port.ts';
import { eventually } from './eventually.ts';
import { freshRoot } from './fresh-root.ts';
import { StateLog } from './state-log.ts';
import type { StoreUnderTest } from './suite.ts';

export interface CuttableStore extends StoreUnderTest {
  /** A session that {@link cut} does not touch. */
  connectBeside(): Promise<Store>;
  /** Resets the connections of all other sessions. */
  cut(): void;
  /** No connections from now on, and again. */
  away(): void;
  back(): void;
}

const NOTHING = new Uint8Array(0);

export function describeReconnect(name: string, open: () => Promise<CuttableStore>): void {
  describe(`store conformance: reconnecting: ${name}`, () => {
    let server: CuttableStore;
    let a: Store;
    let b: Store;
    let root: string;
    let log: StateLog;
    const at = (path: string): string => root + path;

    beforeEach(async () => {
      server = await open();
      a = await server.connect();
      b = await server.connectBeside();
      root = freshRoot();
      await a.multi([create(root)]);
      log = new StateLog(a);
    });
    afterEach(async () => {
      server.back();
      await server.close();
    });

    /** Breaks the connection and waits until there is another, with all watches set: a read now misses no later change. */
    async function cutAndBack(): Promise<void> {
      const before = log.states.length;
      server.cut();
      await eventually(() => expect(log.states.slice(before)).toEqual(['suspended', 'connected']));
      await a.sync();
    }

    test('a cut suspends, then the same session goes on with its ephemerals', async () => {
      const session = a.sessionId;
      await a.multi([create(at('/e'), NOTHING, { ephemeral: true })]);
      await cutAndBack();
      expect(a.sessionState).toBe('connected');
      expect(a.sessionId).toBe(session);
      expect((await a.get(at('/e')))?.stat.ephemeralOwner).toBe(session);
      await a.multi([set(at('/e'), NOTHING, 0)]);
    });

    test('calls made while away fail with ConnectionLoss, and were not applied', async () => {
      server.away();
      await eventually(() => expect(a.sessionState).toBe('suspended'));
      await expect(a.multi([create(at('/x'))])).rejects.toMatchObject({ code: 'ConnectionLoss' });
      await expect(a.get(root)).rejects.toMatchObject({ code: 'ConnectionLoss' });
      await expect(a.sync()).rejects.toMatchObject({ code: 'ConnectionLoss' });
      server.back();
      await eventually(() => expect(a.sessionState).toBe('connected'));
      expect(await a.get(at('/x'))).toBeUndefined();
    });

    test('of calls under way at a cut each is done or fails with ConnectionLoss, and those done stand before those not', async () => {
      const calls = Array.from({ length: 400 }, (_, index) => a.multi([create(at(`/${1000 + index}`))]));
      const settled = Promise.allSettled(calls);
      await calls[20];
      server.cut();
      const outcomes = await settled;
      const done = outcomes.filter(outcome => outcome.status === 'fulfilled').length;
      for (const outcome of outcomes)
        if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'ConnectionLoss' });
      expect(outcomes.slice(0, done).every(outcome => outcome.status === 'fulfilled')).toBe(true);
      await b.sync();
      const names = (await b.children(root)) ?? [];
      expect(names.length).toBeGreaterThanOrEqual(done);
      expect(names).toEqual(Array.from(names, (_, index) => String(1000 + index)));
    });

    test('a version that was seen is still checked after a cut', async () => {
      await a.multi([create(at('/x')), set(at('/x'), NOTHING)]);
      await cutAndBack();
      await expect(a.multi([set(at('/x'), NOTHING, 0)])).rejects.toMatchObject({ code: 'BadVersion' });
      await a.multi([set(at('/x'), NOTHING, 1)]);
    });

    test('a watch is called to read again, and for later changes', async () => {
      const events: WatchEvent[] = [];
      a.watch(root, event => events.push(event));
      await a.sync();
      server.away();
      await eventually(() => expect(a.sessionState).toBe('suspended'));
      await b.multi([create(at('/missed')), create(at('/gone')), remove(at('/gone'))]);
      server.back();
      await eventually(() => expect(events).toContainEqual({ kind: 'resync', path: root }));
      await eventually(async () => expect(await a.children(root).catch(() => [])).toEqual(['missed']));
      events.length = 0;
      await b.multi([create(at('/later'))]);
      await eventually(() => expect(events).toEqual([{ kind: 'created', path: at('/later') }]));
    });

    test('each watch is called once per cut, also one of a path that is not there', async () => {
      const events: WatchEvent[] = [];
      a.watch(at('/none'), event => events.push(event));
      await a.sync();
      await cutAndBack();
      await cutAndBack();
      const twice = [
        { kind: 'resync', path: at('/none') },
        { kind: 'resync', path: at('/none') },
      ];
      await eventually(() => expect(events).toEqual(twice));
      await b.multi([create(at('/none'))]);
      await eventually(() => expect(events.slice(2)).toEqual([{ kind: 'created', path: at('/none') }]));
    });

    test('a watch that ended before the cut is not called', async () => {
      const events: WatchEvent[] = [];
      a.watch(at('/x'), event => events.push(event))[Symbol.dispose]();
      const other: WatchEvent[] = [];
      a.watch(at('/y'), event => other.push(event));
      await cutAndBack();
      await eventually(() => expect(other).toHaveLength(1));
      await b.multi([create(at('/x')), create(at('/y'))]);
      await eventually(() => expect(other).toHaveLength(2));
      expect(events).toEqual([]);
    });

    test('ten thousand watches with long paths survive a cut', async () => {
      const events: WatchEvent[] = [];
      const path = (index: number) => at(`/${'long'.repeat(25)}-${index}`);
      for (let index = 0; index < 10_000; index++) a.watch(path(index), event => events.push(event));
      await a.sync();
      await cutAndBack();
      await eventually(() => expect(events).toHaveLength(10_000));
      events.length = 0;
      await b.multi([create(path(0)), create(path(5000)), create(path(9999))]);
      await eventually(() =>
        expect(events.map(event => event.path)).toEqual([path(0), path(5000), path(9999)]),
      );
    });

    test('large answers and requests cut in the middle reach no other request', async () => {
      const big = Buffer.alloc(400_000, 'x');
      await a.multi([create(at('/big'), big)]);
      for (let round = 0; round < 10; round++) {
        const read = a.get(at('/big'));
        const written: Promise<readonly OperationResult[]> = a.multi([set(at('/big'), big)]);
        setImmediate(() => server.cut());
        for (const outcome of await Promise.allSettled([read, written])) {
          if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(StoreError);
        }
        await eventually(() => expect(a.sessionState).toBe('connected'));
        await eventually(async () => expect((await a.get(at('/big')))?.data.byteLength).toBe(400_000));
      }
    });

    test('closing while away ends at once for the caller', async () => {
      server.away();
      await eventually(() => expect(a.sessionState).toBe('suspended'));
      const closing = a.close();
      expect(a.sessionState).toBe('lost');
      await closing;
      expect(log.states).toEqual(['suspended', 'lost']);
    });
  });
}

/**
 * What every store must do, with any implementation of the port. Each test works below a root of its own, so one server may
 * serve a whole run; only the port is used.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  check,
  create,
  MAX_MULTI_BYTES,
  type Operation,
  remove,
  type SessionState,
  type Store,
  StoreError,
  type StoreErrorCode,
  set,
  type WatchEvent,
} from '../../../src/store/port.ts';
import { eventually } from './eventually.ts';
import { describeExtremes } from './extremes.ts';
import { freshRoot } from './fresh-root.ts';
import { describeModel } from './model-property.ts';

export interface StoreUnderTest {
  /** A new session. */
  connect(): Promise<Store>;
  /** Makes the server end that session as if its client had gone silent. */
  expire(store: Store): Promise<void>;
  close(): Promise<void>;
}

export interface StoreFactory {
  open(): Promise<StoreUnderTest>;
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (data: Uint8Array | undefined): string | undefined =>
  data === undefined ? undefined : new TextDecoder().decode(data);

async function failure(
  promise: Promise<unknown>,
): Promise<{ code: StoreErrorCode; path: string; at: number | undefined }> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof StoreError) return { code: error.code, path: error.path, at: error.failedOperation };
    throw error;
  }
  throw new Error('expected a StoreError, but the call succeeded');
}

export function describeStore(name: string, factory: StoreFactory): void {
  describe(`store conformance: ${name}`, () => {
    let server: StoreUnderTest;
    let a: Store;
    let b: Store;
    let root: string;
    const at = (path: string): string => root + path;

    beforeEach(async () => {
      server = await factory.open();
      a = await server.connect();
      b = await server.connect();
      root = freshRoot();
      await a.multi([create(root)]);
    });
    afterEach(async () => {
      await server.close();
    });

    describe('nodes', () => {
      test('a created node is there with its data, at version 0, for every session', async () => {
        expect(await a.multi([create(at('/x'), bytes('one'))])).toEqual([{ path: at('/x'), version: 0 }]);
        await b.sync();
        const node = await b.get(at('/x'));
        expect(text(node?.data)).toBe('one');
        expect(node?.stat).toMatchObject({ version: 0, ephemeralOwner: undefined, childCount: 0 });
        expect(node?.stat.createdTransaction).toBe(node?.stat.modifiedTransaction);
      });

      test('a missing node reads as undefined', async () => {
        expect(await a.get(at('/none'))).toBeUndefined();
        expect(await a.children(at('/none'))).toBeUndefined();
      });

      test('a node without data reads as no bytes', async () => {
        expect((await a.get(root))?.data.byteLength).toBe(0);
      });

      test('each set raises the version by one and moves the modified transaction only', async () => {
        await a.multi([create(at('/x'), bytes('0'))]);
        const before = await a.get(at('/x'));
        expect(await a.multi([set(at('/x'), bytes('1'), 0)])).toEqual([{ path: at('/x'), version: 1 }]);
        expect(await a.multi([set(at('/x'), bytes('2'))])).toEqual([{ path: at('/x'), version: 2 }]);
        const after = await a.get(at('/x'));
        expect(text(after?.data)).toBe('2');
        expect(after?.stat.version).toBe(2);
        expect(after?.stat.createdTransaction).toBe(before?.stat.createdTransaction);
        expect(after!.stat.modifiedTransaction > before!.stat.modifiedTransaction).toBe(true);
      });

      test('a node made again starts at version 0', async () => {
        await a.multi([create(at('/x')), set(at('/x'), bytes('1'))]);
        await a.multi([remove(at('/x')), create(at('/x'))]);
        expect((await a.get(at('/x')))?.stat.version).toBe(0);
      });

      test('children are listed by name, sorted, and counted', async () => {
        await a.multi([create(at('/c')), create(at('/a')), create(at('/b')), create(at('/b/deep'))]);
        expect(await a.children(root)).toEqual(['a', 'b', 'c']);
        expect((await a.get(root))?.stat.childCount).toBe(3);
        await a.multi([remove(at('/b/deep')), remove(at('/b'))]);
        expect(await a.children(root)).toEqual(['a', 'c']);
      });

      test('many nodes are read at once, missing ones as undefined at their place', async () => {
        await a.multi([create(at('/x'), bytes('x')), create(at('/z'), bytes('z'))]);
        const nodes = await a.getMany([at('/x'), at('/y'), at('/z')]);
        expect(nodes.map(node => text(node?.data))).toEqual(['x', undefined, 'z']);
        expect(await a.getMany([])).toEqual([]);
      });

      test('bytes are the caller’s own, going in and coming out', async () => {
        const mine = bytes('clean');
        const written = a.multi([create(at('/x'), mine)]);
        mine.fill(0);
        await written;
        const read = await a.get(at('/x'));
        expect(text(read?.data)).toBe('clean');
        read?.data.fill(0);
        expect(text((await a.get(at('/x')))?.data)).toBe('clean');
      });

      test('data of every byte value comes back as it went in', async () => {
        const data = Uint8Array.from({ length: 512 }, (_, index) => index % 256);
        await a.multi([create(at('/x'), data)]);
        expect(Buffer.from((await a.get(at('/x')))?.data ?? [])).toEqual(Buffer.from(data));
      });
    });

    describe('failures', () => {
      const cases: [string, StoreErrorCode, () => Operation, ...Operation[]][] = [
        ['a create below nothing', 'NoNode', () => create(at('/none/x'))],
        ['a create of what is there', 'NodeExists', () => create(at('/x'))],
        ['a set of nothing', 'NoNode', () => set(at('/none'), bytes(''))],
        ['a set at another version', 'BadVersion', () => set(at('/x'), bytes(''), 7)],
        ['a set at version 0 of a node at version 1', 'BadVersion', () => set(at('/one'), bytes(''), 0)],
        ['a delete of nothing', 'NoNode', () => remove(at('/none'))],
        ['a delete at another version', 'BadVersion', () => remove(at('/x'), 3)],
        ['a delete at version 0 of a node at version 1', 'BadVersion', () => remove(at('/one'), 0)],
        ['a delete of a node with children', 'NotEmpty', () => remove(at('/full'))],
        ['a check of nothing', 'NoNode', () => check(at('/none'))],
        ['a check at another version', 'BadVersion', () => check(at('/x'), 5)],
        ['a check at version 0 of a node at version 1', 'BadVersion', () => check(at('/one'), 0)],
        ['a create below an ephemeral node', 'NoChildrenForEphemerals', () => create(at('/passing/x'))],
      ];
      test.each(cases)(
        '%s fails with %s, says where, and undoes what came before it',
        async (_, code, operation) => {
          await a.multi([
            create(at('/x')),
            create(at('/one')),
            set(at('/one'), bytes('1')),
            create(at('/full')),
            create(at('/full/child')),
            create(at('/passing'), bytes(''), { ephemeral: true }),
          ]);
          const before = await a.children(root);
          const doomed = [
            set(at('/x'), bytes('changed')),
            create(at('/new')),
            operation(),
            create(at('/later')),
          ];
          expect(await failure(a.multi(doomed))).toEqual({ code, path: operation().path, at: 2 });
          expect(await a.children(root)).toEqual(before);
          expect((await a.get(at('/x')))?.stat.version).toBe(0);
        },
      );

      test('a multi that fails late undoes step by step what it did to one node', async () => {
        await a.multi([create(at('/x'), bytes('first')), create(at('/y'), bytes('kept'))]);
        const before = await a.getMany([at('/x'), at('/y')]);
        const doomed = [
          set(at('/x'), bytes('second')),
          set(at('/x'), bytes('third')),
          create(at('/x/child')),
          remove(at('/x/child')),
          remove(at('/y')),
          create(at('/y'), bytes('new')),
          set(at('/y'), bytes('newer')),
          check(at('/none')),
        ];
        expect(await failure(a.multi(doomed))).toMatchObject({ code: 'NoNode', at: 7 });
        expect(await a.getMany([at('/x'), at('/y')])).toEqual(before);
        expect(await a.children(at('/x'))).toEqual([]);
      });

      test('a multi over the limit is refused as a whole, one just below it is not', async () => {
        const big = new Uint8Array(MAX_MULTI_BYTES / 2);
        const refused = a.multi([create(at('/x'), big), create(at('/y'), big)]);
        expect(await failure(refused)).toEqual({ code: 'TooLarge', path: at('/y'), at: 1 });
        expect(await a.children(root)).toEqual([]);
        await a.multi([create(at('/x'), big), create(at('/y'), big.subarray(1000))]);
        expect((await a.get(at('/y')))?.data.byteLength).toBe(big.byteLength - 1000);
      });

      test('a multi of thousands of small operations fits as far as the limit says', async () => {
        const operations = Array.from({ length: 5000 }, (_, index) => create(at(`/${index}`)));
        await a.multi(operations);
        expect((await a.children(root))?.length).toBe(5000);
        await a.multi(operations.map(({ path }) => remove(path)));
      });

      test.each(['', 'x', '//', '/x/', '/x//y', '/x/./y', '/x/..', '/nul\0', '/tab\t', '/\ud83d\ude00'])(
        'the path %j is refused as a mistake of the caller',
        async path => {
          await expect(a.multi([create(path)])).rejects.toThrow(RangeError);
          await expect(a.get(path)).rejects.toThrow(RangeError);
          await expect(a.children(path)).rejects.toThrow(RangeError);
          expect(() => a.watch(path, () => {})).toThrow(RangeError);
        },
      );
    });

    describe('transactions', () => {
      test('later operations of a multi see the earlier ones', async () => {
        const done = await a.multi([
          create(at('/x')),
          create(at('/x/y')),
          set(at('/x/y'), bytes('1'), 0),
          check(at('/x/y'), 1),
          remove(at('/x/y'), 1),
          remove(at('/x')),
          create(at('/x'), bytes('again')),
        ]);
        expect(done.map(result => result.version)).toEqual([0, 0, 1, 1, 1, -1, 0]);
        expect(text((await a.get(at('/x')))?.data)).toBe('again');
      });

      test('everything one multi writes carries one transaction, later ones a higher one', async () => {
        await a.multi([create(at('/x')), create(at('/y')), create(at('/old'))]);
        await a.multi([set(at('/x'), bytes('1')), create(at('/z')), remove(at('/old'))]);
        const [x, y, z] = await a.getMany([at('/x'), at('/y'), at('/z')]);
        expect(x?.stat.createdTransaction).toBe(y?.stat.createdTransaction);
        expect(x?.stat.modifiedTransaction).toBe(z?.stat.createdTransaction);
        expect(z!.stat.createdTransaction > y!.stat.createdTransaction).toBe(true);
      });

      test('create and delete of one node in a multi assert that it was not there', async () => {
        const absent = [create(at('/probe')), remove(at('/probe'))];
        await a.multi(absent);
        await a.multi([create(at('/probe'))]);
        expect(await failure(a.multi(absent))).toMatchObject({ code: 'NodeExists', at: 0 });
      });

      test('an empty multi does nothing', async () => {
        expect(await a.multi([])).toEqual([]);
      });

      test('calls of one session take effect in the order they were made', async () => {
        const calls = Promise.all([
          a.multi([create(at('/x'), bytes('0'))]),
          a.multi([set(at('/x'), bytes('1'), 0)]),
          a.get(at('/x')),
          a.multi([set(at('/x'), bytes('2'), 1)]),
          a.children(root),
          a.multi([remove(at('/x'), 2)]),
          a.get(at('/x')),
        ]);
        const [, , seen, , names, , gone] = await calls;
        expect(text(seen?.data)).toBe('1');
        expect(names).toEqual(['x']);
        expect(gone).toBeUndefined();
      });

      test('a failing multi between good ones takes nothing with it', async () => {
        const results = await Promise.allSettled([
          a.multi([create(at('/x'))]),
          a.multi([create(at('/y')), create(at('/x'))]),
          a.multi([create(at('/z'))]),
        ]);
        expect(results.map(result => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
        expect(await a.children(root)).toEqual(['x', 'z']);
      });

      test('of two sessions that set at the same version one wins and the other gets the conflict', async () => {
        await a.multi([create(at('/x'))]);
        await b.sync();
        const results = await Promise.allSettled([
          a.multi([set(at('/x'), bytes('a'), 0)]),
          b.multi([set(at('/x'), bytes('b'), 0)]),
        ]);
        expect(results.filter(result => result.status === 'fulfilled')).toHaveLength(1);
        await a.sync();
        expect((await a.get(at('/x')))?.stat.version).toBe(1);
      });
    });

    describe('sequences', () => {
      const sequential = { sequential: true };

      test('names get ten digits that grow with each create', async () => {
        const names: string[] = [];
        for (let i = 0; i < 3; i++) {
          const [made] = await a.multi([create(at('/n-'), bytes(''), sequential)]);
          names.push(made!.path);
        }
        for (const name of names) expect(name.slice(root.length)).toMatch(/^\/n-\d{10}$/);
        expect(names.toSorted()).toEqual(names);
        expect(new Set(names).size).toBe(3);
      });

      test('an empty last segment leaves the digits alone as the name', async () => {
        const [made] = await a.multi([create(`${root}/`, bytes(''), sequential)]);
        expect(made?.path.slice(root.length)).toMatch(/^\/\d{10}$/);
      });

      test('a number is never used again after its node is deleted', async () => {
        const [first] = await a.multi([create(at('/n-'), bytes(''), sequential)]);
        await a.multi([remove(first!.path)]);
        const [second] = await a.multi([create(at('/n-'), bytes(''), sequential)]);
        expect(second!.path > first!.path).toBe(true);
      });

      test('prefixes and sessions share the counter of their parent', async () => {
        const made = await Promise.all([
          a.multi([create(at('/p-'), bytes(''), sequential), create(at('/q-'), bytes(''), sequential)]),
          b.multi([create(at('/p-'), bytes(''), { sequential: true, ephemeral: true })]),
        ]);
        const numbers = made.flat().map(({ path }) => path.slice(-10));
        expect(new Set(numbers).size).toBe(3);
      });

      test('a multi that makes several learns all their names', async () => {
        const made = await a.multi(
          Array.from({ length: 50 }, () => create(`${root}/`, bytes(''), sequential)),
        );
        expect(made.map(({ path }) => path)).toEqual((await a.children(root))?.map(child => at(`/${child}`)));
      });
    });

    describe('ephemerals', () => {
      const ephemeral = { ephemeral: true };

      test('an ephemeral node names its session and vanishes when that closes', async () => {
        await a.multi([create(at('/e'), bytes(''), ephemeral), create(at('/p'))]);
        await b.sync();
        expect((await b.get(at('/e')))?.stat.ephemeralOwner).toBe(a.sessionId);
        await a.close();
        await b.sync();
        expect(await b.children(root)).toEqual(['p']);
      });

      test('it vanishes when its session expires', async () => {
        await a.multi([create(at('/e'), bytes(''), ephemeral)]);
        await server.expire(a);
        await eventually(async () => {
          await b.sync();
          expect(await b.get(at('/e'))).toBeUndefined();
        });
      });

      test('what a session asked for before closing happens before its ephemerals go', async () => {
        const written = a.multi([create(at('/e'), bytes(''), ephemeral), create(at('/p'))]);
        await Promise.all([written, a.close()]);
        await b.sync();
        expect(await b.children(root)).toEqual(['p']);
      });

      test('another session may change and delete it', async () => {
        await a.multi([create(at('/e'), bytes(''), ephemeral)]);
        await b.sync();
        await b.multi([set(at('/e'), bytes('b'), 0)]);
        await b.multi([remove(at('/e'), 1)]);
        await a.sync();
        expect(await a.get(at('/e'))).toBeUndefined();
      });

      test('sessions have different ids', () => {
        expect(a.sessionId).not.toBe(b.sessionId);
      });
    });

    describe('session state', () => {
      test('a session is connected, then lost when closed; its calls then fail with Closed', async () => {
        expect(a.sessionState).toBe('connected');
        const seen: SessionState[] = [];
        a.onSessionState(state => seen.push(state));
        await a.close();
        await a.close();
        expect(a.sessionState).toBe('lost');
        await eventually(() => expect(seen).toEqual(['lost']));
        expect(await failure(a.multi([create(at('/x'))]))).toMatchObject({ code: 'Closed' });
        expect(await failure(a.get(root))).toMatchObject({ code: 'Closed' });
        expect(await failure(a.children(root))).toMatchObject({ code: 'Closed' });
        expect(await failure(a.sync())).toMatchObject({ code: 'Closed' });
      });

      test('an expired session is lost and its calls fail with SessionExpired', async () => {
        const seen: SessionState[] = [];
        a.onSessionState(state => seen.push(state));
        await server.expire(a);
        await eventually(() => expect(seen.at(-1)).toBe('lost'));
        expect(a.sessionState).toBe('lost');
        expect(await failure(a.multi([create(at('/x'))]))).toMatchObject({ code: 'SessionExpired' });
        expect(await failure(a.get(root))).toMatchObject({ code: 'SessionExpired' });
        await a.close();
      });

      test('a listener that was disposed hears nothing', async () => {
        const seen: SessionState[] = [];
        a.onSessionState(state => seen.push(state))[Symbol.dispose]();
        const heard = new Promise<void>(resolve => a.onSessionState(() => resolve()));
        await a.close();
        await heard;
        expect(seen).toEqual([]);
      });
    });

    describe('watches', () => {
      let events: WatchEvent[];
      const seen = (): string[] =>
        events.map(event => `${event.kind} ${event.path.slice(root.length) || '.'}`);
      /** Waits until a last change, made now, has been heard: everything before it has been heard too. */
      const heardAll = async (): Promise<string[]> => {
        const mark = `/mark-${events.length}`;
        await b.multi([create(at(mark))]);
        await eventually(() => expect(seen()).toContain(`created ${mark}`));
        return seen().filter(line => !line.includes('/mark-'));
      };
      beforeEach(() => {
        events = [];
      });

      test('changes at and below the path are reported in commit order, also those of other sessions', async () => {
        a.watch(root, event => events.push(event));
        await a.sync();
        await b.multi([create(at('/x'))]);
        await a.multi([create(at('/x/y'), bytes('1')), set(at('/x/y'), bytes('2'))]);
        await b.multi([set(root, bytes('r'))]);
        await b.sync();
        await b.multi([remove(at('/x/y')), remove(at('/x'))]);
        expect(await heardAll()).toEqual([
          'created /x',
          'created /x/y',
          'changed /x/y',
          'changed .',
          'deleted /x/y',
          'deleted /x',
        ]);
      });

      test('nothing outside the path is reported, not even a name that begins like it', async () => {
        await a.multi([create(at('/x'))]);
        a.watch(at('/x'), event => events.push(event));
        await a.sync();
        await b.sync();
        await b.multi([create(at('/xy')), create(at('/y')), set(root, bytes('r')), create(at('/x/1'))]);
        await eventually(() => expect(events.length).toBeGreaterThan(0));
        expect(seen()).toEqual(['created /x/1']);
      });

      test('a path that does not exist yet can be watched', async () => {
        a.watch(at('/later'), event => events.push(event));
        await a.sync();
        await b.multi([create(at('/later'))]);
        await b.multi([create(at('/later/x'))]);
        await eventually(() => expect(seen()).toEqual(['created /later', 'created /later/x']));
      });

      test('a failed multi is not reported', async () => {
        a.watch(root, event => events.push(event));
        await a.sync();
        await failure(b.multi([create(at('/x')), create(at('/none/y'))]));
        expect(await heardAll()).toEqual([]);
      });

      test('ephemerals that vanish are reported', async () => {
        await b.multi([create(at('/e'), bytes(''), { ephemeral: true })]);
        await a.sync();
        a.watch(root, event => events.push(event));
        await a.sync();
        await b.close();
        await eventually(() => expect(seen()).toEqual(['deleted /e']));
      });

      test('a disposed watch is silent, the others go on', async () => {
        const other: WatchEvent[] = [];
        const watch = a.watch(root, event => other.push(event));
        a.watch(root, event => events.push(event));
        await a.sync();
        watch[Symbol.dispose]();
        watch[Symbol.dispose]();
        await b.multi([create(at('/x'))]);
        expect(await heardAll()).toEqual(['created /x']);
        expect(other).toEqual([]);
      });

      test('one function may watch twice and is then called twice until one watch ends', async () => {
        const listener = (event: WatchEvent): unknown => events.push(event);
        const first = a.watch(root, listener);
        a.watch(root, listener);
        await a.sync();
        await b.multi([create(at('/x'))]);
        await eventually(() => expect(seen()).toEqual(['created /x', 'created /x']));
        first[Symbol.dispose]();
        await b.multi([create(at('/y'))]);
        expect((await heardAll()).filter(line => line === 'created /y')).toHaveLength(1);
      });

      test('a watch is called before its session can read the change', async () => {
        a.watch(at('/x'), event => events.push(event));
        await a.sync();
        await b.multi([create(at('/x'))]);
        await eventually(async () => {
          const known = events.length;
          const node = await a.get(at('/x'));
          if (node === undefined) return false;
          expect(events.length, `known before the read: ${known}`).toBe(1);
          return true;
        });
      });

      test('a listener is never called before the call that caused it has returned its promise', async () => {
        let inside = false;
        let calledInside = false;
        a.watch(root, () => {
          calledInside ||= inside;
          events.push({ kind: 'resync', path: root });
        });
        await a.sync();
        inside = true;
        const written = a.multi([create(at('/x'))]);
        inside = false;
        await written;
        await eventually(() => expect(events.length).toBe(1));
        expect(calledInside).toBe(false);
      });

      test('a closed session hears nothing more', async () => {
        a.watch(root, event => events.push(event));
        await a.sync();
        await a.close();
        const other: WatchEvent[] = [];
        const c = await server.connect();
        c.watch(root, event => other.push(event));
        await c.sync();
        await b.multi([create(at('/x'))]);
        await eventually(() => expect(other.length).toBe(1));
        expect(events).toEqual([]);
      });
    });

    describeExtremes(() => ({ a, b, root }));
    describeModel(() => ({ store: a, other: b }));
  });
}

/** Names, sizes and numbers at the edge of what the port allows, where stores tend to differ. */
import { describe, expect, test } from 'vitest';
import {
  check,
  create,
  MAX_MULTI_BYTES,
  remove,
  type Store,
  set,
  type WatchEvent,
} from '../../../src/store/port.ts';
import { eventually } from './eventually.ts';

export interface Stage {
  readonly a: Store;
  readonly b: Store;
  /** A node of the test's own. */
  readonly root: string;
}

export function describeExtremes(stage: () => Stage): void {
  const NAMES = [
    'with blank',
    'ünïcödé',
    '日本語',
    'per%2Fcent',
    '.hidden',
    '...',
    'a:b@c',
    "it's",
    '-',
    '~',
    'Z',
    'a',
    '\u{fb01}',
  ];

  describe('extremes', () => {
    test('names of all kinds are kept, listed in one order, and watched', async () => {
      const { a, b, root } = stage();
      const events: WatchEvent[] = [];
      a.watch(root, event => events.push(event));
      await a.sync();
      const paths = NAMES.map(name => `${root}/${name}`);
      for (const path of paths) await b.multi([create(path, Buffer.from(path))]);
      await a.sync();
      expect(await a.children(root)).toEqual(NAMES.toSorted());
      const nodes = await a.getMany(paths);
      expect(nodes.map(node => Buffer.from(node?.data ?? []).toString())).toEqual(paths);
      await eventually(() => expect(events.map(event => event.path)).toEqual(paths));
    });

    test('a sequence goes on below a name of any kind, also one that ends in digits', async () => {
      const { a, root } = stage();
      const sequential = { sequential: true };
      const made = await a.multi([
        create(`${root}/7`, undefined, sequential),
        create(`${root}/日-`, undefined, sequential),
        create(`${root}/`, undefined, sequential),
      ]);
      const [first, second, third] = made.map(({ path }) => path.slice(root.length + 1));
      expect(first).toMatch(/^7\d{10}$/);
      expect(second).toMatch(/^日-\d{10}$/);
      expect(Number(third)).toBe(Number(second?.slice(-10)) + 1);
      expect((await a.children(root))?.length).toBe(3);
    });

    test('a sequence is not disturbed by names that were chosen, nor by operations that failed', async () => {
      const { a, root } = stage();
      const next = async () =>
        Number((await a.multi([create(`${root}/`, undefined, { sequential: true })]))[0]?.path.slice(-10));
      const first = await next();
      await expect(
        a.multi([create(`${root}/`, undefined, { sequential: true }), check(`${root}/none`)]),
      ).rejects.toMatchObject({ code: 'NoNode' });
      const second = await next();
      expect(second).toBe(first + 1);
      await a.multi([create(`${root}/chosen`), remove(`${root}/chosen`)]);
      expect(await next()).toBeGreaterThan(second);
    });

    test('a tree a hundred levels deep is made, read and removed in one multi each', async () => {
      const { a, root } = stage();
      const paths = Array.from({ length: 100 }, (_, depth) => root + '/d'.repeat(depth + 1));
      await a.multi(paths.map(path => create(path)));
      expect((await a.getMany(paths)).every(node => node !== undefined)).toBe(true);
      await a.multi(paths.toReversed().map(path => remove(path)));
      expect(await a.children(root)).toEqual([]);
    });

    test('ten thousand children are listed, and read at once', async () => {
      const { a, root } = stage();
      const paths = Array.from({ length: 10_000 }, (_, index) => `${root}/${String(index).padStart(5, '0')}`);
      for (let from = 0; from < paths.length; from += 2000)
        await a.multi(paths.slice(from, from + 2000).map(path => create(path, Buffer.from(path.slice(-5)))));
      expect((await a.children(root))?.map(name => `${root}/${name}`)).toEqual(paths);
      const nodes = await a.getMany(paths);
      expect(nodes.map(node => Buffer.from(node?.data ?? []).toString())).toEqual(
        paths.map(path => path.slice(-5)),
      );
    });

    test('many large nodes are read at once', async () => {
      const { a, root } = stage();
      const paths = Array.from({ length: 20 }, (_, index) => `${root}/${index}`);
      const data = Buffer.alloc(MAX_MULTI_BYTES - 200, 'x');
      for (const path of paths) await a.multi([create(path, data)]);
      const nodes = await a.getMany(paths);
      expect(nodes.map(node => node?.data.byteLength)).toEqual(paths.map(() => data.length));
      await a.multi(paths.map(path => remove(path)));
    });

    test('a multi of nothing but checks changes nothing and notifies no watch', async () => {
      const { a, b, root } = stage();
      const events: WatchEvent[] = [];
      b.watch(root, event => events.push(event));
      await b.sync();
      const before = (await a.get(root))?.stat;
      expect(await a.multi([check(root, 0), check(root)])).toMatchObject([{ path: root }, { path: root }]);
      expect((await a.get(root))?.stat).toEqual(before);
      await a.multi([set(root, Buffer.from('end'))]);
      await eventually(() => expect(events).toEqual([{ kind: 'changed', path: root }]));
    });

    test('what was there before is distinguished from what is new by its transaction, also after the same path was made again', async () => {
      const { a, root } = stage();
      const path = `${root}/x`;
      await a.multi([create(path)]);
      const first = (await a.get(path))?.stat.createdTransaction ?? 0n;
      await a.multi([remove(path)]);
      await a.multi([create(path)]);
      expect((await a.get(path))?.stat.createdTransaction).toBeGreaterThan(first);
    });

    test('a change of a child is none of its parent', async () => {
      const { a, root } = stage();
      const before = await a.get(root);
      await a.multi([create(`${root}/x`), set(`${root}/x`, Buffer.from('1'))]);
      const after = await a.get(root);
      expect(after?.stat).toEqual({ ...before?.stat, childCount: 1 });
    });

    test('writes of two sessions to the same nodes happen one after the other, and both see one order', async () => {
      const { a, b, root } = stage();
      const path = `${root}/counter`;
      await a.multi([create(path, Buffer.from('0'))]);
      const raise = async (store: Store): Promise<void> => {
        for (let done = 0; done < 20; ) {
          const node = await store.get(path);
          const next = Buffer.from(String(Number(Buffer.from(node?.data ?? []).toString()) + 1));
          const outcome = await store
            .multi([set(path, next, node?.stat.version ?? 0)])
            .catch((error: unknown) => error);
          if (Array.isArray(outcome)) done += 1;
          else expect(outcome).toMatchObject({ code: 'BadVersion' });
        }
      };
      await b.sync();
      await Promise.all([raise(a), raise(b)]);
      await a.sync();
      const node = await a.get(path);
      expect(Buffer.from(node?.data ?? []).toString()).toBe('40');
      expect(node?.stat.version).toBe(40);
    });
  });
}

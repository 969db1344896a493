/** A tree that is read out of one store and written into another one: the same nodes, and no number twice. */
import { describe, expect, test } from 'vitest';
import { randomIds } from '../../../src/lib/ids.ts';
import { type DumpError, dumpLines, parseDumpHead, parseDumpNodes } from '../../../src/store/dump-format.ts';
import { openEmbeddedStore } from '../../../src/store/embedded/server.ts';
import { ensureNode } from '../../../src/store/ensure-node.ts';
import { numberOf } from '../../../src/store/numbered-places.ts';
import { create, type Store, StoreError, set } from '../../../src/store/port.ts';
import {
  emptyTree,
  isHalfCopied,
  persistentNodes,
  readTree,
  VERSION_KEPT,
  writeTree,
} from '../../../src/store/tree-copy.ts';
import { textOf } from '../docs/repository-text.ts';
import { everything, plantTree } from './planted-tree.ts';

const ROOT = '/gatehouse';

async function* each<T>(values: Iterable<T>): AsyncGenerator<T, void, undefined> {
  yield* values;
}

const copy = (source: Store, target: Store) =>
  writeTree(target, ROOT, persistentNodes(readTree(source, ROOT)), randomIds());

async function linesOfDump(source: Store): Promise<readonly string[]> {
  const head = { release: '9.9', root: ROOT, at: '2026-11-20T18:00:00.000Z' };
  return await Array.fromAsync(dumpLines(head, persistentNodes(readTree(source, ROOT))));
}

describe('a copied tree', () => {
  test('has the same paths, bytes and versions, and none of what goes with a session', async () => {
    await using one = openEmbeddedStore({ file: ':memory:' });
    await using other = openEmbeddedStore({ file: ':memory:' });
    const [source, target] = [one.connect(), other.connect()];
    await plantTree(source, ROOT);
    const all = await everything(source, ROOT);
    const count = await copy(source, target);
    const expected = all.filter(node => !node.ephemeral);
    expect(expected.length).toBeLessThan(all.length);
    expect(count).toBe(expected.length - 1);
    expect(await everything(target, ROOT)).toEqual(expected);
    expect(await isHalfCopied(target, ROOT)).toBe(false);
  });

  test('numbers what comes after every copied node', async () => {
    await using one = openEmbeddedStore({ file: ':memory:' });
    await using other = openEmbeddedStore({ file: ':memory:' });
    const [source, target] = [one.connect(), other.connect()];
    await plantTree(source, ROOT);
    await copy(source, target);
    const [next] = await target.multi([create(`${ROOT}/outbox/spans/3-0-`, undefined, { sequential: true })]);
    expect(next?.path).toBe(`${ROOT}/outbox/spans/3-0-0000002500`);
  });

  test('keeps any version of an epoch, of other nodes up to a limit', async () => {
    await using one = openEmbeddedStore({ file: ':memory:' });
    await using other = openEmbeddedStore({ file: ':memory:' });
    const [source, target] = [one.connect(), other.connect()];
    await ensureNode(source, `${ROOT}/sweeper/epoch`);
    await ensureNode(source, `${ROOT}/sweeper/lastOp`);
    for (let at = 0; at < 1234; at++)
      await source.multi([
        set(`${ROOT}/sweeper/epoch`, Buffer.from(`${at}`)),
        set(`${ROOT}/sweeper/lastOp`, Buffer.from(`${at}`)),
      ]);
    await copy(source, target);
    const [epoch, last] = await target.getMany([`${ROOT}/sweeper/epoch`, `${ROOT}/sweeper/lastOp`]);
    expect(epoch?.stat.version).toBe(1234);
    expect(last?.stat.version).toBe(VERSION_KEPT);
    for (const node of [epoch, last]) expect(Buffer.from(node?.data ?? []).toString()).toBe('1233');
  });

  test('is the same when every second reply is lost, whether the write was applied or not', async () => {
    for (const applied of [true, false]) {
      await using one = openEmbeddedStore({ file: ':memory:' });
      await using other = openEmbeddedStore({ file: ':memory:' });
      const [source, target] = [one.connect(), other.connect()];
      await plantTree(source, ROOT);
      await copy(source, losingReplies(target, applied));
      expect(await everything(target, ROOT)).toEqual(
        (await everything(source, ROOT)).filter(node => !node.ephemeral),
      );
    }
  });

  test('that was not finished shows as such, and can be taken back', async () => {
    await using one = openEmbeddedStore({ file: ':memory:' });
    const target = one.connect();
    const nodes = [
      { path: 'a', data: Buffer.from('x'), version: 0 },
      { path: 'missing/b', data: Buffer.from('x'), version: 0 },
    ];
    await expect(writeTree(target, ROOT, nodes, randomIds())).rejects.toThrow('NoNode');
    expect(await isHalfCopied(target, ROOT)).toBe(true);
    await emptyTree(target, ROOT);
    expect(await target.children(ROOT)).toEqual([]);
  });
});

describe('a dump', () => {
  test('brings back the same tree', async () => {
    await using one = openEmbeddedStore({ file: ':memory:' });
    await using other = openEmbeddedStore({ file: ':memory:' });
    const [source, target] = [one.connect(), other.connect()];
    await plantTree(source, ROOT);
    const [head, ...nodes] = await linesOfDump(source);
    expect(parseDumpHead(head)).toEqual({ release: '9.9', root: ROOT, at: '2026-11-20T18:00:00.000Z' });
    await writeTree(target, ROOT, parseDumpNodes(each(nodes)), randomIds());
    expect(await linesOfDump(target)).toEqual([head, ...nodes]);
  });

  test('is refused when it is cut short anywhere', async () => {
    await using one = openEmbeddedStore({ file: ':memory:' });
    const source = one.connect();
    await plantTree(source, ROOT, 3);
    // Without the large blob: a prefix at a time is slow enough.
    const nodes = (await linesOfDump(source)).slice(1, -1).filter(line => line.length < 1000);
    const text = [...nodes, JSON.stringify({ end: true, nodes: nodes.length })].join('\n');
    for (let length = 0; length < text.length; length += 7) {
      const lines = text.slice(0, length).split('\n');
      await expect(Array.fromAsync(parseDumpNodes(each(lines)))).rejects.toThrow(
        /the dump .*use another one$/,
      );
    }
    expect((await Array.fromAsync(parseDumpNodes(each(text.split('\n'))))).length).toBeGreaterThan(5);
  });

  test('is refused with lines missing or doubled in the middle', async () => {
    await using one = openEmbeddedStore({ file: ':memory:' });
    const source = one.connect();
    await plantTree(source, ROOT, 3);
    const lines = (await linesOfDump(source)).slice(1);
    const wrong = [lines.toSpliced(2, 1), lines.toSpliced(2, 0, lines[2] ?? ''), [...lines, lines[0] ?? '']];
    for (const each_ of wrong)
      await expect(Array.fromAsync(parseDumpNodes(each(each_)))).rejects.toThrow('use another one');
  });

  test('of a newer format, and what is none, is refused by its first line', () => {
    const newer = JSON.stringify({ dump: 'gatehouse store', format: 2, release: '7', root: '/x', at: 'now' });
    expect(() => parseDumpHead(newer)).toThrow('has format 2 of release 7');
    expect(() => parseDumpHead('{"a":1}')).toThrow('this is no dump');
    expect(() => parseDumpHead('PK')).toThrow('this is no dump');
    expect(() => parseDumpHead(undefined)).toThrow('is empty' satisfies DumpError['message']);
  });
});

describe('numbered places', () => {
  const rows = [...textOf('doc/zookeeper-map.md').matchAll(/^\| `([^`]+)` \| ([pe](?: n)?) \|/gm)];

  test.each(rows.map(([, path = '', node = '']) => [path, node]))(
    'are recognised in %s (%s)',
    (path, node) => {
      const [place, name] = [path.slice(0, path.lastIndexOf('/')), path.slice(path.lastIndexOf('/') + 1)];
      // A name that looks numbered, which is what keys and delivery ids may do.
      const made = name.replace('<n>', '0000000007').replace(/^<\w+>$/, '0000000007');
      expect(numberOf(place, made)).toBe(node === 'p n' ? 7 : undefined);
    },
  );

  test('have names without numbers, too', () => {
    expect(rows.length).toBeGreaterThan(20);
    expect(numberOf('outbox/spans', 'spent')).toBeUndefined();
    expect(numberOf('outbox/spans', '9999999999')).toBeUndefined();
  });
});

function losingReplies(store: Store, applied: boolean): Store {
  let writes = 0;
  return new Proxy(store, {
    get(target, name) {
      if (name === 'multi')
        return async (operations: Parameters<Store['multi']>[0]) => {
          const lost = writes++ % 2 === 1;
          if (!lost || applied) {
            const results = await target.multi(operations);
            if (!lost) return results;
          }
          throw new StoreError('ConnectionLoss', '/');
        };
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

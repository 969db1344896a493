import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, describe, expect, test } from 'vitest';
import { WatchTable } from '../../../../src/store/zookeeper/watch-table.ts';

describe('watch table', () => {
  let table: WatchTable;
  let heard: string[];
  let ended: string[];
  const watch = (path: string, name = path) =>
    table.add(
      path,
      event => heard.push(`${name}: ${event.kind} ${event.path}`),
      () => ended.push(path),
    );

  beforeEach(() => {
    table = new WatchTable();
    heard = [];
    ended = [];
  });

  test('an event goes to the watches of its path and of all paths above, to no other', async () => {
    for (const path of ['/', '/a', '/a/b', '/a/b/c', '/a/bc', '/b']) watch(path);
    table.announce({ kind: 'changed', path: '/a/b' });
    await nextTurn();
    expect(heard.toSorted()).toEqual(['/: changed /a/b', '/a/b: changed /a/b', '/a: changed /a/b']);
  });

  test('only the first watch of a path needs one at the server, and only the last takes it away', () => {
    const first = watch('/a');
    const second = watch('/a');
    expect([first.isFirst, second.isFirst, watch('/a/b').isFirst]).toEqual([true, false, true]);
    expect([...table.paths]).toEqual(['/a', '/a/b']);
    first.end();
    first.end();
    expect(ended).toEqual([]);
    second.end();
    second.end();
    expect(ended).toEqual(['/a']);
    expect([...table.paths]).toEqual(['/a/b']);
    expect(watch('/a').isFirst).toBe(true);
  });

  test('a watch that ended long ago does not end its successor', () => {
    const old = watch('/a');
    old.end();
    watch('/a');
    old.end();
    expect([...table.paths]).toEqual(['/a']);
    expect(ended).toEqual(['/a']);
  });

  test('missed events are reported to every watch at its own path', async () => {
    watch('/a', 'one');
    watch('/a', 'two');
    watch('/b');
    table.announceResync();
    await nextTurn();
    expect(heard).toEqual(['one: resync /a', 'two: resync /a', '/b: resync /b']);
  });

  test('a watch that ends between an event and its turn hears nothing', async () => {
    const watched = watch('/a');
    table.announce({ kind: 'created', path: '/a' });
    watched.end();
    await nextTurn();
    expect(heard).toEqual([]);
  });

  test('after a clear no listener is called and nothing is removed', async () => {
    const watched = watch('/a');
    table.announce({ kind: 'created', path: '/a' });
    table.clear();
    watched.end();
    await nextTurn();
    expect([heard, ended]).toEqual([[], []]);
  });
});

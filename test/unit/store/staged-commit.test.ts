import { describe, expect, test } from 'vitest';
import { openEmbeddedStore } from '../../../src/store/embedded/server.ts';
import { ensureNode } from '../../../src/store/ensure-node.ts';
import { acquireFence } from '../../../src/store/fence.ts';
import { check, create, type Operation, remove, type Store, set } from '../../../src/store/port.ts';
import {
  commitStaged,
  decodeOperations,
  encodeOperations,
  finishStaged,
} from '../../../src/store/staged-commit.ts';
import { FaultyStore } from './faulty-store.ts';

const SIZE = 500_000;
const NEW = ['/data/a', '/data/b', '/data/c', '/data/d'];
/** Over one multi by far: four big nodes, an old one gone, a counter moved. */
const OPERATIONS: readonly Operation[] = [
  ...NEW.map(path => create(path, new Uint8Array(SIZE).fill(7))),
  remove('/data/old'),
  set('/data/counter', new Uint8Array([1])),
];

async function prepare(store: Store): Promise<void> {
  for (const path of ['/staged', '/data/old', '/data/counter', '/guard']) await ensureNode(store, path);
}

async function depsOf(store: Store, guid: string) {
  const fence = await acquireFence(store, {
    lockPath: '/lock',
    epochPath: '/epoch',
    lastOperationPath: '/last',
    guid,
  });
  let ids = 0;
  return { fence, store, path: '/staged', newId: () => `${guid}-${++ids}` };
}

async function dataIn(store: Store): Promise<readonly string[]> {
  const counter = (await store.get('/data/counter'))?.stat.version;
  return [...((await store.children('/data')) ?? []), `counter ${counter}`];
}

const BEFORE = ['counter', 'old', 'counter 0'];
const AFTER = ['a', 'b', 'c', 'counter', 'd', 'counter 1'];

describe('a staged commit', () => {
  test('does everything, in order, and leaves nothing behind', async () => {
    await using server = openEmbeddedStore({ file: ':memory:' });
    const store = server.connect();
    await prepare(store);
    await commitStaged(await depsOf(store, 'one'), OPERATIONS, [check('/guard', 0)]);
    expect(await dataIn(store)).toEqual(AFTER);
    expect((await store.get('/data/a'))?.data).toEqual(new Uint8Array(SIZE).fill(7));
    expect(await store.children('/staged')).toEqual([]);
  });

  test('does nothing when a guard fails', async () => {
    await using server = openEmbeddedStore({ file: ':memory:' });
    const store = server.connect();
    await prepare(store);
    const deps = await depsOf(store, 'one');
    await expect(commitStaged(deps, OPERATIONS, [check('/guard', 3)])).rejects.toThrow(
      'BadVersion at /guard',
    );
    expect(await dataIn(store)).toEqual(BEFORE);
    expect(await finishStaged(deps)).toBe('removed');
    expect(await store.children('/staged')).toEqual([]);
  });

  test('is there whole or not at all, wherever its writer dies', async () => {
    const outcomes = new Set<string>();
    for (let at = 1; ; at++) {
      await using server = openEmbeddedStore({ file: ':memory:' });
      const session = server.connect();
      await prepare(session);
      const faulty = new FaultyStore(session);
      const deps = await depsOf(faulty, 'one');
      let writes = 0;
      faulty.beforeMulti = () => {
        writes += 1;
        if (writes >= at) faulty.giveUp();
        if (writes >= at) throw new Error('dead');
      };
      const isOver = await commitStaged(deps, OPERATIONS, []).then(
        () => true,
        () => false,
      );
      await server.expire(session.sessionId);
      const store = server.connect();
      const done = await finishStaged(await depsOf(store, 'two'));
      expect(await dataIn(store), `write ${at}`).toEqual(done === 'removed' || writes === 1 ? BEFORE : AFTER);
      expect(await store.children('/staged')).toEqual([]);
      outcomes.add(done);
      if (isOver) break;
    }
    expect(outcomes).toEqual(new Set(['nothing', 'removed', 'carried-out']));
  });

  test('is finished by no writer that lost its fence', async () => {
    await using server = openEmbeddedStore({ file: ':memory:' });
    const store = server.connect();
    await prepare(store);
    const deps = await depsOf(store, 'one');
    await store.multi([set('/epoch', new Uint8Array([9]))]);
    await expect(commitStaged(deps, OPERATIONS, [])).rejects.toThrow('no longer the holder');
    expect(await dataIn(store)).toEqual(BEFORE);
  });
});

test('operations are written down and read back as they are', () => {
  const operations: readonly Operation[] = [
    create('/a/ö-%2F', new Uint8Array([0, 10, 255]), { sequential: true }),
    create('/b', undefined, { ephemeral: true }),
    set('/c', new Uint8Array([10, 10]), 4),
    remove('/d', 2),
    check('/e'),
  ];
  expect(decodeOperations(encodeOperations(operations)).map(plain)).toEqual(operations.map(plain));
});

function plain(operation: Operation) {
  return 'data' in operation ? { ...operation, data: [...operation.data] } : operation;
}

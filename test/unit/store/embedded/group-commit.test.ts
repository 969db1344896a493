import { describe, expect, test } from 'vitest';
import type { Batch, Journal } from '../../../../src/store/embedded/journal.ts';
import { openEmbeddedStore } from '../../../../src/store/embedded/server.ts';
import { create, remove, set, type WatchEvent } from '../../../../src/store/port.ts';
import { eventually } from '../../../conformance/store/eventually.ts';

const NOTHING = new Uint8Array(0);

function recorded() {
  const batches: Batch[] = [];
  const faults = { next: undefined as Error | undefined };
  const journal: Journal = {
    boot: 1,
    commit: batch => {
      const fault = faults.next;
      if (fault !== undefined) throw fault;
      batches.push(batch);
      return undefined;
    },
    close: () => {},
  };
  const server = openEmbeddedStore({ file: 'recorded', openJournal: () => journal });
  return { server, store: server.connect(), batches, faults };
}

/** A disk whose writes end when the test says so. */
function slow() {
  const commits: (Pick<PromiseWithResolvers<void>, 'resolve' | 'reject'> & { paths: readonly string[] })[] =
    [];
  const journal: Journal = {
    boot: 1,
    commit({ nodes }) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      commits.push({ resolve, reject, paths: [...nodes.values()].flatMap(node => node?.path ?? []) });
      return promise;
    },
    close: () => {},
  };
  const server = openEmbeddedStore({ file: 'slow', openJournal: () => journal });
  const commit = async (number: number) => {
    await eventually(() => expect(commits).toHaveLength(number));
    return commits[number - 1] ?? expect.unreachable();
  };
  return { server, store: server.connect(), commits, commit };
}

async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol('pending');
  return (await Promise.race([promise, turnOfTheLoop().then(() => pending)])) !== pending;
}

/** All that could happen without the disk has happened. */
async function turnOfTheLoop(): Promise<void> {
  for (let turns = 0; turns < 5; turns++) await new Promise(resolve => setImmediate(resolve));
}

describe('group commit', () => {
  test('all that is asked for in one turn becomes one commit of the net effect', async () => {
    const { store, batches, server } = recorded();
    const other = server.connect();
    await Promise.all([
      store.multi([create('/a')]),
      other.multi([set('/a', NOTHING)]),
      store.multi([set('/a', NOTHING), create('/a/b')]),
      store.multi([create('/gone')]),
      other.multi([remove('/gone')]),
    ]);
    expect(batches).toHaveLength(1);
    const nodes = [...(batches[0]?.nodes.values() ?? [])];
    expect(nodes.map(node => node && [node.path, node.version])).toEqual([['/a', 2], ['/a/b', 0], undefined]);
  });

  test('a multi that fails, reads and ephemeral sets cost no commit', async () => {
    const { store, batches } = recorded();
    await store.multi([create('/e', NOTHING, { ephemeral: true })]);
    const before = batches.length;
    await store.multi([create('/x'), create('/x')]).catch(() => {});
    await store.multi([set('/e', NOTHING)]);
    await store.get('/e');
    await store.sync();
    await store.multi([remove('/e')]);
    expect(batches.length).toBe(before);
  });

  test('a commit that fails takes back the whole turn, notifies no watch, and rejects all as unknown', async () => {
    const { store, server, faults } = recorded();
    await store.multi([create('/a'), create('/a/x')]);
    const before = await store.get('/a');
    const events: WatchEvent[] = [];
    store.watch('/', event => events.push(event));
    faults.next = new Error('disk full');
    const results = await Promise.allSettled([
      store.multi([set('/a', new Uint8Array([1])), remove('/a/x')]),
      server.connect().multi([create('/a/e', NOTHING, { ephemeral: true }), create('/b')]),
      store.get('/a'),
      store.multi([create('/nowhere/x')]),
    ]);
    for (const result of results) {
      expect(result).toMatchObject({
        status: 'rejected',
        reason: { code: 'ConnectionLoss', cause: { message: 'disk full' } },
      });
    }
    expect(await store.get('/a')).toEqual(before);
    expect(await store.children('/')).toEqual(['a']);
    expect(await store.children('/a')).toEqual(['x']);
    expect(events).toEqual([]);

    faults.next = undefined;
    await store.multi([create('/a/', NOTHING, { sequential: true }), create('/b')]);
    expect(await store.children('/a')).toEqual(['0000000001', 'x']);
    await eventually(() => expect(events.map(event => event.path)).toEqual(['/a/0000000001', '/b']));
  });

  test('after a failed commit a sync insists on the disk before it answers', async () => {
    const { store, faults, batches } = recorded();
    faults.next = new Error('flush failed');
    await expect(store.multi([create('/a')])).rejects.toMatchObject({ code: 'ConnectionLoss' });
    await expect(store.sync()).rejects.toMatchObject({ code: 'ConnectionLoss' });
    faults.next = undefined;
    await store.sync();
    expect(batches).toHaveLength(1);
    await store.sync();
    expect(batches).toHaveLength(1);
  });

  test('a session ends and its ephemerals vanish although the disk is full', async () => {
    const { store, server, faults } = recorded();
    const other = server.connect();
    await store.multi([create('/e', NOTHING, { ephemeral: true })]);
    faults.next = new Error('disk full');
    const doomed = expect(other.multi([create('/x')])).rejects.toMatchObject({ code: 'ConnectionLoss' });
    await store.close();
    await doomed;
    expect(await other.children('/')).toEqual([]);
    await server.close();
  });

  test('an expired session ends although the commit of that turn fails', async () => {
    const { store, server, faults } = recorded();
    const other = server.connect();
    await store.multi([create('/e', NOTHING, { ephemeral: true })]);
    faults.next = new Error('disk full');
    const doomed = expect(other.multi([create('/x')])).rejects.toMatchObject({ code: 'ConnectionLoss' });
    await server.expire(store.sessionId);
    await doomed;
    expect(store.sessionState).toBe('lost');
    expect(await other.children('/')).toEqual([]);
  });

  test('a closed server makes no sessions', async () => {
    const { server, store } = recorded();
    await server.close();
    await server.close();
    expect(() => server.connect()).toThrow('Closed');
    expect(store.sessionState).toBe('lost');
  });
});

describe('while the disk takes what was written', () => {
  test('nothing is answered, seen or announced, and the loop goes on', async () => {
    const { store, server, commit } = slow();
    const other = server.connect();
    const seen: WatchEvent[] = [];
    other.watch('/', event => seen.push(event));
    const written = store.multi([create('/a')]);
    const { resolve } = await commit(1);
    const [listed, read] = [other.children('/'), other.get('/a')];
    expect(await isSettled(Promise.race([written, listed, read]))).toBe(false);
    expect(seen).toEqual([]);
    resolve();
    expect(await written).toEqual([{ path: '/a', version: 0 }]);
    expect(await listed).toEqual(['a']);
    expect(await read).toBeDefined();
    expect(seen).toEqual([{ kind: 'created', path: '/a' }]);
  });

  test('what is written meanwhile is one commit behind it, and calls keep their order', async () => {
    const { store, server, commits, commit } = slow();
    const other = server.connect();
    const first = store.multi([create('/a')]);
    await commit(1);
    const before = other.children('/');
    const later = [store.multi([create('/b')]), other.multi([create('/c')])];
    const after = other.children('/');
    await turnOfTheLoop();
    expect(commits).toHaveLength(1);
    commits[0]?.resolve();
    await first;
    expect(await before).toEqual(['a']);
    const { paths, resolve } = await commit(2);
    expect(paths).toEqual(['/b', '/c']);
    expect(await isSettled(Promise.race([...later, after]))).toBe(false);
    resolve();
    await Promise.all(later);
    expect(await after).toEqual(['a', 'b', 'c']);
  });

  test('a commit that fails in the end takes back its batch; what came behind it is committed', async () => {
    const { store, server, commit } = slow();
    const doomed = expect(store.multi([create('/a')])).rejects.toMatchObject({
      code: 'ConnectionLoss',
      cause: { message: 'disk gone' },
    });
    const { reject } = await commit(1);
    const listed = server.connect().children('/');
    const next = store.multi([create('/b')]);
    reject(new Error('disk gone'));
    await doomed;
    expect(await listed).toEqual([]);
    const { paths, resolve } = await commit(2);
    expect(paths).toEqual(['/b']);
    resolve();
    await next;
    expect(await store.children('/')).toEqual(['b']);
  });

  test('a session that expires does not see it', async () => {
    const { store, server, commits, commit } = slow();
    const other = server.connect();
    const written = store.multi([create('/a')]);
    await commit(1);
    const expired = server.expire(other.sessionId);
    commits[0]?.resolve();
    await Promise.all([written, expired]);
    await expect(other.children('/')).rejects.toMatchObject({ code: 'SessionExpired' });
  });

  test('the server closes when all is durable', async () => {
    const { store, server, commits, commit } = slow();
    const written = store.multi([create('/a')]);
    await commit(1);
    const closed = server.close();
    expect(await isSettled(closed)).toBe(false);
    commits[0]?.resolve();
    await Promise.all([written, closed]);
  });
});

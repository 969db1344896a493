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
    },
    close: () => {},
  };
  const server = openEmbeddedStore({ file: 'recorded', openJournal: () => journal });
  return { server, store: server.connect(), batches, faults };
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

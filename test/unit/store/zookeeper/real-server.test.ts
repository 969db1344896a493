/** Sessions on a real server that is stopped, killed and restarted under them. */
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Secret } from '../../../../src/lib/secret.ts';
import { ensureNode } from '../../../../src/store/ensure-node.ts';
import {
  check,
  create,
  remove,
  type SessionState,
  set,
  type WatchEvent,
} from '../../../../src/store/port.ts';
import { eventually } from '../../../conformance/store/eventually.ts';
import { startZooKeeper, type ZooKeeperServer } from '../../../fake/zookeeper/server.ts';
import { describeOnZooKeeper } from '../../../setup/zookeeper.ts';
import { openSessions, outcome } from './open-sessions.ts';

const EMPTY = new Uint8Array();

/** `R`, `S`, `T` (stopped)…, of each thread of a process. */
async function threadStates(pid: number): Promise<readonly string[]> {
  const threads = await readdir(`/proc/${pid}/task`);
  const lines = await Promise.all(
    threads.map(async thread => await readFile(`/proc/${pid}/task/${thread}/stat`, 'utf8')),
  );
  return lines.map(line => line.slice(line.lastIndexOf(')') + 2)[0] ?? '');
}

describeOnZooKeeper('sessions', () => {
  let server: ZooKeeperServer;
  beforeAll(async () => {
    server = await startZooKeeper({ tickMs: 100 });
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
  });
  const open = (more: Parameters<typeof openSessions>[1] = {}) =>
    openSessions([server], { sessionTimeoutMs: 1500, ...more });

  describe('a server that is stopped', () => {
    /** It always goes on afterwards: the other tests need it. */
    async function whileStopped(act: () => Promise<void>): Promise<void> {
      server.stop();
      try {
        // The signal stops thread by thread: some may still answer a request.
        await eventually(async () =>
          expect(new Set(await threadStates(server.pid()))).toEqual(new Set(['T'])),
        );
        await act();
      } finally {
        server.cont();
      }
    }

    test('leaves calls without an outcome, and the session time to find another one', async () => {
      await using sessions = open({ sessionTimeoutMs: 8000 });
      const store = await sessions.connect();
      await ensureNode(store, '/stopped');
      await whileStopped(async () => {
        const call = outcome(store.multi([create('/stopped/x', EMPTY, { ephemeral: true })]));
        expect(await call).toBe('ConnectionLoss');
        expect(store.sessionState).toBe('suspended');
      });
      await eventually(() => expect(store.sessionState).toBe('connected'));
      // The outcome of the call is now final.
      await store.sync();
      const before = await store.children('/stopped');
      await pause(300);
      await store.sync();
      expect(await store.children('/stopped')).toEqual(before);
    });

    test('for longer than the timeout loses sessions, which then never come back', async () => {
      await using sessions = open();
      const store = await sessions.connect();
      await whileStopped(async () => {
        await eventually(() => expect(store.sessionState).toBe('lost'));
      });
      expect(await outcome(store.get('/'))).toBe('SessionExpired');
      const next = await sessions.connect();
      expect(next.sessionState).toBe('connected');
      expect(store.sessionState).toBe('lost');
    });
  });

  describe('a server that is killed and comes back', () => {
    test('goes on with the session; everything that was answered is there', async () => {
      await using sessions = open({ sessionTimeoutMs: 10_000 });
      const store = await sessions.connect();
      await ensureNode(store, '/killed');
      await store.multi([create('/killed/mine', EMPTY, { ephemeral: true })]);
      const id = store.sessionId;
      await server.restart();
      await eventually(() => expect(store.sessionState).toBe('connected'));
      expect(store.sessionId).toBe(id);
      expect((await store.get('/killed/mine'))?.stat.ephemeralOwner).toBe(id);
    });

    test('sends every watch a resync, and then changes as before', async () => {
      await using sessions = open({ sessionTimeoutMs: 10_000 });
      const store = await sessions.connect();
      const other = await sessions.connect();
      await ensureNode(store, '/watched/a');
      const events: WatchEvent[] = [];
      for (const path of ['/watched', '/watched/a', '/nothing-yet'])
        store.watch(path, event => events.push(event));
      await store.sync();
      await server.restart();
      await eventually(() => expect(store.sessionState).toBe('connected'));
      expect(events).toEqual(
        ['/watched', '/watched/a', '/nothing-yet'].map(path => ({ kind: 'resync', path })),
      );
      await eventually(() => expect(other.sessionState).toBe('connected'));
      // A reader asks behind the watches, on the same connection; another session may be faster than they are set.
      await store.sync();
      await other.multi([create('/watched/a/b'), create('/nothing-yet')]);
      await eventually(() =>
        expect(events.slice(3)).toEqual([
          { kind: 'created', path: '/watched/a/b' },
          { kind: 'created', path: '/watched/a/b' },
          { kind: 'created', path: '/nothing-yet' },
        ]),
      );
    });

    test('takes eleven thousand watches again', async () => {
      await using sessions = open({ sessionTimeoutMs: 20_000 });
      const store = await sessions.connect();
      const paths = Array.from({ length: 11_000 }, (_, index) => `/many/${'x'.repeat(95)}-${index}`);
      const events = new Map<string, number>();
      for (const path of paths)
        store.watch(path, ({ kind }) => events.set(kind, (events.get(kind) ?? 0) + 1));
      await ensureNode(store, '/many');
      await server.restart();
      await eventually(() => expect(store.sessionState).toBe('connected'), 20_000);
      expect(events.get('resync')).toBe(paths.length);
      await store.sync();
      await store.multi([create(paths.at(-1) ?? ''), create(paths[0] ?? '')]);
      await eventually(() => expect(events.get('created')).toBe(2));
      expect(store.sessionState).toBe('connected');
    });
  });

  describe('a session', () => {
    test('that only hears events outlives several timeouts', async () => {
      await using sessions = open();
      const store = await sessions.connect();
      const writer = await sessions.connect();
      await ensureNode(writer, '/talkative');
      let heard = 0;
      store.watch('/talkative', () => heard++);
      const states: SessionState[] = [];
      store.onSessionState(state => states.push(state));
      const started = performance.now();
      while (performance.now() - started < 3500) {
        await writer.multi([set('/talkative', EMPTY)]);
        await pause(50);
      }
      expect(heard).toBeGreaterThan(20);
      expect(states).not.toContain('lost');
      expect(await outcome(store.get('/talkative'))).toBe('done');
    });

    test('checks version 0 as any other', async () => {
      await using sessions = open();
      const store = await sessions.connect();
      await ensureNode(store, '/versions');
      await store.multi([set('/versions', EMPTY)]);
      for (const operation of [set('/versions', EMPTY, 0), remove('/versions', 0), check('/versions', 0)]) {
        expect(await outcome(store.multi([operation]))).toBe('BadVersion');
        expect(await outcome(store.multi([operation, check('/')]))).toBe('BadVersion');
      }
    });

    test('may write a multi of the largest size and read it back with others', async () => {
      await using sessions = open();
      const store = await sessions.connect();
      await ensureNode(store, '/large');
      const data = new Uint8Array(499_000).fill(7);
      await store.multi([create('/large/a', data), create('/large/b', data)]);
      const nodes = await store.getMany(['/large/a', '/none', '/large/b']);
      expect(nodes.map(node => node?.data.byteLength)).toEqual([499_000, undefined, 499_000]);
      expect(await outcome(store.multi([create('/large/c', new Uint8Array(1_000_001))]))).toBe('TooLarge');
      expect(store.sessionState).toBe('connected');
    });

    test('reads thousands of nodes in pieces, each at its place', async () => {
      await using sessions = open({ sessionTimeoutMs: 10_000 });
      const store = await sessions.connect();
      await ensureNode(store, '/pieces');
      const paths = Array.from({ length: 2001 }, (_, index) => `/pieces/${index}`);
      await store.multi(paths.map(path => create(path, Buffer.from(path))));
      const nodes = await store.getMany(paths);
      expect(nodes.map(node => Buffer.from(node?.data ?? []).toString())).toEqual(paths);
    });

    test('is over when a client with its number and password closed it', async () => {
      await using sessions = open();
      const store = await sessions.connect();
      const { id, password } = store.credentials();
      expect(BigInt.asUintN(64, id).toString(16)).toBe(store.sessionId);
      expect(password).toHaveLength(16);
    });
  });

  describe('access', () => {
    const auth = (password: string) => ({ auth: { user: 'gate', password: new Secret(password) } });

    test('nodes of an authenticated session are for its user alone', async () => {
      await using ours = open(auth('right'));
      await using theirs = open(auth('wrong'));
      await using nobodys = open();
      const store = await ours.connect();
      await ensureNode(store, '/ours/deep');
      for (const stranger of [await theirs.connect(), await nobodys.connect()]) {
        await stranger.sync();
        expect(await outcome(stranger.get('/ours'))).toBe('Auth');
        expect(await outcome(stranger.children('/ours'))).toBe('Auth');
        expect(await outcome(stranger.getMany(['/', '/ours']))).toBe('Auth');
        expect(await outcome(stranger.multi([create('/ours/x')]))).toBe('Auth');
        expect(await outcome(stranger.multi([check('/'), set('/ours', EMPTY)]))).toBe('Auth');
      }
      expect(await outcome((await ours.connect()).get('/ours/deep'))).toBe('done');
    });

    test('a client that may not read the root gets an error when connecting', async () => {
      await using ours = open(auth('right'));
      await ensureNode(await ours.connect(), '/root-of-ours');
      await using theirs = open({ ...auth('wrong'), root: '/root-of-ours' });
      expect(await outcome(theirs.connect())).toBe('Auth');
    });

    test('is regained after the connection broke', async () => {
      await using ours = open({ ...auth('right'), sessionTimeoutMs: 10_000 });
      const store = await ours.connect();
      await ensureNode(store, '/regained');
      await server.restart();
      await eventually(() => expect(store.sessionState).toBe('connected'));
      expect(await outcome(store.multi([set('/regained', EMPTY)]))).toBe('done');
    });
  });
});

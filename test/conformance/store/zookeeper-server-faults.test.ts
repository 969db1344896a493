/** The server itself dies, freezes, or throws sessions out. Each test has a server of its own. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { create, type Store, type WatchEvent } from '../../../src/store/port.ts';
import { startZooKeeper, type ZooKeeperServer } from '../../fake/zookeeper/server.ts';
import { describeOnZooKeeper } from '../../setup/zookeeper.ts';
import { eventually } from './eventually.ts';
import { type FencedWriter, logProblems, readLog, startFencedWriter } from './fenced-writer.ts';
import { freshRoot } from './fresh-root.ts';
import { StateLog } from './state-log.ts';
import { expireSession, openSource } from './zookeeper-sessions.ts';

const NOTHING = new Uint8Array(0);

describeOnZooKeeper('a server', () => {
  let stack: AsyncDisposableStack;
  let server: ZooKeeperServer;
  let root: string;

  beforeEach(async () => {
    stack = new AsyncDisposableStack();
    server = stack.use(await startZooKeeper());
    root = freshRoot();
  });
  afterEach(async () => await stack.disposeAsync());

  async function connect(sessionTimeoutMs: number, name = 'test'): Promise<Store> {
    return await stack.use(openSource([server], { sessionTimeoutMs })).connect(name);
  }
  async function writer(store: () => Promise<Store>): Promise<FencedWriter> {
    const started = startFencedWriter({ root, connect: store });
    await eventually(() => expect(started.acknowledged.length).toBeGreaterThan(10));
    return started;
  }

  test('killed and started again within the session: same sessions, ephemerals and locks, and no acknowledged write is lost', async () => {
    const observer = await connect(30_000, 'observer');
    await observer.multi([
      create(root),
      create(`${root}/log`),
      create(`${root}/mine`, NOTHING, { ephemeral: true }),
    ]);
    const events: WatchEvent[] = [];
    observer.watch(root, event => events.push(event));
    await observer.sync();
    const log = new StateLog(observer);
    const session = observer.sessionId;
    const work = await writer(() => connect(30_000, 'writer'));
    const { epoch } = work;
    await server.kill();
    await eventually(() => expect(log.states).toEqual(['suspended']));
    await server.restart();
    const before = work.acknowledged.length;
    await eventually(() => expect(work.acknowledged.length).toBeGreaterThan(before + 10), 20_000);
    await work[Symbol.asyncDispose]();
    await eventually(() => expect(log.states).toEqual(['suspended', 'connected']));
    expect(observer.sessionId).toBe(session);
    expect((await observer.get(`${root}/mine`))?.stat.ephemeralOwner).toBe(session);
    expect(events.filter(event => event.kind === 'resync')).toEqual([{ kind: 'resync', path: root }]);
    expect(work.epoch).toBe(epoch);
    expect(work.sessions).toHaveLength(1);
    expect(logProblems(await readLog(observer, root), [work])).toEqual([]);
  });

  test('frozen for less than the session: suspended meanwhile, then as before', async () => {
    const store = await connect(5000);
    const log = new StateLog(store);
    const session = store.sessionId;
    await store.multi([create(root), create(`${root}/mine`, NOTHING, { ephemeral: true })]);
    server.stop();
    await eventually(() => expect(log.states).toEqual(['suspended']), 4500);
    server.cont();
    await eventually(() => expect(log.states).toEqual(['suspended', 'connected']));
    expect(store.sessionId).toBe(session);
    expect((await store.get(`${root}/mine`))?.stat.ephemeralOwner).toBe(session);
  });

  test('frozen for longer than the session: lost by our own clock; a new session is had once it thaws', async () => {
    const store = await connect(1500);
    const log = new StateLog(store);
    server.stop();
    await eventually(() => expect(log.states).toEqual(['suspended', 'lost']), 5000);
    await expect(store.get('/')).rejects.toMatchObject({ code: 'SessionExpired' });
    const next = connect(10_000, 'next');
    server.cont();
    const again = await next;
    expect(again.sessionId).not.toBe(store.sessionId);
    await again.multi([create(root)]);
  });

  test('that is not there yet is waited for, and waiting can be given up', async () => {
    await server.kill();
    const source = stack.use(openSource([server]));
    await expect(source.connect('impatient', AbortSignal.timeout(300))).rejects.toThrow(/timeout/);
    const patient = source.connect('patient');
    await server.restart();
    expect((await patient).sessionState).toBe('connected');
  });

  test('that throws out the holder of a lock: the successor takes over at once, and the holder with a new session after it', async () => {
    const observer = await connect(20_000, 'observer');
    await observer.multi([create(root), create(`${root}/log`)]);
    const holder = await writer(() => connect(20_000, 'holder'));
    const successor = startFencedWriter({ root, connect: () => connect(20_000, 'successor') });
    const [session] = holder.sessions;
    if (session === undefined) throw new Error('the holder has no session');
    const { epoch } = holder;
    await expireSession(session, server);
    await eventually(() => expect(successor.acknowledged.length).toBeGreaterThan(5), 5000);
    // It learns of its end when it asks the server again.
    await eventually(() => expect(session.sessionState).toBe('lost'));
    expect(successor.epoch).toBeGreaterThan(epoch);
    await successor[Symbol.asyncDispose]();
    await eventually(() => expect(holder.epoch).toBeGreaterThan(successor.epoch));
    await holder[Symbol.asyncDispose]();
    expect(holder.sessions).toHaveLength(2);
    expect(logProblems(await readLog(observer, root), [holder, successor])).toEqual([]);
  });
});

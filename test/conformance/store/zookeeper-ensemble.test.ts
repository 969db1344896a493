/**
 * Three servers: one, two, none of them there, while a client writes.
 *
 * On a loaded machine an election may take the servers 10 or 20 s (a leader whose followers come late gives up after `initLimit`
 * and begins again), so what is asked of the client counts from the moment there is a leader, and sessions are longer than that.
 */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { create, type Store } from '../../../src/store/port.ts';
import { startEnsemble, type ZooKeeperEnsemble } from '../../fake/zookeeper/ensemble.ts';
import { mode } from '../../fake/zookeeper/four-letter.ts';
import { describeOnZooKeeper } from '../../setup/zookeeper.ts';
import { eventually } from './eventually.ts';
import { type FencedWriter, logProblems, readLog, startFencedWriter } from './fenced-writer.ts';
import { freshRoot } from './fresh-root.ts';
import { StateLog } from './state-log.ts';
import { openSource } from './zookeeper-sessions.ts';

/** The longest the servers grant. */
const SESSION_TIMEOUT_MS = 60_000;
const FROZEN_SESSION_TIMEOUT_MS = 20_000;

describeOnZooKeeper('an ensemble', () => {
  // One for all tests: each heals it in the end, and three servers take three seconds of a processor to start.
  let ensemble: ZooKeeperEnsemble;
  let stack: AsyncDisposableStack;
  let observer: Store;
  let root: string;

  beforeAll(async () => {
    ensemble = await startEnsemble(3);
  });
  afterAll(async () => await ensemble[Symbol.asyncDispose]());
  beforeEach(async () => {
    stack = new AsyncDisposableStack();
    await ensemble.serving();
    const source = stack.use(openSource(ensemble.hosts, { sessionTimeoutMs: SESSION_TIMEOUT_MS }));
    observer = await source.connect('observer');
    root = freshRoot();
    await observer.multi([create(root), create(`${root}/log`)]);
  });
  afterEach(async () => await stack.disposeAsync());

  async function startWriter(sessionTimeoutMs = SESSION_TIMEOUT_MS): Promise<FencedWriter> {
    const source = stack.use(openSource(ensemble.hosts, { sessionTimeoutMs }));
    const writer = stack.use(
      startFencedWriter({ root, connect: async signal => await source.connect('writer', signal) }),
    );
    await progress(writer);
    return writer;
  }
  /** Deadline: 30 s from when there is a leader. */
  async function progress(writer: FencedWriter): Promise<void> {
    await ensemble.leader();
    await moreWrites(writer, 30_000);
  }
  async function moreWrites(writer: FencedWriter, deadlineMs: number): Promise<void> {
    const before = writer.acknowledged.length;
    await eventually(() => expect(writer.acknowledged.length).toBeGreaterThan(before + 20), deadlineMs);
  }

  test('loses its leader under load, three times over: same session, same epoch, no acknowledged write is lost', {
    timeout: 300_000,
  }, async () => {
    const writer = await startWriter();
    const { epoch } = writer;
    for (let round = 0; round < 3; round++) {
      const leader = await ensemble.leader();
      await leader.kill();
      await progress(writer);
      await leader.restart();
      await ensemble.serving();
    }
    await writer[Symbol.asyncDispose]();
    expect(writer.sessions).toHaveLength(1);
    expect(writer.epoch).toBe(epoch);
    expect(logProblems(await readLog(observer, root), [writer])).toEqual([]);
  });

  test('with a frozen leader elects another; the frozen one comes back as a follower and nothing is lost', {
    timeout: 300_000,
  }, async () => {
    const writer = await startWriter(FROZEN_SESSION_TIMEOUT_MS);
    const leader = await ensemble.leader();
    leader.stop();
    // The client cuts a silent connection after half its timeout; a session that ends meanwhile is followed by another.
    await moreWrites(writer, 90_000);
    leader.cont();
    // Until it has noticed it goes on answering reads, and even sync, with what was so when it froze.
    await eventually(async () => expect(await mode(leader.port)).toBe('follower'), 20_000);
    await progress(writer);
    await writer[Symbol.asyncDispose]();
    expect(logProblems(await readLog(observer, root), [writer])).toEqual([]);
  });

  test('without a quorum no session believes it holds a lock and nothing is acknowledged; healed, work goes on', {
    timeout: 120_000,
  }, async () => {
    const writer = await startWriter();
    const log = new StateLog(observer);
    // A follower of ZooKeeper 3.8.0 that loses its leader may forget what it has acknowledged (ZOOKEEPER-4712): the leader is left.
    const last = await ensemble.leader();
    const [first, second] = ensemble.members.filter(member => member !== last);
    await Promise.all([first?.kill(), second?.kill()]);
    await eventually(async () => expect(await mode(last.port)).toBeUndefined(), 30_000);
    // Half the session's timeout after the last proof of life.
    await eventually(() => expect(log.states).toContain('suspended'), SESSION_TIMEOUT_MS);
    await eventually(
      () => expect(writer.sessions.at(-1)?.sessionState).not.toBe('connected'),
      SESSION_TIMEOUT_MS,
    );
    const acknowledged = writer.acknowledged.length;
    const effects = writer.effects.length;
    // The one that is left takes connections and sends them away again.
    await new Promise(resolve => setTimeout(resolve, 1000));
    expect(writer.acknowledged.length).toBe(acknowledged);
    expect(writer.effects.length).toBe(effects);
    await Promise.all([first?.restart(), second?.restart()]);
    await ensemble.serving();
    await progress(writer);
    await writer[Symbol.asyncDispose]();
    expect(logProblems(await readLog(observer, root), [writer])).toEqual([]);
  });
});

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Part, type Supervision, supervise } from '../../../../src/cmd/service/supervise.ts';
import { systemClock } from '../../../../src/lib/clock.ts';
import type { Log } from '../../../../src/lib/log.ts';
import { settle } from '../../../../src/store/connection.ts';
import { type EmbeddedStore, openEmbeddedStore } from '../../../../src/store/embedded/server.ts';
import { type Store, StoreError } from '../../../../src/store/port.ts';
import { eventually } from '../../../conformance/store/eventually.ts';
import { FaultyStore } from '../../store/faulty-store.ts';

let server: EmbeddedStore;
let events: string[];
let lines: string[];

beforeEach(() => {
  server = openEmbeddedStore({ file: ':memory:' });
  events = [];
  lines = [];
});
afterEach(() => server.close());

const log: Log = {
  debug: () => {},
  info: (_facts, text) => void lines.push(`info ${text}`),
  warn: (_facts, text) => void lines.push(`warn ${text}`),
  error: (_facts, text) => void lines.push(`error ${text}`),
  child: () => log,
};

class TestPart implements Part {
  readonly session: Store;
  readonly end = Promise.withResolvers<void>();
  readonly ended = this.end.promise;
  constructor(session: Store) {
    this.session = session;
    events.push('started');
  }
  async close() {
    events.push('closed');
    this.end.resolve();
  }
}

function run(more: Partial<Supervision<TestPart>> = {}) {
  return supervise<TestPart>({
    name: 'merger',
    storeName: 'ZooKeeper at zk1:2181',
    connect: async signal => {
      signal.throwIfAborted();
      return server.connect();
    },
    start: async session => new TestPart(session),
    clock: systemClock(),
    log,
    random: () => 0,
    backoff: { firstMs: 1, maxMs: 1 },
    ...more,
  });
}

describe('a supervised part', () => {
  test('starts on a session, and is closed with it', async () => {
    const supervised = run();
    const part = await supervised.begun;
    expect(supervised.current()).toBe(part);
    expect(supervised.notReady()).toBeUndefined();
    await supervised.close();
    await supervised.ended;
    expect(events).toEqual(['started', 'closed']);
    expect(part.session.sessionState).toBe('lost');
    expect(supervised.current()).toBeUndefined();
    expect(supervised.notReady()).toBeUndefined();
  });

  test('whose session is lost is closed and started again on another one, with one line in the log', async () => {
    const supervised = run();
    const first = await supervised.begun;
    await server.expire(first.session.sessionId);
    await eventually(() => supervised.current() !== undefined && supervised.current() !== first);
    expect(events).toEqual(['started', 'closed', 'started']);
    expect(lines).toEqual(['warn merger lost its session with the store and reconnects']);
    await supervised.close();
  });

  test('that ends because it noticed the loss first joins again as well', async () => {
    const supervised = run();
    const first = await supervised.begun;
    first.end.reject(new StoreError('SessionExpired', '/'));
    await eventually(() => events.length === 3);
    await supervised.close();
    await supervised.ended;
  });

  test('that fails for another reason ends, closed, with its failure', async () => {
    const supervised = run();
    const part = await supervised.begun;
    part.end.reject(new Error('the disk is full'));
    await expect(supervised.ended).rejects.toThrow('the disk is full');
    expect(events).toEqual(['started', 'closed']);
    expect(part.session.sessionState).toBe('lost');
  });

  test('whose start fails ends with that failure, and rejects the wait for its beginning', async () => {
    const supervised = run({ start: () => Promise.reject(new Error('no sandbox')) });
    await expect(supervised.begun).rejects.toThrow('no sandbox');
    await expect(supervised.ended).rejects.toThrow('no sandbox');
  });

  test('whose start loses contact is started again', async () => {
    let starts = 0;
    const supervised = run({
      start: async session => {
        starts += 1;
        if (starts < 3) throw new StoreError('ConnectionLoss', '/');
        return new TestPart(session);
      },
    });
    await supervised.begun;
    expect(starts).toBe(3);
    await supervised.close();
  });

  test('says what it waits for while the store does not answer, and can be closed meanwhile', async () => {
    const supervised = run({
      connect: signal =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    });
    expect(supervised.notReady()).toBe('waiting for ZooKeeper at zk1:2181');
    await supervised.close();
    await supervised.ended;
    expect(events).toEqual([]);
  });

  test('can be closed while it starts: the start ends with its session', async () => {
    const supervised = run({
      start: session =>
        new Promise((_, reject) =>
          session.onSessionState(() => reject(new StoreError('SessionExpired', '/'))),
        ),
    });
    await eventually(() => supervised.notReady() === 'starting');
    await supervised.close();
    await supervised.ended;
  });

  test('that waits for contact to give back what it holds goes with its session after a while', async () => {
    const sessions: FaultyStore[] = [];
    const supervised = run({
      closeGraceMs: 10,
      connect: async () => {
        const session = new FaultyStore(server.connect());
        sessions.push(session);
        return session;
      },
      start: async session => {
        const ended = new Promise<void>(() => {});
        const close = () => settle(session, () => session.get('/')).then(() => {});
        return Object.assign(new TestPart(session), { ended, close });
      },
    });
    await supervised.begun;
    sessions[0]?.suspend();
    await supervised.close();
    await supervised.ended;
  });

  test('restarts after any failure if all are retryable', async () => {
    const supervised = run({ isRetryable: () => true });
    const part = await supervised.begun;
    part.end.reject(new Error('a row of a newer version'));
    await eventually(() => events.length === 3);
    expect(lines).toEqual(['error merger failed and restarts']);
    await supervised.close();
  });

  test('a failure to close cleanly is logged and stops nothing', async () => {
    class StuckPart extends TestPart {
      override close(): Promise<void> {
        return Promise.reject(new Error('stuck'));
      }
    }
    const supervised = run({ start: async session => new StuckPart(session) });
    await supervised.begun;
    await supervised.close();
    await supervised.ended;
    expect(lines).toEqual(['error merger could not be closed cleanly']);
  });
});

import { describe, expect, test } from 'vitest';
import { create, type Store, StoreError, set } from '../../../src/store/port.ts';
import { type Incarnation, incarnate } from '../kernel/incarnation.ts';
import { Kernel } from '../kernel/kernel.ts';
import { SimProcess } from '../kernel/process.ts';
import { stream } from '../kernel/random.ts';
import { StoreServer } from '../store/server.ts';
import { type LineFaults, SimSession } from '../store/session.ts';

const TIMEOUT = 6_000;
const data = (text: string) => new TextEncoder().encode(text);
const text = (bytes: Uint8Array | undefined) =>
  bytes === undefined ? undefined : new TextDecoder().decode(bytes);

function stand(faults: Partial<LineFaults> = {}) {
  const kernel = new Kernel(1);
  const server = new StoreServer(kernel, stream(1, 'server'));
  let made = 0;
  function connect(name: string) {
    const process = new SimProcess(name);
    process.generation = 1;
    process.alive = true;
    process.starts = 1;
    const life: Incarnation = incarnate(kernel, process, 1, () => {});
    const session = new SimSession(life, {
      kernel,
      server,
      random: stream(1, `line ${++made}`),
      faults: { delay: () => 1, breakWith: () => undefined, ...faults },
      timeoutMs: TIMEOUT,
      reached: () => {},
    });
    return { process, session };
  }
  /** Runs until the promise is settled. */
  async function done<T>(promise: Promise<T>): Promise<T> {
    let settled = false;
    const noted = () => {
      settled = true;
    };
    promise.then(noted, noted);
    const end = await kernel.run(() => settled, kernel.now + 600_000);
    if (!settled) throw new Error(`not settled: ${end}`);
    return await promise;
  }
  const pass = (ms: number) => kernel.run(() => false, kernel.now + ms);
  return { kernel, server, connect, done, pass };
}

async function codeOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return 'no error';
  } catch (error) {
    return error instanceof StoreError ? error.code : String(error);
  }
}

describe('a simulated session', () => {
  test('reads what it has written, however far its server lags behind', async () => {
    const { connect, done, server } = stand();
    for (const index of [0, 1, 2]) server.setLag(index, 10_000);
    const { session } = connect('a');
    await done(session.multi([create('/x', data('1'))]));
    expect(text((await done(session.get('/x')))?.data)).toBe('1');
  });

  test('may read old data of others until it asks for fresh data', async () => {
    const { connect, done, server } = stand();
    const [writer, reader] = [connect('a').session, connect('b').session];
    await done(writer.multi([create('/x', data('old'))]));
    await done(reader.sync());
    for (const index of [0, 1, 2]) server.setLag(index, 100_000);
    await done(writer.multi([set('/x', data('new'))]));
    expect(text((await done(reader.get('/x')))?.data)).toBe('old');
    await done(reader.sync());
    expect(text((await done(reader.get('/x')))?.data)).toBe('new');
  });

  test('hears of a change before it can read it', async () => {
    const { connect, done } = stand();
    const [writer, reader] = [connect('a').session, connect('b').session];
    await done(writer.multi([create('/x')]));
    const heard: string[] = [];
    reader.watch('/x', event => heard.push(`${event.kind} ${event.path}`));
    await done(writer.multi([create('/x/child')]));
    expect(await done(reader.children('/x'))).toEqual(['child']);
    expect(heard).toEqual(['created /x/child']);
  });

  test('does not know the outcome of a call whose line broke: lost on the way it was not done, lost on the way back it was', async () => {
    for (const [where, expected] of [
      ['request', undefined],
      ['reply', 'done'],
    ] as const) {
      let fault: 'request' | 'reply' | undefined = where;
      const { connect, done } = stand({
        breakWith: () => {
          const now = fault;
          fault = undefined;
          return now;
        },
      });
      const { session } = connect('a');
      expect(await codeOf(done(session.multi([create('/x', data('done'))])))).toBe('ConnectionLoss');
      expect(session.sessionState).toBe('suspended');
      await done(connectedAgain(session));
      await done(session.sync());
      expect(text((await done(session.get('/x')))?.data)).toBe(expected);
    }
  });

  test('does nothing of a call whose line breaks as it is sent', async () => {
    const { kernel, connect, done, pass } = stand();
    const { session } = connect('a');
    kernel.onPoint = (_point, phase) => {
      if (phase === 'before') session.break('a test');
    };
    const call = session.multi([create('/x')]);
    kernel.onPoint = () => {};
    expect(await codeOf(done(call))).toBe('ConnectionLoss');
    await pass(2_000);
    await done(session.sync());
    expect(await done(session.get('/x'))).toBeUndefined();
  });

  test('makes every watcher read again after it was out of contact', async () => {
    const { connect, done, pass } = stand();
    const [writer, reader] = [connect('a').session, connect('b').session];
    await done(writer.multi([create('/x')]));
    const heard: string[] = [];
    reader.watch('/x', event => heard.push(event.kind));
    reader.break('a test');
    await pass(1);
    await done(writer.multi([set('/x', data('2'))]));
    await pass(2_000);
    expect(heard).toEqual(['resync']);
    expect(reader.sessionState).toBe('connected');
  });

  test('counts as suspended after half the timeout of silence, by the clock, before any timer rings', async () => {
    const { kernel, connect, pass } = stand();
    const { process, session } = connect('a');
    process.paused = true;
    session.silence();
    await pass(TIMEOUT / 2 - 1);
    expect(session.sessionState).toBe('connected');
    await pass(2);
    expect(session.sessionState).toBe('suspended');
    void kernel;
  });

  test('is over at the server after the timeout, with its ephemerals, and learns of it when it is back', async () => {
    const { kernel, connect, done, pass, server } = stand();
    const [other, { process, session }] = [connect('b').session, connect('a')];
    await done(session.multi([create('/mine', undefined, { ephemeral: true })]));
    const states: string[] = [];
    session.onSessionState(state => states.push(state));
    process.paused = true;
    session.silence();
    await pass(TIMEOUT + 1);
    expect(server.leader.find('/mine')).toBeUndefined();
    expect(await done(other.get('/mine'))).toBeUndefined();
    kernel.resume(process);
    session.resume();
    expect(session.sessionState).toBe('suspended');
    await pass(2_000);
    expect(states).toEqual(['suspended', 'lost']);
    expect(await codeOf(session.get('/mine'))).toBe('SessionExpired');
  });

  test('of a killed process never answers, and ends at the server by itself', async () => {
    const { kernel, connect, pass, server } = stand();
    const { process, session } = connect('a');
    let answered = false;
    session.multi([create('/x', undefined, { ephemeral: true })]).then(
      () => {
        answered = true;
      },
      () => {
        answered = true;
      },
    );
    kernel.kill(process);
    session.silence();
    await pass(TIMEOUT + 100);
    expect(answered).toBe(false);
    expect(server.leader.find('/x')).toBeUndefined();
  });
});

function connectedAgain(store: Store): Promise<void> {
  return new Promise(resolve => {
    store.onSessionState(state => {
      if (state === 'connected') resolve();
    });
  });
}

/** What a session does when servers do not behave, on a server that follows a script. */

import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { Secret } from '../../../../src/lib/secret.ts';
import { create, type SessionState, set, type WatchEvent } from '../../../../src/store/port.ts';
import { JuteWriter } from '../../../../src/store/zookeeper/jute.ts';
import { EVENT, OP } from '../../../../src/store/zookeeper/wire.ts';
import { eventually } from '../../../conformance/store/eventually.ts';
import { slowness } from '../../../fake/slowness.ts';
import { openSessions, outcome } from './open-sessions.ts';
import { type Script, ScriptedServer, TIMEOUT_MS } from './scripted-server.ts';

async function scripted(script: Script = {}, more: Parameters<typeof openSessions>[1] = {}) {
  const server = new ScriptedServer(script);
  const sessions = openSessions([await server.listen()], more);
  return {
    server,
    sessions,
    [Symbol.asyncDispose]: async () => {
      script.silent = false;
      await sessions[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

const NOTHING = new Uint8Array();

describe.concurrent('silence', () => {
  test('a server that falls silent is noticed: suspended at half the timeout, lost at the whole', async () => {
    await using t = await scripted();
    const store = await t.sessions.connect();
    const states: SessionState[] = [];
    store.onSessionState(state => states.push(state));
    t.server.script.silent = true;
    const started = performance.now();
    const calls = [store.get('/a'), store.multi([set('/a', NOTHING)]), store.sync()].map(outcome);
    await eventually(() => expect(store.sessionState).toBe('suspended'));
    // The last proof was up to a sixth and a tick old.
    expect(performance.now() - started).toBeGreaterThan(TIMEOUT_MS / 6);
    expect(await Promise.all(calls)).toEqual(['ConnectionLoss', 'ConnectionLoss', 'ConnectionLoss']);
    await eventually(() => expect(states.at(-1)).toBe('lost'));
    expect(performance.now() - started).toBeLessThan(TIMEOUT_MS * 2 * slowness());
    expect(await outcome(store.get('/a'))).toBe('SessionExpired');
  });

  test('a connection that keeps silent is left for another server, in time for the session', async () => {
    await using first = new ScriptedServer({ timeoutMs: 3000 });
    await using second = new ScriptedServer({ timeoutMs: 3000 });
    await using sessions = openSessions([await first.listen(), await second.listen()], {
      random: () => 0,
      sessionTimeoutMs: 3000,
    });
    const store = await sessions.connect();
    const states: SessionState[] = [];
    store.onSessionState(state => states.push(state));
    first.script.silent = true;
    const call = outcome(store.get('/a'));
    await eventually(() => expect(states).toEqual(['suspended', 'connected']));
    expect(await call).toBe('ConnectionLoss');
    expect([first.connections, second.connections]).toEqual([1, 1]);
    expect(await outcome(store.get('/a'))).toBe('done');
  });

  test('a session that only hears events proves itself all the same, and stays', async () => {
    await using t = await scripted();
    const store = await t.sessions.connect();
    const states: SessionState[] = [];
    store.onSessionState(state => states.push(state));
    const events: WatchEvent[] = [];
    store.watch('/a', event => events.push(event));
    const started = performance.now();
    while (performance.now() - started < 2.5 * TIMEOUT_MS) {
      t.server.notify(EVENT.changed, '/a/b');
      await pause(20);
    }
    expect(events.length).toBeGreaterThan(20);
    expect(states).not.toContain('lost');
    const proofs = t.server.kinds(0).filter(kind => kind === OP.sync);
    expect(proofs.length).toBeGreaterThan(5);
    // And not one more than that is asked for.
    expect(proofs.length).toBeLessThan(25);
  });

  test('what a follower may answer alone does not renew the lease; what its leader decides does', async () => {
    await using t = await scripted();
    const store = await t.sessions.connect();
    await store.sync();
    t.sessions.clock.advance(TIMEOUT_MS * 0.4);
    await store.multi([set('/a', NOTHING)]);
    t.sessions.clock.advance(TIMEOUT_MS * 0.3);
    expect(store.sessionState).toBe('connected');
    // From here on no heartbeat may help.
    Object.assign(t.server.script, { unanswered: new Set([OP.sync]) });
    await Promise.all([store.get('/a'), store.children('/a'), store.getMany([])]);
    t.sessions.clock.advance(TIMEOUT_MS * 0.25);
    expect(store.sessionState).toBe('suspended');
  });

  test('a request that alone gets no answer costs the connection when the timeout has passed', async () => {
    await using t = await scripted({ unanswered: new Set([OP.children]) });
    const store = await t.sessions.connect();
    expect(await outcome(store.children('/a'))).toBe('ConnectionLoss');
    // The session goes on, on a new connection, unless its own clock has run out first.
    expect(t.server.connections).toBeGreaterThanOrEqual(1);
  });
});

describe('our own clock', () => {
  test('after a pause of half the timeout a session is suspended before any timer ran, and comes back', async () => {
    await using t = await scripted();
    const store = await t.sessions.connect();
    const states: SessionState[] = [];
    store.onSessionState(state => states.push(state));
    await store.sync();
    t.sessions.clock.advance(TIMEOUT_MS * 0.55);
    expect(store.sessionState).toBe('suspended');
    // A call is still sent: the connection is there, and the store decides what it is worth.
    expect(await outcome(store.multi([create('/x')]))).toBe('done');
    await eventually(() => expect(states).toEqual(['suspended', 'connected']));
    expect(t.server.connections).toBe(1);
  });

  test('who asked first and listened then hears of the way back', async () => {
    await using t = await scripted();
    const store = await t.sessions.connect();
    await store.sync();
    t.sessions.clock.advance(TIMEOUT_MS * 0.55);
    expect(store.sessionState).toBe('suspended');
    const back = new Promise<void>(resolve => {
      store.onSessionState(state => state === 'connected' && resolve());
    });
    await back;
    expect(store.sessionState).toBe('connected');
    // A server that was asked nothing meanwhile has not kept silent.
    expect(t.server.connections).toBe(1);
  });

  test('after a pause of the whole timeout it is lost for good, though the server would go on', async () => {
    await using t = await scripted();
    const store = await t.sessions.connect();
    await store.sync();
    const under = outcome(store.get('/under-way'));
    await new Promise(setImmediate);
    const written = t.server.seen.length;
    t.sessions.clock.advance(TIMEOUT_MS);
    const queued = outcome(store.multi([set('/a', NOTHING)]));
    expect(store.sessionState).toBe('lost');
    expect(await queued).toBe('SessionExpired');
    expect(['ConnectionLoss', 'done']).toContain(await under);
    await pause(TIMEOUT_MS / 4);
    expect(t.server.connections).toBe(1);
    expect(t.server.seen.slice(written).map(({ kind }) => kind)).not.toContain(OP.set);
    expect(store.sessionState).toBe('lost');
  });

  test('a session whose time has passed is not taken back from a server that would give it', async () => {
    await using t = await scripted();
    const store = await t.sessions.connect();
    await store.sync();
    t.server.script.silent = true;
    t.server.cut();
    await eventually(() => expect(t.server.kinds(1)).toEqual(['connect']));
    const states: SessionState[] = [];
    store.onSessionState(state => states.push(state));
    t.sessions.clock.advance(TIMEOUT_MS);
    t.server.script.silent = false;
    t.server.cut();
    await eventually(() => expect(store.sessionState).toBe('lost'));
    expect(states).not.toContain('connected');
  });

  test('a session the server does not know any more is lost', async () => {
    await using t = await scripted();
    const store = await t.sessions.connect();
    t.server.script.timeoutMs = 0;
    t.server.cut();
    await eventually(() => expect(store.sessionState).toBe('lost'));
    expect(await outcome(store.get('/a'))).toBe('SessionExpired');
    await store.close();
  });
});

describe.concurrent('coming back', () => {
  test('authentication, watches and a proof go before everything else, in this order, on every connection', async () => {
    await using t = await scripted({}, { auth: { user: 'gate', password: new Secret('pass') } });
    const store = await t.sessions.connect();
    const events: WatchEvent[] = [];
    store.watch('/a', event => events.push(event));
    store.watch('/b', event => events.push(event));
    await store.sync();
    expect(t.server.kinds(0).slice(0, 4)).toEqual(['connect', OP.auth, OP.sync, OP.get]);
    expect(t.server.kinds(0).filter(kind => kind === OP.addWatch)).toHaveLength(2);
    const away = new Promise<void>(resolve => {
      store.onSessionState(state => state === 'suspended' && resolve());
    });
    t.server.cut();
    await away;
    store.watch('/late', event => events.push(event));
    const read = new Promise<string>(resolve => {
      store.onSessionState(state => state === 'connected' && resolve(outcome(store.get('/a'))));
    });
    expect(await read).toBe('done');
    expect(t.server.kinds(1).slice(0, 5)).toEqual(['connect', OP.auth, OP.setWatches2, OP.sync, OP.get]);
    const again = t.server.seen.find(({ connection }) => connection === 1)?.body;
    // The protocol's version, the last transaction seen, what is asked for, and who is back.
    expect([again?.int(), again?.long(), again?.int(), again?.long()]).toEqual([0, 1n, TIMEOUT_MS, 77n]);
    const setWatches = t.server.seen.find(({ kind }) => kind === OP.setWatches2);
    setWatches?.body.long();
    for (let list = 0; list < 4; list++) setWatches?.body.int();
    expect(setWatches?.body.strings()).toEqual(['/a', '/b', '/late']);
    expect(events).toEqual(['/a', '/b', '/late'].map(path => ({ kind: 'resync', path })));
  });

  test('a call without a connection fails at once and is never sent', async () => {
    await using t = await scripted();
    const store = await t.sessions.connect();
    t.server.script.closesAtOnce = true;
    t.server.cut();
    await eventually(() => expect(store.sessionState).toBe('suspended'));
    expect(await outcome(store.multi([create('/ghost')]))).toBe('ConnectionLoss');
    t.server.script.closesAtOnce = false;
    await eventually(() => expect(store.sessionState).toBe('connected'));
    await store.sync();
    expect(t.server.seen.map(({ kind }) => kind)).not.toContain(OP.create);
  });

  test('a server that accepts and closes at once is tried with growing pauses', async () => {
    await using t = await scripted({ closesAtOnce: true });
    const given = new AbortController();
    const connecting = t.sessions.connect(given.signal).catch(() => {});
    await pause(1000);
    expect(t.server.connections).toBeGreaterThan(2);
    expect(t.server.connections).toBeLessThan(10);
    given.abort();
    await connecting;
  });

  test('a server that cuts each connection once it is used is tried with growing pauses', async () => {
    await using t = await scripted({ errors: new Map([[OP.get, -118]]), unanswered: new Set([OP.sync]) });
    const given = new AbortController();
    const connecting = t.sessions.connect(given.signal).catch(() => {});
    await pause(1000);
    expect(t.server.connections).toBeLessThan(10);
    given.abort();
    await connecting;
  });

  test('servers that never answer the handshake are left for the next one', async () => {
    await using silent = new ScriptedServer({ silent: true });
    await using good = new ScriptedServer();
    await using sessions = openSessions([await silent.listen(), await good.listen()], { random: () => 0 });
    const store = await sessions.connect();
    expect(silent.connections).toBe(1);
    expect(store.sessionState).toBe('connected');
  });

  test('a watch is asked for once per path and taken away with its last listener', async () => {
    await using t = await scripted();
    const store = await t.sessions.connect();
    const watches = ['/a', '/a', '/a/b'].map(path => store.watch(path, () => {}));
    watches[0]?.[Symbol.dispose]();
    await store.sync();
    expect(t.server.kinds(0).filter(kind => kind === OP.removeWatches)).toHaveLength(0);
    watches[1]?.[Symbol.dispose]();
    await store.sync();
    expect(t.server.kinds(0).filter(kind => kind === OP.addWatch)).toHaveLength(2);
    expect(t.server.kinds(0).filter(kind => kind === OP.removeWatches)).toHaveLength(1);
  });
});

describe('answers', () => {
  test('an unknown error number fails its own call and nothing else', async () => {
    await using t = await scripted({
      errors: new Map([
        [OP.set, -4711],
        [OP.create, -125],
      ]),
    });
    const store = await t.sessions.connect();
    const calls = [store.multi([set('/a', NOTHING)]), store.get('/a'), store.multi([create('/b')])].map(
      outcome,
    );
    expect(await Promise.all(calls)).toEqual(['Refused', 'done', 'Refused']);
    expect(t.server.connections).toBe(1);
  });

  test('an answer out of turn costs the connection, not the process', async () => {
    await using t = await scripted();
    const store = await t.sessions.connect();
    Object.assign(t.server.script, { notAnAnswer: frame(4711) });
    expect(await outcome(store.get('/a'))).toBe('ConnectionLoss');
    Object.assign(t.server.script, { notAnAnswer: undefined });
    await eventually(() => expect(store.sessionState).toBe('connected'));
    expect(await outcome(store.get('/a'))).toBe('done');
  });

  test.each([
    ['an answer out of turn', () => ({ notAnAnswer: Buffer.concat([frame(4711), GREETING]) })],
    [
      'an answer that costs the connection',
      () => ({ errors: new Map([[OP.get, -118]]), behindAnswer: GREETING }),
    ],
  ])('what comes behind %s is not taken for anything', async (_, script) => {
    await using t = await scripted();
    const store = await t.sessions.connect();
    Object.assign(t.server.script, script());
    expect(await outcome(store.get('/a'))).toBe('ConnectionLoss');
    expect(store.sessionId).toBe((77).toString(16));
    expect(store.sessionState).toBe('suspended');
    Object.assign(t.server.script, { notAnAnswer: undefined, errors: undefined, behindAnswer: undefined });
    await eventually(() => expect(store.sessionState).toBe('connected'));
    expect(store.sessionId).toBe((77).toString(16));
  });

  test('bytes that are no answer cost the connection, not the process', async () => {
    await using t = await scripted();
    const store = await t.sessions.connect();
    Object.assign(t.server.script, { notAnAnswer: Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n') });
    expect(await outcome(store.get('/a'))).toBe('ConnectionLoss');
    Object.assign(t.server.script, { notAnAnswer: undefined });
    await eventually(() => expect(store.sessionState).toBe('connected'));
  });

  test('a watch that a busy server puts off is set on another connection', async () => {
    await using t = await scripted({ errors: new Map([[OP.addWatch, -127]]) });
    const store = await t.sessions.connect();
    const events: WatchEvent[] = [];
    store.watch('/a', event => events.push(event));
    await eventually(() => expect(t.server.kinds(1)).toContain(OP.setWatches2));
    await eventually(() => expect(events).toEqual([{ kind: 'resync', path: '/a' }]));
  });

  test('a server that knows no recursive watches ends the session, loudly', async () => {
    await using t = await scripted({ errors: new Map([[OP.addWatch, -6]]) });
    const store = await t.sessions.connect();
    store.watch('/a', () => {});
    await eventually(() => expect(store.sessionState).toBe('lost'));
    expect(t.sessions.log.lines.join('\n')).toContain('it must be 3.6 or newer');
  });

  test('a listener that throws takes nothing from the others', async () => {
    await using t = await scripted();
    const store = await t.sessions.connect();
    const heard: string[] = [];
    const thrown: unknown[] = [];
    const others = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException').on('uncaughtException', error => thrown.push(error));
    try {
      store.watch('/a', () => {
        throw new Error('of a listener');
      });
      store.watch('/a', event => heard.push(event.path));
      t.server.notify(EVENT.created, '/a/b');
      await eventually(() => expect(heard).toEqual(['/a/b']));
      expect(await outcome(store.get('/a'))).toBe('done');
      expect(String(thrown[0])).toContain('of a listener');
    } finally {
      process.removeAllListeners('uncaughtException');
      for (const other of others) process.on('uncaughtException', other);
    }
  });

  test('thousands of calls at once are all answered, in turn', async () => {
    await using t = await scripted({ timeoutMs: 10_000 });
    const store = await t.sessions.connect();
    const calls = Array.from({ length: 10_000 }, (_, index) => store.get(`/${index}`));
    await Promise.all(calls);
    const asked = t.server.seen.filter(({ kind }) => kind === OP.get).slice(1);
    expect(asked.map(({ body }) => body.string())).toEqual(calls.map((_, index) => `/${index}`));
    expect(store.sessionState).toBe('connected');
  });
});

describe('what is under way', () => {
  test.each([
    ['a thousand requests', 1000, () => new Uint8Array(0)],
    ['four mebibytes and the request that fills them', 5, () => new Uint8Array(900_000)],
  ])('is %s at most; the rest waits unsent, and all end with the connection', async (_, most, data) => {
    await using t = await scripted();
    const store = await t.sessions.connect();
    t.server.script.silent = true;
    const seen = (): number => t.server.kinds(0).filter(kind => kind === OP.set).length;
    const calls = Array.from({ length: most * 2 }, () => outcome(store.multi([set('/a', data())])));
    await eventually(() => expect(seen()).toBe(most));
    expect(new Set(await Promise.all(calls))).toEqual(new Set(['ConnectionLoss']));
    expect(seen()).toBe(most);
  });
});

describe('refusals', () => {
  test('failed authentication refuses for good', async () => {
    await using t = await scripted(
      { errors: new Map([[OP.auth, -115]]) },
      { auth: { user: 'gate', password: new Secret('pass') } },
    );
    expect(await outcome(t.sessions.connect())).toBe('Auth');
  });

  test('a root we may not read refuses for good', async () => {
    await using t = await scripted({ errors: new Map([[OP.get, -102]]) }, { root: '/gatehouse' });
    expect(await outcome(t.sessions.connect())).toBe('Auth');
  });

  test('a root that is not there yet is fine', async () => {
    await using t = await scripted({ errors: new Map([[OP.get, -101]]) }, { root: '/gatehouse' });
    expect(await outcome(t.sessions.connect())).toBe('done');
  });
});

/** Makes a session of another number, if there is a listener. */
const GREETING = new JuteWriter(64)
  .int(37)
  .int(0)
  .int(9000)
  .long(99n)
  .bytes(new Uint8Array(16))
  .bool(false)
  .finish();

function frame(xid: number): Buffer {
  const whole = Buffer.alloc(20);
  whole.writeInt32BE(16);
  whole.writeInt32BE(xid, 4);
  return whole;
}

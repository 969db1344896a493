/** A session can be closed in any state, once or more often, and leaves nothing running. */

import { getEventListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { create, type SessionState } from '../../../../src/store/port.ts';
import { openZooKeeper } from '../../../../src/store/zookeeper/source.ts';
import { OP } from '../../../../src/store/zookeeper/wire.ts';
import { eventually } from '../../../conformance/store/eventually.ts';
import { slowness } from '../../../fake/slowness.ts';
import { KeptLog, openSessions, outcome } from './open-sessions.ts';
import { ScriptedServer, TIMEOUT_MS } from './scripted-server.ts';

/** Timers and sockets that keep this process alive. */
const running = (): number =>
  process.getActiveResourcesInfo().filter(name => name === 'Timeout' || name === 'TCPSocketWrap').length;

describe('closing', () => {
  test('notifies the server after everything requested before, then nothing more is sent', async () => {
    await using server = new ScriptedServer();
    await using sessions = openSessions([await server.listen()]);
    const store = await sessions.connect();
    const calls = [store.multi([create('/a')]), store.get('/a')].map(outcome);
    await Promise.all([store.close(), store.close()]);
    expect(await Promise.all(calls)).toEqual(['done', 'done']);
    expect(server.kinds(0).slice(-3)).toEqual([OP.create, OP.get, OP.closeSession]);
    await pause(200);
    expect(server.kinds(0).at(-1)).toBe(OP.closeSession);
    expect(server.connections).toBe(1);
  });

  test('a session that is suspended ends at once, without its server', async () => {
    await using server = new ScriptedServer();
    await using sessions = openSessions([await server.listen()]);
    const store = await sessions.connect();
    server.script.closesAtOnce = true;
    server.cut();
    await eventually(() => expect(store.sessionState).toBe('suspended'));
    const states: SessionState[] = [];
    store.onSessionState(state => states.push(state));
    await store.close();
    await eventually(() => expect(states).toEqual(['lost']));
    const connections = server.connections;
    await pause(300);
    expect(server.connections).toBe(connections);
    expect(await outcome(store.get('/a'))).toBe('Closed');
  });

  test('a server that does not say goodbye is waited for no longer than half the timeout', async () => {
    await using server = new ScriptedServer({ unanswered: new Set([OP.closeSession]) });
    await using sessions = openSessions([await server.listen()]);
    const store = await sessions.connect();
    const started = performance.now();
    await store.close();
    expect(performance.now() - started).toBeLessThan(TIMEOUT_MS * slowness());
  });

  test('a call without an answer when the server does not say goodbye may have been applied', async () => {
    await using server = new ScriptedServer();
    await using sessions = openSessions([await server.listen()]);
    const store = await sessions.connect();
    server.script.silent = true;
    const call = outcome(store.multi([create('/a')]));
    await store.close();
    expect(await call).toBe('ConnectionLoss');
  });

  test('waiting for a server ends with the signal’s reason', async () => {
    const given = new AbortController();
    await using sessions = openSessions([{ host: '127.0.0.1', port: 1 }]);
    const connecting = sessions.connect(given.signal);
    const reason = new Error('not any more');
    setImmediate(() => given.abort(reason));
    await expect(connecting).rejects.toBe(reason);
    expect(getEventListeners(given.signal, 'abort')).toHaveLength(0);
    await expect(sessions.connect(AbortSignal.abort(reason))).rejects.toBe(reason);
  });

  test.each(['before it is dialled', 'while it is dialled', 'during the handshake'])(
    'a connect that is given up %s leaves nothing behind',
    async when => {
      await using server = new ScriptedServer({ silent: true });
      await using sessions = openSessions([await server.listen()]);
      const before = running();
      const given = new AbortController();
      const connecting = sessions.connect(given.signal).catch((error: unknown) => error);
      if (when === 'while it is dialled') await pause(1);
      if (when === 'during the handshake')
        await eventually(() => expect(server.kinds(0)).toEqual(['connect']));
      given.abort();
      await connecting;
      await eventually(() => expect(running()).toBeLessThanOrEqual(before));
    },
  );

  test('a source that is disposed closes what it opened, and opens nothing more', async () => {
    await using server = new ScriptedServer();
    const host = await server.listen();
    const sessions = openSessions([host]);
    const stores = [await sessions.connect(), await sessions.connect()];
    server.script.silent = true;
    const late = sessions.connect().catch((error: unknown) => error);
    server.script.silent = false;
    await sessions[Symbol.asyncDispose]();
    await sessions[Symbol.asyncDispose]();
    expect(stores.map(store => store.sessionState)).toEqual(['lost', 'lost']);
    expect(await late).toMatchObject({ code: 'Closed' });
    expect(await outcome(sessions.connect())).toBe('Closed');
  });

  test('a hundred sessions come and go without a trace', async () => {
    await using server = new ScriptedServer();
    await using sessions = openSessions([await server.listen()]);
    const before = running();
    for (let i = 0; i < 100; i++) {
      const store = await sessions.connect();
      await store.close();
    }
    await eventually(() => expect(running()).toBeLessThanOrEqual(before));
  });

  test('unusable TLS material is refused before anything is dialled', () => {
    const pem = Buffer.from('not a certificate');
    const options = {
      hosts: [{ host: '127.0.0.1', port: 1 }],
      sessionTimeoutMs: 1000,
      auth: undefined,
      tls: { ca: pem, cert: pem, key: pem },
      clock: { monotonic: () => 0 },
      log: new KeptLog(),
      random: () => 0,
    };
    expect(() => openZooKeeper(options)).toThrow('tls_ca, tls_cert and tls_key');
  });
});

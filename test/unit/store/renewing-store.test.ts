import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { connected, settle } from '../../../src/store/connection.ts';
import { type EmbeddedStore, openEmbeddedStore } from '../../../src/store/embedded/server.ts';
import { create, type SessionState, StoreError, set } from '../../../src/store/port.ts';
import { createRenewingStore, type RenewingStore } from '../../../src/store/renewing-store.ts';
import { eventually } from '../../conformance/store/eventually.ts';
import { FaultyStore } from './faulty-store.ts';

const DATA = new TextEncoder().encode('x');
let server: EmbeddedStore;
let renewing: RenewingStore;

beforeEach(() => {
  server = openEmbeddedStore({ file: ':memory:' });
  renewing = createRenewingStore();
});
afterEach(() => server.close());

function codeOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => 'done',
    error => (error instanceof StoreError ? error.code : error),
  );
}

describe('a store that renews its session', () => {
  test('is out of contact before the first session: calls fail and leave their outcome open', async () => {
    expect(renewing.store.sessionState).toBe('suspended');
    expect(await codeOf(renewing.store.get('/a'))).toBe('ConnectionLoss');
    expect(await codeOf(renewing.store.multi([create('/a')]))).toBe('ConnectionLoss');
  });

  test('a call that waits for contact is made in the first session', async () => {
    const waiting = settle(renewing.store, () => renewing.store.multi([create('/a')]));
    renewing.attach(server.connect());
    expect(await waiting).toMatchObject([{ path: '/a' }]);
  });

  test('watches set before a session hear of its changes, after a resync', async () => {
    const heard: string[] = [];
    renewing.store.watch('/', event => heard.push(`${event.kind} ${event.path}`));
    renewing.attach(server.connect());
    await renewing.store.multi([create('/a')]);
    expect(heard).toEqual(['resync /', 'created /a']);
  });

  test('after the loss of a session the next one goes on, and watches get a resync', async () => {
    const first = server.connect();
    renewing.attach(first);
    const heard: string[] = [];
    const states: SessionState[] = [];
    renewing.store.watch('/', event => heard.push(`${event.kind} ${event.path}`));
    renewing.store.onSessionState(state => states.push(state));
    await server.expire(first.sessionId);
    await eventually(() => states.length === 1);
    expect(await codeOf(renewing.store.get('/a'))).toBe('ConnectionLoss');
    await server.connect().multi([create('/a', DATA)]);
    expect(heard).toEqual([]);

    const second = server.connect();
    renewing.attach(second);
    await connected(renewing.store);
    await renewing.store.multi([set('/a', DATA)]);
    expect(heard).toEqual(['resync /', 'changed /a']);
    expect(states).toEqual(['suspended', 'connected']);
    expect(renewing.store.sessionId).toBe(second.sessionId);
  });

  test('a watch that was given up is not set again', async () => {
    const heard: string[] = [];
    renewing.attach(server.connect());
    renewing.store.watch('/', event => heard.push(event.path))[Symbol.dispose]();
    renewing.attach(server.connect());
    await renewing.store.multi([create('/a')]);
    expect(heard).toEqual([]);
  });

  test('a session that is merely out of contact is reported as well', async () => {
    const session = new FaultyStore(server.connect());
    renewing.attach(session);
    const states: SessionState[] = [];
    renewing.store.onSessionState(state => states.push(state));
    session.suspend();
    expect(renewing.store.sessionState).toBe('suspended');
    expect(await codeOf(renewing.store.sync())).toBe('ConnectionLoss');
    session.resume();
    await eventually(() => states.length === 2);
    expect(states).toEqual(['suspended', 'connected']);
  });

  test('once closed it is over: waiting calls end, sessions are ignored', async () => {
    const waiting = codeOf(settle(renewing.store, () => renewing.store.get('/a')));
    await renewing.store.close();
    expect(await waiting).toBe('SessionExpired');
    renewing.attach(server.connect());
    expect(renewing.store.sessionState).toBe('lost');
    expect(await codeOf(renewing.store.get('/a'))).toBe('Closed');
  });
});

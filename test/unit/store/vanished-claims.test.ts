import { afterEach, beforeEach, expect, test } from 'vitest';
import { type EmbeddedStore, openEmbeddedStore } from '../../../src/store/embedded/server.ts';
import { create, remove, type Store, type WatchEvent } from '../../../src/store/port.ts';
import { vanishedClaims } from '../../../src/store/vanished-claims.ts';

let server: EmbeddedStore;
let store: Store;

beforeEach(async () => {
  server = openEmbeddedStore({ file: ':memory:' });
  store = server.connect();
  await store.multi([create('/claimed')]);
});
afterEach(() => server.close());

async function nextOf(claims: AsyncGenerator<ReadonlySet<string> | undefined>) {
  const { value, done } = await claims.next();
  expect(done).toBe(false);
  return value;
}

test('any claim may have gone before the first look, then those that went since the last', async () => {
  const claims = vanishedClaims(store, '/claimed', new AbortController().signal);
  await store.multi([create('/claimed/a'), create('/claimed/b'), create('/claimed/c')]);
  expect(await nextOf(claims)).toBeUndefined();
  await store.multi([remove('/claimed/a'), remove('/claimed/b')]);
  expect(await nextOf(claims)).toEqual(new Set(['a', 'b']));
  const later = nextOf(claims);
  await store.multi([create('/claimed/d')]);
  await store.multi([remove('/claimed/c')]);
  expect(await later).toEqual(new Set(['c']));
});

test('what goes while the last ones are looked after comes next', async () => {
  const claims = vanishedClaims(store, '/claimed', new AbortController().signal);
  await nextOf(claims);
  await store.multi([create('/claimed/a'), create('/claimed/b')]);
  await store.multi([remove('/claimed/a')]);
  expect(await nextOf(claims)).toEqual(new Set(['a']));
  await store.multi([remove('/claimed/b')]);
  expect(await nextOf(claims)).toEqual(new Set(['b']));
});

test('any claim may have gone while the store was out of reach', async () => {
  const listeners = new Set<(event: WatchEvent) => void>();
  const reconnecting: Pick<Store, 'watch' | 'onSessionState' | 'sessionState'> = {
    watch(path, listener) {
      listeners.add(listener);
      return store.watch(path, listener);
    },
    onSessionState: listener => store.onSessionState(listener),
    sessionState: 'connected',
  };
  const claims = vanishedClaims(reconnecting as Store, '/claimed', new AbortController().signal);
  await nextOf(claims);
  await store.multi([create('/claimed/a')]);
  await store.multi([remove('/claimed/a')]);
  for (const listener of listeners) listener({ kind: 'resync', path: '/claimed' });
  expect(await nextOf(claims)).toBeUndefined();
});

test('it ends with its signal', async () => {
  const stop = new AbortController();
  const claims = vanishedClaims(store, '/claimed', stop.signal);
  await nextOf(claims);
  const last = claims.next();
  stop.abort();
  expect(await last).toEqual({ value: undefined, done: true });
});

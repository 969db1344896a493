import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { addMilliseconds } from '../../../src/lib/clock.ts';
import { type EmbeddedStore, openEmbeddedStore } from '../../../src/store/embedded/server.ts';
import { create, type Store, StoreError } from '../../../src/store/port.ts';
import { giveSigns, lastSign, outdatedSigns, SIGN_INTERVAL } from '../../../src/store/signs-of-life.ts';
import { eventually } from '../../conformance/store/eventually.ts';
import { FaultyStore } from './faulty-store.ts';
import { manualClock } from './test-bench.ts';

const PARENT = '/alive';
const DAY = 86_400_000;

let server: EmbeddedStore;
let store: Store;

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  server = openEmbeddedStore({ file: ':memory:' });
  store = server.connect();
  await store.multi([create(PARENT)]);
});
afterEach(async () => {
  vi.useRealTimers();
  await server.close();
});

function worker(isAtWork: () => boolean) {
  const own = new FaultyStore(server.connect());
  const clock = manualClock();
  const stop = new AbortController();
  const path = `${PARENT}/${own.sessionId}`;
  const given = vi.spyOn(own, 'multi');
  const ended = giveSigns({ store: own, path, clock, isAtWork }, stop.signal);
  return { own, clock, stop, path, given, ended };
}

test('a process at work says every two seconds that it is there, and takes its sign away when it ends', async () => {
  const { clock, stop, path, ended } = worker(() => true);
  for (let beat = 0; beat < 3; beat += 1) {
    const now = clock.now();
    await eventually(async () => (await lastSign(store, path)) === now);
    clock.advance(SIGN_INTERVAL);
    await vi.advanceTimersByTimeAsync(SIGN_INTERVAL);
  }
  stop.abort();
  await ended;
  expect(await lastSign(store, path)).toBeUndefined();
});

test('one without work writes nothing, and the sign of a killed one stays', async () => {
  let atWork = true;
  const { own, clock, path, given, ended } = worker(() => atWork);
  const last = clock.now();
  await eventually(async () => (await lastSign(store, path)) === last);
  atWork = false;
  const written = given.mock.calls.length;
  clock.advance(10 * SIGN_INTERVAL);
  await vi.advanceTimersByTimeAsync(10 * SIGN_INTERVAL);
  expect(given.mock.calls.length).toBe(written);
  atWork = true;
  await server.expire(own.sessionId);
  await vi.advanceTimersByTimeAsync(SIGN_INTERVAL);
  await ended;
  expect(await lastSign(store, path)).toBe(last);
});

test('a sign that was swept is given again', async () => {
  const { clock, stop, path, ended } = worker(() => true);
  await eventually(async () => (await lastSign(store, path)) !== undefined);
  await store.multi(await outdatedSigns(store, PARENT, addMilliseconds(clock.now(), 8 * DAY)));
  expect(await lastSign(store, path)).toBeUndefined();
  await vi.advanceTimersByTimeAsync(SIGN_INTERVAL);
  await eventually(async () => (await lastSign(store, path)) !== undefined);
  stop.abort();
  await ended;
});

test('signs are swept after a week, and when there are more than a hundred the oldest; what is no time is left alone', async () => {
  const now = manualClock().now();
  const bytes = (text: string) => new TextEncoder().encode(text);
  const young = Array.from({ length: 110 }, (_, index) => addMilliseconds(now, -index * 1000));
  await store.multi([
    ...young.map((time, index) => create(`${PARENT}/young-${index}`, bytes(time))),
    create(`${PARENT}/old`, bytes(addMilliseconds(now, -8 * DAY))),
    create(`${PARENT}/upgraded`, bytes('{"k":"sign","v":2}')),
  ]);
  const swept = await outdatedSigns(store, PARENT, now);
  expect(swept.map(({ path }) => path).toSorted()).toEqual(
    ['old', ...Array.from({ length: 10 }, (_, index) => `young-${109 - index}`)]
      .map(name => `${PARENT}/${name}`)
      .toSorted(),
  );
});

test('a failure of the store that is not about contact is reported', async () => {
  const own = new FaultyStore(server.connect());
  vi.spyOn(own, 'multi').mockRejectedValue(new StoreError('Refused', PARENT));
  const deps = { store: own, path: `${PARENT}/x`, clock: manualClock(), isAtWork: () => true };
  await expect(giveSigns(deps, new AbortController().signal)).rejects.toThrow('Refused');
});

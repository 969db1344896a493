import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { addMilliseconds } from '../../../src/lib/clock.ts';
import { createWorkCount } from '../../../src/lib/work-count.ts';
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

function worker() {
  const own = new FaultyStore(server.connect());
  const clock = manualClock();
  const stop = new AbortController();
  const path = `${PARENT}/${own.sessionId}`;
  const given = vi.spyOn(own, 'multi');
  const work = createWorkCount();
  const ended = giveSigns({ store: own, path, clock, work }, stop.signal);
  return { own, clock, stop, path, given, work, ended };
}

test('a process at work says every two seconds that it is there, and takes its sign away when it ends', async () => {
  const { clock, stop, path, work, ended } = worker();
  work.hold();
  for (let beat = 0; beat < 3; beat += 1) {
    clock.advance(SIGN_INTERVAL);
    await vi.advanceTimersByTimeAsync(SIGN_INTERVAL);
    const now = clock.now();
    await eventually(async () => (await lastSign(store, path)) === now);
  }
  stop.abort();
  await ended;
  expect(await lastSign(store, path)).toBeUndefined();
});

test('work that ends sooner is not worth a sign', async () => {
  const { stop, given, work, ended } = worker();
  const short = work.hold();
  await vi.advanceTimersByTimeAsync(SIGN_INTERVAL - 1);
  short[Symbol.dispose]();
  await vi.advanceTimersByTimeAsync(10 * SIGN_INTERVAL);
  expect(given).not.toHaveBeenCalled();
  stop.abort();
  await ended;
});

test('one without work writes nothing and sleeps, and the sign of a killed one stays', async () => {
  const { own, clock, path, given, work, ended } = worker();
  const first = work.hold();
  const last = clock.now();
  await vi.advanceTimersByTimeAsync(SIGN_INTERVAL);
  await eventually(async () => (await lastSign(store, path)) === last);
  first[Symbol.dispose]();
  const written = given.mock.calls.length;
  clock.advance(SIGN_INTERVAL);
  await vi.advanceTimersByTimeAsync(SIGN_INTERVAL);
  expect(vi.getTimerCount()).toBe(0);
  expect(given.mock.calls.length).toBe(written);
  work.hold();
  await server.expire(own.sessionId);
  await vi.advanceTimersByTimeAsync(SIGN_INTERVAL);
  await ended;
  expect(await lastSign(store, path)).toBe(last);
});

test('a sign that was swept is given again', async () => {
  const { clock, stop, path, work, ended } = worker();
  work.hold();
  await vi.advanceTimersByTimeAsync(SIGN_INTERVAL);
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
  const work = createWorkCount();
  work.hold();
  const giving = giveSigns(
    { store: own, path: `${PARENT}/x`, clock: manualClock(), work },
    new AbortController().signal,
  );
  await Promise.all([expect(giving).rejects.toThrow('Refused'), vi.advanceTimersByTimeAsync(SIGN_INTERVAL)]);
});

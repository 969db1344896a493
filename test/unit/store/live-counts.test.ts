import { afterEach, beforeEach, expect, test } from 'vitest';
import { type EmbeddedStore, openEmbeddedStore } from '../../../src/store/embedded/server.ts';
import { ensureNode } from '../../../src/store/ensure-node.ts';
import { type LiveCounts, openLiveCounts } from '../../../src/store/live-counts.ts';
import { create, remove, type Store, set } from '../../../src/store/port.ts';
import { eventually } from '../../conformance/store/eventually.ts';
import { FaultyStore } from './faulty-store.ts';

const DATA = new Uint8Array([1]);
let server: EmbeddedStore;
let store: FaultyStore;
let writer: Store;
let counts: LiveCounts;
let changed: [path: string, count: number][];
let errors: unknown[];

beforeEach(async () => {
  server = openEmbeddedStore({ file: ':memory:' });
  store = new FaultyStore(server.connect());
  writer = server.connect();
  await ensureNode(writer, '/q/a');
  await writer.multi([create('/q/a/1', DATA)]);
  errors = [];
  changed = [];
  counts = await openLiveCounts(store, ['/q/a', '/q/b', '/q/a'], error => errors.push(error));
  counts.onChange(path => changed.push([path, counts.count(path)]));
  store.calls.get = 0;
});
afterEach(async () => {
  counts[Symbol.dispose]();
  await server.close();
});

test('counts what is there at once, and nothing for what is not', () => {
  expect(counts.count('/q/a')).toBe(1);
  expect(counts.count('/q/b')).toBe(0);
  expect(counts.count('/elsewhere')).toBe(0);
});

test('follows what comes and goes, also below a node that was not there', async () => {
  await writer.multi([create('/q/b'), create('/q/b/1'), create('/q/b/2')]);
  await eventually(() => counts.count('/q/b') === 2);
  await writer.multi([remove('/q/b/1')]);
  await eventually(() => counts.count('/q/b') === 1);
  expect(counts.count('/q/a')).toBe(1);
  expect(changed).toEqual([
    ['/q/b', 2],
    ['/q/b', 1],
  ]);
  expect(errors).toEqual([]);
});

test('a burst is one read and one call', async () => {
  await writer.multi(Array.from({ length: 50 }, (_, i) => create(`/q/a/more${i}`)));
  await eventually(() => changed.length > 0);
  expect(changed).toEqual([['/q/a', 51]]);
  expect(store.calls.get).toBe(1);
});

test('a change that leaves the number as it is is not reported', async () => {
  await writer.multi([set('/q/a/1', DATA)]);
  await writer.multi([create('/q/a/2'), remove('/q/a/1')]);
  await writer.multi([create('/q/a/3')]);
  await eventually(() => counts.count('/q/a') === 2);
  expect(changed).toEqual([['/q/a', 2]]);
});

test('catches up after it was out of contact', async () => {
  store.suspend();
  await writer.multi([create('/q/a/2')]);
  expect(counts.count('/q/a')).toBe(1);
  store.resume();
  await eventually(() => counts.count('/q/a') === 2);
});

test('a listener that left is not called, and nothing is read after the end', async () => {
  const calls: string[] = [];
  counts.onChange(path => calls.push(path))[Symbol.dispose]();
  await writer.multi([create('/q/a/2')]);
  await eventually(() => changed.length === 1);
  counts[Symbol.dispose]();
  await writer.multi([create('/q/a/3')]);
  await store.sync();
  expect({ calls, count: counts.count('/q/a') }).toEqual({ calls: [], count: 2 });
});

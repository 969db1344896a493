import { expect, test } from 'vitest';
import { RecordError } from '../../../src/model/codec/record.ts';
import { fencedLoop } from '../../../src/scheduler/loop.ts';
import type { Fence } from '../../../src/store/fence.ts';
import { eventually, openStand } from './stand.ts';

const REQUEST = { lockPath: '/loop/lock', epochPath: '/loop/epoch' };

test('a loop that meets a newer record releases its lock immediately and logs that once', async () => {
  await using stand = openStand();
  const stop = new AbortController();
  const loop = (guid: string, store: typeof stand.store, work: (fence: Fence) => Promise<void>) =>
    fencedLoop(`loop ${guid}`, { ...REQUEST, guid }, { ...stand, store }, stop.signal, work);
  let met = 0;
  const old = loop('old', stand.store, async () => {
    met += 1;
    throw new RecordError('newer', 'this text record has version 2');
  });
  await eventually(() => met === 1, 'the old one met the record');
  let upgraded: Fence | undefined;
  const next = loop('next', stand.connect(), fence => {
    upgraded = fence;
    return new Promise(resolve => stop.signal.addEventListener('abort', () => resolve(), { once: true }));
  });
  await eventually(() => upgraded !== undefined, 'the upgraded one holds the lock');
  expect(met).toBe(1);
  expect(stand.logged).toEqual(['warn: loop old is left to an upgraded scheduler']);
  stop.abort(new Error('the end'));
  await Promise.all([old, next]);
});

test('a loop that fails otherwise frees its lock before it pauses', async () => {
  await using stand = openStand();
  const stop = new AbortController();
  const events: string[] = [];
  const failing = fencedLoop('one', { ...REQUEST, guid: 'one' }, stand, stop.signal, async () => {
    events.push('failed');
    if (events.length === 1) throw new Error('no luck');
    stop.abort(new Error('the end'));
  });
  await failing;
  expect(events).toEqual(['failed', 'failed']);
  expect(stand.logged).toEqual(['error: one failed; it restarts from the stored state']);
});

import { expect, test } from 'vitest';
import { createLanes } from '../../../src/lib/lanes.ts';

const laneOf = (name: string) => ({ group: name.slice(0, 1), key: name.slice(0, 1) });

test('tasks of one key keep their order, others run side by side, no more than allowed', async () => {
  const lanes = createLanes({ groups: 2, ofEach: 1 });
  const log: string[] = [];
  const gates = new Map(['a1', 'a2', 'b1', 'c1'].map(name => [name, Promise.withResolvers<void>()]));
  for (const [name, gate] of gates)
    lanes.run(laneOf(name), async () => {
      log.push(`${name} begins`);
      await gate.promise;
      log.push(`${name} ends`);
    });
  expect(log).toEqual(['a1 begins', 'b1 begins']);
  for (const name of ['b1', 'c1', 'a1', 'a2']) {
    gates.get(name)?.resolve();
    await new Promise(setImmediate);
  }
  await lanes.idle();
  expect(log).toEqual([
    'a1 begins',
    'b1 begins',
    'b1 ends',
    'c1 begins',
    'c1 ends',
    'a1 ends',
    'a2 begins',
    'a2 ends',
  ]);
});

test('after a failure those under way end and no other begins', async () => {
  const lanes = createLanes({ groups: 2, ofEach: 1 });
  const log: string[] = [];
  const gate = Promise.withResolvers<void>();
  lanes.run(laneOf('a'), async () => {
    await gate.promise;
    log.push('a ends');
  });
  lanes.run(laneOf('b'), () => Promise.reject(new Error('the fence is lost')));
  lanes.run(laneOf('c'), async () => void log.push('c'));
  await new Promise(setImmediate);
  expect(lanes.failed.aborted).toBe(true);
  gate.resolve();
  await expect(lanes.idle()).rejects.toThrow('the fence is lost');
  expect(log).toEqual(['a ends']);
});

test('a group takes one place, however many of its tasks wait, and no more of them run than allowed', async () => {
  const lanes = createLanes({ groups: 2, ofEach: 2 });
  const log: string[] = [];
  const slow = Promise.withResolvers<void>();
  for (const key of ['1', '2', '3'])
    lanes.run({ group: 'slow', key }, () => {
      log.push(`slow ${key}`);
      return slow.promise;
    });
  for (const group of ['b', 'c']) lanes.run({ group, key: group }, async () => void log.push(group));
  await new Promise(setImmediate);
  expect(log).toEqual(['slow 1', 'slow 2', 'b', 'c']);
  slow.resolve();
  await lanes.idle();
  expect(log.at(-1)).toBe('slow 3');
});

test('tasks of one key keep their order over groups', async () => {
  const lanes = createLanes({ groups: 2, ofEach: 1 });
  const log: string[] = [];
  const slow = Promise.withResolvers<void>();
  lanes.run({ group: 'a', key: 'other' }, () => slow.promise);
  lanes.run({ group: 'a', key: 'item' }, async () => void log.push('start'));
  lanes.run({ group: 'b', key: 'item' }, async () => void log.push('success'));
  await new Promise(setImmediate);
  expect(log).toEqual([]);
  slow.resolve();
  await lanes.idle();
  expect(log).toEqual(['start', 'success']);
});

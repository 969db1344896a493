import { expect, test } from 'vitest';
import { createLanes } from '../../../src/lib/lanes.ts';

test('tasks of one key keep their order, others run side by side, no more than allowed', async () => {
  const lanes = createLanes(2);
  const log: string[] = [];
  const gates = new Map(['a1', 'a2', 'b1', 'c1'].map(name => [name, Promise.withResolvers<void>()]));
  for (const [name, gate] of gates)
    lanes.run(name.slice(0, 1), async () => {
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
  const lanes = createLanes(2);
  const log: string[] = [];
  const gate = Promise.withResolvers<void>();
  lanes.run('a', async () => {
    await gate.promise;
    log.push('a ends');
  });
  lanes.run('b', () => Promise.reject(new Error('the fence is lost')));
  lanes.run('c', async () => void log.push('c'));
  await new Promise(setImmediate);
  expect(lanes.failed.aborted).toBe(true);
  gate.resolve();
  await expect(lanes.idle()).rejects.toThrow('the fence is lost');
  expect(log).toEqual(['a ends']);
});

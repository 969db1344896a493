import { expect, test } from 'vitest';
import { readGerritNotification } from '../../../../../drivers/gerrit/intake/notification.ts';
import {
  markEvent,
  processMark,
  projectDigest,
  recallMark,
} from '../../../../../drivers/gerrit/listener/mark.ts';
import { fromMilliseconds } from '../../../../../src/lib/clock.ts';
import type { Json } from '../../../../../src/model/job.ts';

const memoryOf = (entries: { readonly [key: string]: Json | undefined }) => ({
  get: async (key: string) => entries[key],
});

test('a mark comes back as it was, by way of its event', async () => {
  const mark = { until: fromMilliseconds(1795355569000), projects: new Set(['a', 'b'].map(projectDigest)) };
  const notification = readGerritNotification(markEvent(mark).payload);
  if (notification?.about.kind !== 'mark') throw new Error('the event holds no mark');
  const { memory, events } = processMark(notification.about);
  expect(events).toEqual([]);
  expect(
    await recallMark(memoryOf(Object.fromEntries(memory.map(({ key, value }) => [key, value])))),
  ).toEqual(mark);
});

test('the same mark is stored once, in any order of its projects', () => {
  const until = fromMilliseconds(1);
  const ids = [
    ['a', 'b'],
    ['b', 'a'],
    ['a', 'c'],
  ].map(projects => markEvent({ until, projects: new Set(projects) }).deliveryId);
  expect(ids[0]).toBe(ids[1]);
  expect(ids[2]).not.toBe(ids[0]);
});

test.each<[string, Json | undefined]>([
  ['nothing', undefined],
  ['another form', { until: 7, projects: [] }],
  ['no projects', { until: '7' }],
  ['a list', []],
])('of %s no mark is recalled', async (_, seen) => {
  expect(await recallMark(memoryOf({ seen }))).toBeUndefined();
});

import { expect, test, vi } from 'vitest';
import { parseUuid } from '../../../../src/lib/ids.ts';
import type { PipelineState } from '../../../../src/model/pipeline-state.ts';
import type { QueueItem } from '../../../../src/model/queue-item.ts';
import {
  createExpectedDurations,
  followHistory,
  type KnownJob,
} from '../../../../src/scheduler/turn/expected-durations.ts';
import { seenSuccesses } from '../../../../src/scheduler/turn/seen-successes.ts';
import { APP, itemStory } from '../../../fake/queue-item.ts';
import { SILENT } from '../../../fake/silent-log.ts';

const UNIT: KnownJob = { tenant: 'acme', project: APP, job: 'unit' };

test('a job is expected to take the mean of its last ten successes', () => {
  const expected = createExpectedDurations();
  expect(expected.of(UNIT)).toBeUndefined();
  expected.learn(UNIT, 100);
  expected.learn(UNIT, 300);
  expect(expected.of(UNIT)).toBe(200);
  for (let time = 0; time < 10; time++) expected.learn(UNIT, 50);
  expect(expected.of(UNIT)).toBe(50);
  expect(expected.of({ ...UNIT, tenant: 'other' })).toBeUndefined();
});

test('what the history says stands for the successes that were not seen', () => {
  const expected = createExpectedDurations();
  expected.read([{ ...UNIT, ms: 1000 }]);
  expect(expected.of(UNIT)).toBe(1000);
  expected.learn(UNIT, 2000);
  expect(expected.of(UNIT)).toBe(1100);
  expected.read([{ ...UNIT, ms: 3000 }]);
  expect(expected.of(UNIT)).toBe(2900);
});

test('jobs not heard of for longest are forgotten', () => {
  const expected = createExpectedDurations();
  expected.learn(UNIT, 7);
  for (let index = 0; index < 9_999; index++) expected.learn({ ...UNIT, job: `job-${index}` }, 1);
  expect(expected.of(UNIT)).toBe(7);
  expected.learn({ ...UNIT, job: 'one-more' }, 1);
  expect(expected.of(UNIT)).toBeUndefined();
});

test('a history that cannot be read changes nothing', async () => {
  const expected = createExpectedDurations();
  const stop = new AbortController();
  const asked = Promise.withResolvers<void>();
  const following = followHistory(
    expected,
    () => {
      asked.resolve();
      return Promise.reject(new Error('the database is away'));
    },
    SILENT,
    stop.signal,
  );
  await asked.promise;
  stop.abort();
  await following;
  expect(expected.of(UNIT)).toBeUndefined();
});

test('a turn learns from builds that ended well in it, and from no other', () => {
  const story = itemStory();
  story.merge().wait(10).merged().freeze(['unit', 'lint']).wait(1).start('unit').start('lint').wait(5000);
  const running = story.item;
  const ended = story.finish('unit', 'SUCCESS').finish('lint', 'FAILURE').item;
  const left = story.complete('FAILURE').leave('reported', 'FAILURE').item;
  expect(seenSuccesses(holding(running), { changed: [ended], left: [] })).toEqual([
    { tenant: 'acme', project: APP, job: 'unit', ms: 5000 },
  ]);
  expect(seenSuccesses(holding(ended), { changed: [], left: [left] })).toEqual([]);
  expect(seenSuccesses(holding(running), { changed: [], left: [left] })).toHaveLength(1);
});

function holding(...items: readonly QueueItem[]): PipelineState {
  const byUuid = new Map(items.map(item => [parseUuid(item.uuid), item]));
  return { queues: [], items: byUuid, consecutiveFailures: 0, disabled: false, countedUnder: null };
}

test.each([
  ['while it is followed is a warning', false, 1],
  ['because the service ends is none', true, 0],
])('a history that fails %s', async (_, ends, warnings) => {
  const stop = new AbortController();
  const warned: string[] = [];
  const log = { ...SILENT, warn: (_: unknown, text: string) => void warned.push(text) };
  const following = followHistory(
    createExpectedDurations(),
    async () => {
      if (ends) stop.abort();
      throw new Error('the worker thread is closed');
    },
    log,
    stop.signal,
  );
  if (!ends) await vi.waitFor(() => expect(warned).toHaveLength(1));
  stop.abort();
  await following;
  expect(warned).toHaveLength(warnings);
});

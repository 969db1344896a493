import { expect, test } from 'vitest';
import { type Nanoseconds, parseNanoseconds } from '../../../../src/lib/clock.ts';
import type { Uuid } from '../../../../src/lib/ids.ts';
import type { PipelineEvent } from '../../../../src/model/event.ts';
import { createRechecks } from '../../../../src/scheduler/turn/rechecks.ts';
import type { QueueEntry } from '../../../../src/store/event-queue.ts';

const at = (time: number): Nanoseconds => parseNanoseconds(String(time));
const entry = (uuid: string) => ({ value: { uuid } }) as QueueEntry<PipelineEvent>;
const [a, b] = [entry('a'), entry('b')] as const;
const until = (...times: readonly [QueueEntry<PipelineEvent>, number][]) =>
  new Map<Uuid, Nanoseconds>(times.map(([{ value }, time]) => [value.uuid, at(time)]));

test('an event is given again at its time, and not before', () => {
  const rechecks = createRechecks();
  expect(rechecks.due([a, b], at(5))).toEqual([a, b]);
  rechecks.note([a, b], until([a, 100]), []);
  expect(rechecks.waiting).toBe(1);
  // Nine comes before a hundred.
  expect(rechecks.due([a, b], at(9))).toEqual([b]);
  expect(rechecks.next(at(9))).toBe(at(100));
  expect(rechecks.due([a], at(100))).toEqual([a]);
  expect(rechecks.next(at(100))).toBeNull();
  rechecks.note([a], new Map(), []);
  expect(rechecks.waiting).toBe(0);
});

test('the next time is the earliest of events and changes', () => {
  const rechecks = createRechecks();
  rechecks.note([a], until([a, 70]), [at(50), at(60)]);
  expect(rechecks.next(at(10))).toBe(at(50));
  expect(rechecks.next(at(50))).toBe(at(60));
  expect(rechecks.next(at(60))).toBe(at(70));
});

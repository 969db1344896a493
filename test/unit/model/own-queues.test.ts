import { expect, test } from 'vitest';
import { parseNanoseconds } from '../../../src/lib/clock.ts';
import { derivedUuid } from '../../../src/lib/ids.ts';
import { pipelineCountersCodec } from '../../../src/model/codec/records.ts';
import { storedQueues, storesSameQueues, withOwnQueues } from '../../../src/model/own-queues.ts';
import { type ChangeQueue, EMPTY_PIPELINE, type PipelineState } from '../../../src/model/pipeline-state.ts';
import type { QueueItem } from '../../../src/model/queue-item.ts';
import { repairQueues } from '../../../src/model/repair-queues.ts';
import { itemStory } from '../../fake/queue-item.ts';

const TEMPLATE = itemStory().item;
const id = (name: string | number) => derivedUuid('own', `${name}`);

/** @param second when it entered. */
function own(name: string | number, second: number, queue = `queue ${name}`): QueueItem {
  const enqueuedAt = parseNanoseconds(`${1_795_000_000 + second}000000000`);
  return { ...TEMPLATE, uuid: id(name), queue, ownQueue: 'acme/app', enqueuedAt };
}

function queue(name: string | number, items: readonly (string | number)[] = [name]): ChangeQueue {
  return { key: `queue ${name}`, name: 'acme/app', window: 0, items: items.map(id) };
}

function state(queues: readonly ChangeQueue[], items: readonly QueueItem[]): PipelineState {
  return { ...EMPTY_PIPELINE, queues, items: new Map(items.map(item => [item.uuid, item])) };
}

test('the queue of a single item is not stored, and is read back from the item', () => {
  const whole = state([queue(1), queue(2)], [own(2, 2), own(1, 1)]);
  expect(storedQueues(whole)).toEqual([]);
  expect(withOwnQueues({ ...whole, queues: [] })).toEqual(whole);
});

test('a queue of several items is stored, in their order, and keeps its place among the others', () => {
  const items = [own(1, 1), own('needed', 2, 'queue 2'), own(2, 2), own(3, 3)];
  const whole = state([queue(1), queue(2, ['needed', 2]), queue(3)], items);
  expect(storedQueues(whole)).toEqual([queue(2, ['needed', 2])]);
  expect(withOwnQueues({ ...whole, queues: storedQueues(whole) })).toEqual(whole);
});

test('a queue that changes share is always stored', () => {
  const shared = { key: 'integrated', name: 'integrated', window: 20, items: [TEMPLATE.uuid] };
  const { ownQueue: _, ...item } = { ...TEMPLATE, queue: 'integrated' };
  const whole = state([shared], [item]);
  expect(storedQueues(whole)).toEqual([shared]);
  expect(withOwnQueues(whole)).toBe(whole);
});

test('a queue that is not quite as its item says is stored', () => {
  const narrow = { ...queue(1), window: 1 };
  const renamed = { ...queue(2), name: 'acme/new-name' };
  const whole = state([narrow, renamed], [own(1, 1), own(2, 2)]);
  expect(storedQueues(whole)).toEqual([narrow, renamed]);
});

test('items that one turn took in are in the order of their events', () => {
  const received = (item: QueueItem, text: string) => ({
    ...item,
    origin: { ...item.origin, receivedAt: parseNanoseconds(text) },
  });
  const items = [received(own(1, 1), '1794999999000000003'), received(own(2, 1), '1794999999000000002')];
  expect(withOwnQueues(state([], items)).queues).toEqual([queue(2), queue(1)]);
});

test('items of one queue whose record is lost are in it together, oldest first', () => {
  const items = [own(2, 2, 'queue 2'), own('needed', 1, 'queue 2'), own(3, 3)];
  expect(repairQueues(state([], items), 20).queues).toEqual([queue(3), queue(2, ['needed', 2])]);
});

test('entering and leaving change nothing in the record of a pipeline with thousands of such items', () => {
  const items = Array.from({ length: 5000 }, (_, number) => own(number, number));
  const before = state(
    items.map((_, number) => queue(number)),
    items,
  );
  const after = state([...before.queues.slice(1), queue('new')], [...items.slice(1), own('new', 6000)]);
  expect(storesSameQueues(before, after)).toBe(true);
  expect(pipelineCountersCodec.encode({ ...after, queues: storedQueues(after) }).length).toBeLessThan(200);
});

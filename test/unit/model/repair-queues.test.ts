import { expect, test } from 'vitest';
import { parseNanoseconds } from '../../../src/lib/clock.ts';
import { derivedUuid } from '../../../src/lib/ids.ts';
import type { PipelineState } from '../../../src/model/pipeline-state.ts';
import { repairQueues } from '../../../src/model/repair-queues.ts';
import { itemStory } from '../../fake/queue-item.ts';

const id = (name: string) => derivedUuid('repair', name);

function item(name: string, queue: string, second: number) {
  return {
    ...itemStory().item,
    uuid: id(name),
    queue,
    enqueuedAt: parseNanoseconds(`${1_795_000_000 + second}000000000`),
  };
}

/** Queues as `{ a: '1 2' }`. */
function state(queues: Record<string, string>, items: readonly ReturnType<typeof item>[]): PipelineState {
  return {
    queues: Object.entries(queues).map(([key, names]) => ({
      key,
      name: `queue ${key}`,
      window: 20,
      items: names.split(' ').filter(Boolean).map(id),
    })),
    consecutiveFailures: 3,
    disabled: false,
    countedUnder: null,
    items: new Map(items.map(each => [each.uuid, each])),
  };
}

const ONE = item('1', 'a', 1);
const TWO = item('2', 'a', 2);
const THREE = item('3', 'b', 3);

test('a state that is whole stays the very same', () => {
  const whole = state({ a: '1 2', b: '3' }, [ONE, TWO, THREE]);
  expect(repairQueues(whole, 7)).toBe(whole);
});

test('names without an item leave their queue, which keeps its place and window', () => {
  const repaired = repairQueues(state({ a: '1 2', b: '3' }, [TWO, THREE]), 7);
  expect(repaired.queues.map(queue => queue.items)).toEqual([[id('2')], [id('3')]]);
  expect(repaired.queues[0]).toMatchObject({ key: 'a', name: 'queue a', window: 20 });
  expect(repaired.consecutiveFailures).toBe(3);
});

test('items no queue names go to the end of their own, oldest first, or to a new one', () => {
  const repaired = repairQueues(state({ a: '2' }, [THREE, item('4', 'a', 4), TWO, ONE]), 7);
  expect(repaired.queues).toEqual([
    { key: 'a', name: 'queue a', window: 20, items: [id('2'), id('1'), id('4')] },
    { key: 'b', name: 'b', window: 7, items: [id('3')] },
  ]);
});

test('an item named twice stays where it was named first', () => {
  const repaired = repairQueues(state({ a: '1 2 1', b: '2 3' }, [ONE, TWO, THREE]), 7);
  expect(repaired.queues.map(queue => queue.items)).toEqual([[id('1'), id('2')], [id('3')]]);
});

import { expect, test } from 'vitest';
import { actCostDocument } from '../../../src/api/act-cost.ts';
import { derivedUuid } from '../../../src/lib/ids.ts';
import type { ActCost, ItemCost } from '../../../src/model/act-cost.ts';

const item = (effect: ItemCost['effect'], machineMs = 0): ItemCost => ({
  item: derivedUuid(effect, String(machineMs)),
  ...{ pipeline: 'gate', change: 'acme/app 1', effect, machineMs },
});
const cost = (items: readonly ItemCost[], more: Partial<ActCost> = {}): ActCost => ({
  ...{ items, jobs: [], refusals: [] },
  ...more,
});

test.each<[string, ActCost]>([
  ['resets nothing', cost([])],
  ['takes out 1 item', cost([item('left')])],
  [
    'takes out 1 item, resets 2 items and throws away 43 machine minutes',
    cost([item('left', 60_000), item('reset', 1_260_000), item('reset', 1_260_000)]),
  ],
  ['resets 1 item and throws away 29 machine seconds', cost([item('reset', 29_000)])],
  [
    'runs lint, unit again and resets 1 item',
    cost([item('rerun'), item('reset')], { jobs: ['lint', 'unit'] }),
  ],
  ['runs 4 jobs again', cost([item('rerun')], { jobs: ['a', 'b', 'c', 'd'] })],
  ['keeps jobs of 2 items waiting', cost([item('paused'), item('paused')])],
  ['lets jobs of 1 item start', cost([item('resumed')])],
])('the sentence says %s', (text, given) => {
  expect(actCostDocument(given).text).toBe(text);
});

test('many items are counted whole and listed in part', () => {
  const document = actCostDocument(cost(Array.from({ length: 150 }, () => item('reset', 1_000))));
  expect(document.counts.reset).toBe(150);
  expect(document.items).toHaveLength(100);
  expect(document.machine_seconds).toBe(150);
});

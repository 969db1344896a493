import { expect, test } from 'vitest';
import { heldSpans, withoutHeldSpans } from '../../../src/tracing/held-spans.ts';
import { endedSpans, exportedSpans, itemSpans } from '../../../src/tracing/spans/item-spans.ts';
import { resetAndMergedStory } from '../../fake/item-stories.ts';
import { itemStory } from '../../fake/queue-item.ts';

const trace = itemSpans(resetAndMergedStory().item);

test('a trace that travels is cut from its end, so that nothing of it is an orphan', () => {
  expect(trace.length).toBeGreaterThan(24);
  const held = heldSpans(trace);
  expect(held).toEqual(trace.slice(0, held.length));
  expect(held.length).toBeGreaterThan(3);
  expect(held.length).toBeLessThanOrEqual(24);
  expect(JSON.stringify(held).length).toBeLessThan(16_384 + held.length + 2);
  const [root] = trace;
  expect(heldSpans([{ ...root!, name: 'x'.repeat(20_000) }])).toEqual([]);
});

test('of an item that is kept the traces it follows from are exported with it, once, when it leaves', () => {
  const before = itemStory().merge().item;
  const left = itemStory().merge().wait(9).leave('reported', 'FAILURE').item;
  const heldBy = (item: typeof left) => ({
    ...item,
    sampled: false,
    heldBack: true as const,
    origin: { ...item.origin, heldSpans: trace.slice(0, 3) },
  });
  const kept = { ...heldBy(left), kept: true as const };
  const ids = (spans: ReturnType<typeof endedSpans>) => spans.map(({ spanId }) => spanId);
  expect(ids(endedSpans(heldBy(before), kept))).toEqual(ids([...trace.slice(0, 3), ...itemSpans(left)]));
  expect(ids(exportedSpans(kept))).toEqual(ids(endedSpans(heldBy(before), kept)));
  expect(endedSpans(heldBy(before), heldBy(left))).toEqual([]);
  expect(withoutHeldSpans(heldBy(left)).origin).toEqual(left.origin);
});

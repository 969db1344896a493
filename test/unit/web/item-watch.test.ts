/** What the page notifies of by time alone. */
import { expect, test } from 'vitest';
import { liveItem } from '../../../src/api/live-item.ts';
import { ItemWatch, type ShownQueues } from '../../../src/web/page/item-watch.ts';
import { sampleItem } from './sample-item.ts';

const MINUTE = 60_000;

test('a stuck head and a late landing are noticed from the times of the pipeline on', () => {
  const item = liveItem(sampleItem('mine', { at: 0, buildsets: [{ at: 0 }], timeline: [['host', 1]] }), {
    ...{ traceUrl: null, tracesUrl: null, expected: new Map() },
  });
  let now = item.state.since;
  let likely = now + 60 * MINUTE;
  const queues: ShownQueues = {
    items: () => [item],
    forecast: () => ({ place: 1, expected: { what: 'lands', likely } }) as never,
    noticeBounds: pipeline =>
      pipeline === 'gate' ? { stuckAfter: 10 * MINUTE, slippedBy: 5 * MINUTE } : undefined,
    now: () => now,
  };
  const watch = new ItemWatch();
  const events = () =>
    watch
      .look(
        queues,
        () => true,
        () => {},
      )
      .map(({ key }) => key.split(' ')[1]);
  expect(events()).toEqual([]);
  now += 9 * MINUTE;
  likely += 4 * MINUTE;
  expect(events()).toEqual([]);
  now += MINUTE;
  expect(events()).toEqual(['head-stuck']);
  likely += MINUTE;
  expect(events()).toEqual(['head-stuck', 'eta-slipped']);
});

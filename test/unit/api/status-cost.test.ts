import { expect, test } from 'vitest';
import { statusJson } from '../../../src/api/status.ts';
import { fromMilliseconds } from '../../../src/lib/clock.ts';
import type { PipelineState } from '../../../src/model/pipeline-state.ts';
import { gateOf } from '../../bench/gate-reset.ts';
import { sampleSnapshot } from '../web/fake-web.ts';

const CONTEXT = {
  now: fromMilliseconds(1_800_000_000_000),
  version: '1',
  root: 'http://gate.example',
  traceUi: null,
  canonicalNames: new Map(),
  expected: new Map(),
};

/** How often an item is looked up while the status is encoded. */
async function lookUps(size: number): Promise<number> {
  let count = 0;
  class Counted<K, V> extends Map<K, V> {
    override get(key: K): V | undefined {
      count += 1;
      return super.get(key);
    }
  }
  const { state } = gateOf(size, 1, 20).input;
  const counted: PipelineState = { ...state, items: new Counted(state.items) };
  const sample = sampleSnapshot({ gate: [], check: [] });
  const pipelines = sample.pipelines.map(live =>
    live.pipeline.name === 'gate' ? { ...live, state: counted } : live,
  );
  const document = await statusJson({ ...sample, pipelines }, CONTEXT);
  const items = document.pipelines.flatMap(({ change_queues }) =>
    change_queues.flatMap(({ heads }) => heads.flat()),
  );
  expect(items.map(({ items_behind }) => items_behind)).toEqual(
    items.map((_, at) => items.slice(at + 1, at + 2).map(({ id }) => id)),
  );
  expect(items).toHaveLength(size);
  return count;
}

test('the status of a long queue looks at each item as often as that of a short one', async () => {
  const [few, many] = [await lookUps(20), await lookUps(400)];
  expect(few).toBeGreaterThanOrEqual(20);
  expect(many / 400).toBeLessThanOrEqual(few / 20);
});

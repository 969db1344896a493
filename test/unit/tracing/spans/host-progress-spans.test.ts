import { expect, test } from 'vitest';
import { derivedUuid } from '../../../../src/lib/ids.ts';
import { hostProgressSpans } from '../../../../src/tracing/spans/host-progress-spans.ts';
import { asArrived, checkTraces } from '../../../fake/check-traces.ts';
import { at, itemStory } from '../../../fake/queue-item.ts';

const STYLE = { names: 'gatehouse' } as const;
const { item } = itemStory({ seed: 'a' });
const facts = {
  shown: derivedUuid('shown'),
  connection: 'github',
  item,
  change: item.changes[0],
  startedAt: at(10),
  endedAt: at(90),
  outcome: 'done',
  steps: [{ kind: 'HostQuery', subject: 'checks/update', startedAt: at(15), endedAt: at(80) }],
} as const;

test('a text that is shown is a trace of its own that leads to the item', () => {
  const spans = hostProgressSpans(facts, STYLE);
  expect(spans.map(({ name, kind }) => [name, kind])).toEqual([
    ['HostProgress github', 'client'],
    ['HostQuery checks/update', 'client'],
  ]);
  expect(spans[0]?.links.map(({ traceId }) => traceId)).toEqual([item.uuid]);
  expect(spans[0]?.attributes).toMatchObject({
    'gatehouse.connection': 'github',
    'gatehouse.item.id': item.uuid,
    'gatehouse.pipeline': item.pipeline,
    'gatehouse.report.outcome': 'done',
    'gatehouse.link.follows': item.uuid,
  });
  expect(checkTraces(spans.map(asArrived))).toEqual([]);
});

test('a text that the host did not take says why, and one that it shows already has no trace', () => {
  for (const outcome of ['failed', 'host'] as const) {
    const spans = hostProgressSpans({ ...facts, outcome, steps: [] }, STYLE);
    expect(spans.map(({ attributes }) => attributes['gatehouse.reason'])).toEqual([outcome]);
    expect(checkTraces(spans.map(asArrived))).toEqual([]);
  }
  expect(hostProgressSpans({ ...facts, steps: [] }, STYLE)).toEqual([]);
  expect(hostProgressSpans({ ...facts, steps: undefined }, STYLE)).toHaveLength(1);
  expect(hostProgressSpans({ ...facts, item: { ...item, sampled: false } }, STYLE)).toEqual([]);
});

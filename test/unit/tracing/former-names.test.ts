import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { spansCodec } from '../../../src/model/codec/records.ts';
import type { SpanRecord } from '../../../src/model/span.ts';
import { ATTRIBUTE } from '../../../src/tracing/attributes.ts';
import { withCurrentNames } from '../../../src/tracing/former-names.ts';
import { spansInRows } from '../../../src/tracing/otlp/row-spans.ts';
import { itemSpans } from '../../../src/tracing/spans/item-spans.ts';
import { resetAndMergedStory } from '../../fake/item-stories.ts';
import type { GoldenTree } from '../../golden/dump.ts';

const TODAY = new Set<string>(Object.values(ATTRIBUTE));
const golden = new URL('../../golden/', import.meta.url);

describe.each(['store-0.2.json', 'store-0.3.json'])('the outbox of %s', file => {
  const tree: GoldenTree = JSON.parse(readFileSync(new URL(file, golden), 'utf8'));
  const rows = tree.nodes
    .flatMap(({ records }) => records ?? [])
    .filter(({ k }) => k === 'spans')
    .map(record => new TextEncoder().encode(JSON.stringify(record)));

  test('is sent with names of today', () => {
    const { ended } = spansInRows(rows);
    expect(ended.length).toBeGreaterThan(5);
    const names = new Set(ended.flatMap(({ attributes }) => Object.keys(attributes)));
    expect([...names].filter(name => !TODAY.has(name))).toEqual([]);
  });
});

test('spans of today are not touched', () => {
  const spans = itemSpans(resetAndMergedStory().item);
  expect(spans.every(span => withCurrentNames(span) === span)).toBe(true);
  const sent = spansInRows([spansCodec.encode(spans)]).ended;
  expect(sent).toEqual(spans.filter(span => span.end !== null));
});

test('spans of other services are not touched', () => {
  const [span] = itemSpans(resetAndMergedStory().item);
  const foreign = { ...span, attributes: { 'http.route': '/', 'gatehouse.left': 'x' } } as SpanRecord;
  expect(withCurrentNames(foreign)).toBe(foreign);
});

test('facts of a span event with a culprit are the culprit’s, others the event’s own', () => {
  const [span] = itemSpans(resetAndMergedStory().item);
  const at = span?.start;
  const former = {
    ...span,
    attributes: { 'gatehouse.span': 'QueueItem' },
    events: [
      {
        at,
        name: 'reset',
        attributes: {
          'gatehouse.buildset': 'one',
          'gatehouse.cause': 'item-ahead-failed',
          'gatehouse.culprit': 'org/app master/a',
          'gatehouse.item': 'two',
          'gatehouse.build': 'three',
          'gatehouse.job': 'unit',
        },
      },
      { at, name: 'failing', attributes: { 'gatehouse.buildset': 'one', 'gatehouse.job': 'unit' } },
      { at, name: 'left', attributes: { 'gatehouse.item': 'two' } },
    ],
  } as unknown as SpanRecord;
  expect(withCurrentNames(former)).toMatchObject({
    attributes: { 'gatehouse.span.type': 'QueueItem' },
    events: [
      {
        name: 'reset',
        attributes: {
          'gatehouse.buildset.id': 'one',
          'gatehouse.cause.code': 'item-ahead-failed',
          'gatehouse.culprit.change': 'org/app master/a',
          'gatehouse.culprit.item.id': 'two',
          'gatehouse.culprit.build.id': 'three',
          'gatehouse.culprit.job': 'unit',
        },
      },
      { name: 'failing', attributes: { 'gatehouse.buildset.id': 'one', 'gatehouse.job': 'unit' } },
      { name: 'dequeued', attributes: { 'gatehouse.item.id': 'two' } },
    ],
  });
});

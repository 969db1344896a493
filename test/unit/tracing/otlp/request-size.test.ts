import { expect, it } from 'vitest';
import type { SpanRecord } from '../../../../src/model/span.ts';
import { encodeRequest } from '../../../../src/tracing/otlp/encode-request.ts';
import { estimatedBytes } from '../../../../src/tracing/otlp/request-size.ts';
import { itemSpans } from '../../../../src/tracing/spans/item-spans.ts';
import { INSTALLATION } from '../../../fake/installation.ts';
import { resetAndMergedStory } from '../../../fake/item-stories.ts';

const spans = itemSpans(resetAndMergedStory().item);
const [first] = spans;
const attributes = {
  ['鍵'.repeat(30)]: '値'.repeat(50),
  n: -1,
  f: 0.1,
  b: true,
  list: ['ä', 'ö'],
  ns: [1, -2, 3.5],
};
const link = { traceId: first!.traceId, spanId: first!.spanId, attributes };
/** Of the request itself: our own resource and scope. */
const ROUND = encodeRequest([], INSTALLATION).length + 300;

it.each<[string, readonly SpanRecord[]]>([
  ['of an item', spans],
  ['with a long message', [{ ...first!, status: { code: 'error', message: 'ß'.repeat(5_000) } }]],
  ['with names in another script', [{ ...first!, name: '名'.repeat(60), attributes }]],
  ['with many links', [{ ...first!, links: Array.from({ length: 500 }, () => link) }]],
  [
    'with many events',
    [
      {
        ...first!,
        events: Array.from({ length: 500 }, () => ({ name: '名', at: first!.start, attributes })),
      },
    ],
  ],
  ['of another service', [{ ...first!, resource: attributes, scope: '名'.repeat(60), traceState: 'a=b' }]],
])('a request is never larger than estimated: spans %s', (_, each) => {
  const estimate = each.reduce((sum, span) => sum + estimatedBytes(span), 0);
  const { length } = encodeRequest(each, INSTALLATION);
  expect(length).toBeLessThanOrEqual(estimate + ROUND);
  expect(length).toBeGreaterThan(estimate / 5);
});

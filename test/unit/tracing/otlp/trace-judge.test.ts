/** What is found wrong with traces before they are sent: nothing with those of our stories, and each fault that is made in one. */
import { expect, test } from 'vitest';
import { toMilliseconds } from '../../../../src/lib/clock.ts';
import type { SpanRecord } from '../../../../src/model/span.ts';
import { createTraceJudge, type FaultyTrace } from '../../../../src/tracing/otlp/trace-judge.ts';
import { itemSpans } from '../../../../src/tracing/spans/item-spans.ts';
import { failedStory } from '../../../fake/item-stories.ts';
import { at } from '../../../fake/queue-item.ts';

const { item } = failedStory({ seed: 'a' });
const SPANS = itemSpans(item);

/** @param began of the judge, in milliseconds of the story. */
function judged(spans: readonly SpanRecord[], { began = -10_000, again = false } = {}) {
  let mono = 0;
  const faults: FaultyTrace[] = [];
  let now = at(began);
  const judge = createTraceJudge({
    now: () => now,
    monotonic: () => mono,
    onFault: fault => void faults.push(fault),
  });
  now = at(60_000);
  for (const span of spans) judge.see([span]);
  if (again) judge.see(spans);
  expect(judge.hours()).toEqual([]);
  mono = 10_000;
  const [hour, ...more] = judge.hours();
  expect(more).toEqual([]);
  const { hour: begin, ...counts } = hour!;
  expect(begin).toBe(Math.floor(toMilliseconds(now) / 3_600_000) * 3_600_000);
  expect(judge.totals()).toEqual(counts);
  return { ...counts, faults: faults.map(({ fault, span }) => `${fault}: ${span}`) };
}

const NONE = { orphans: 0, outside: 0, untiled: 0, untiledNs: 0, dangling: 0 };

test('a whole trace has no fault, in any order and how often its spans come', () => {
  const whole = { judged: 1, unjudged: 0, ...NONE, faults: [] };
  expect(judged(SPANS)).toEqual(whole);
  expect(judged(SPANS.toReversed(), { again: true })).toEqual(whole);
});

test('a trace that began before the judge is not judged', () => {
  expect(judged(SPANS.slice(0, 3), { began: 30_000 })).toMatchObject({ judged: 0, unjudged: 1, ...NONE });
});

const buildset = SPANS.find(({ name }) => name.startsWith('BuildSet'))!;

test.each<[string, readonly SpanRecord[], object]>([
  [
    'a parent that was not sent',
    SPANS.filter(span => span !== buildset),
    { faults: expect.arrayContaining([expect.stringMatching(/^orphans: /)]) },
  ],
  [
    'a child that ends after its parent',
    SPANS.map(span =>
      span.parent === buildset.spanId && span.name.startsWith('Build ') ? { ...span, end: at(9e7) } : span,
    ),
    { outside: expect.any(Number), faults: [expect.stringMatching(/^outside: Build /)] },
  ],
  [
    'time in no state',
    SPANS.filter(
      span =>
        (!span.name.startsWith('Build ') &&
          span.parent !== null &&
          SPANS.some(({ spanId, name }) => spanId === span.parent && !name.startsWith('Build '))) ||
        span.parent === null,
    ),
    { untiled: 1, faults: expect.arrayContaining([expect.stringMatching(/^untiled: QueueItem/)]) },
  ],
  [
    'a link to nothing',
    SPANS.map(span =>
      span.parent === null
        ? {
            ...span,
            links: [
              { traceId: span.traceId, spanId: 'feedfeedfeedfeed' as SpanRecord['spanId'], attributes: {} },
            ],
          }
        : span,
    ),
    { dangling: 1, faults: [expect.stringMatching(/^dangling: QueueItem/)] },
  ],
])('%s is found', (_, spans, expected) => {
  expect(judged(spans)).toMatchObject({ judged: 1, ...expected });
});

import { describe, expect, it } from 'vitest';
import { itemSpans } from '../../../src/tracing/spans/item-spans.ts';
import { asArrived, type CheckedSpan, checkTraces } from '../../fake/check-traces.ts';
import { resetAndMergedStory } from '../../fake/item-stories.ts';

const spans = itemSpans(resetAndMergedStory().item).map(asArrived);

/** The spans with one of them changed, or left out. */
function withSpan(
  name: string,
  change: (span: CheckedSpan) => CheckedSpan | undefined,
): readonly CheckedSpan[] {
  const target = spans.find(span => span.name.startsWith(name));
  if (target === undefined) throw new Error(`no span ${name}`);
  return spans.flatMap(span => (span === target ? (change(span) ?? []) : span));
}

function without(span: CheckedSpan, attribute: string): CheckedSpan {
  const { [attribute]: _gone, ...attributes } = span.attributes;
  return { ...span, attributes };
}

describe('the checks on traces find', () => {
  it('nothing wrong with a right one', () => {
    expect(checkTraces(spans)).toEqual([]);
    expect(checkTraces([])).toEqual([]);
  });

  it.each<[string, readonly CheckedSpan[], RegExp]>([
    ['a missing root', withSpan('QueueItem', () => undefined), /has 0 roots/],
    ['a second root', withSpan('Report', span => ({ ...span, parentSpanId: null })), /has 2 roots/],
    ['an orphan', withSpan('Build lint', () => undefined), /is an orphan/],
    [
      'a child outside its parent',
      withSpan('MergerJob', span => ({ ...span, end: span.end + 10n ** 12n })),
      /reaches outside its parent Merge/,
    ],
    [
      'a span that ends before it starts',
      withSpan('Cleanup', span => ({ ...span, end: span.start - 1n })),
      /ends before it starts/,
    ],
    [
      'a name with a change in it',
      withSpan('QueueItem', span => ({ ...span, name: `${span.name} master/login` })),
      /has master\/login in its name, which must be one of few/,
    ],
    [
      'a name with an id in it',
      withSpan('QueueItem', span => ({ ...span, name: `${span.name} ${span.traceId}` })),
      /in its name, which must be one of few/,
    ],
    ['a malformed id', withSpan('Cleanup', span => ({ ...span, spanId: '00' })), /malformed span id/],
    ['a span that came twice', [...spans, spans[5]!], /came twice$/],
    [
      'a span that came twice and differs',
      [...spans, { ...spans[5]!, name: 'Wait else' }],
      /came twice and differs/,
    ],
    [
      'a reset without a cause',
      withSpan('BuildSet 2', span => without(span, 'gatehouse.cause.code')),
      /does not say why/,
    ],
    ['a reset without its links', withSpan('BuildSet 2', span => ({ ...span, links: [] })), /not linked to/],
    ['a missing buildset', withSpan('BuildSet 1', () => undefined), /has number 2 in place 1/],
    [
      'an error that did not fail',
      withSpan('Build lint', span => ({ ...span, status: { code: 2, message: '' } })),
      /but status 2/,
    ],
    [
      'a failure without error',
      withSpan('Build lint', span => ({
        ...span,
        attributes: { ...span.attributes, 'gatehouse.result': 'FAILURE' },
      })),
      /but status 0/,
    ],
    [
      'a missing result',
      withSpan('Merge', span => without(span, 'gatehouse.result')),
      /does not say how it ended/,
    ],
    [
      'unexplained time',
      withSpan('Wait change-ahead', () => undefined),
      /48000000000 ns .* explained by neither/,
    ],
    [
      'waits that overlap',
      withSpan('Wait window', span => ({ ...span, end: span.end + 500_000_000n })),
      /overlap/,
    ],
  ])('%s', (_what, broken, expected) => {
    expect(checkTraces(broken).join('\n')).toMatch(expected);
  });

  it('equal repeats only where they are not allowed', () => {
    expect(checkTraces([...spans, ...spans], { repeatsAllowed: true })).toEqual([]);
    expect(checkTraces([...spans, ...spans]).length).toBe(spans.length);
  });
});

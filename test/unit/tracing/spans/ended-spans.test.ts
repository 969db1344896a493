import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { QueueItem } from '../../../../src/model/queue-item.ts';
import type { SpanRecord } from '../../../../src/model/span.ts';
import { endedSpans, itemSpans } from '../../../../src/tracing/spans/item-spans.ts';
import { DEFAULT_SPAN_OPTIONS } from '../../../../src/tracing/spans/span-options.ts';
import { asArrived, checkTraces } from '../../../fake/check-traces.ts';
import { randomStory, resetAndMergedStory } from '../../../fake/item-stories.ts';
import { itemStory } from '../../../fake/queue-item.ts';

function fold(versions: readonly QueueItem[]): readonly SpanRecord[] {
  return versions.flatMap((after, index) => endedSpans(versions[index - 1], after, DEFAULT_SPAN_OPTIONS));
}

function sorted(spans: readonly SpanRecord[]): readonly SpanRecord[] {
  return [...spans].sort((a, b) => (a.spanId < b.spanId ? -1 : 1));
}

/** Some of the versions in between were never seen: several steps were one commit. */
function withoutSome(versions: readonly QueueItem[], mask: number): readonly QueueItem[] {
  return versions.filter((_, index) => index === versions.length - 1 || ((mask >> (index % 31)) & 1) === 0);
}

describe('ended spans', () => {
  const story = fc.array(fc.nat(1000), { minLength: 1, maxLength: 40 });

  it('come once each over any life of an item, and make its whole trace', () => {
    fc.assert(
      fc.property(story, fc.integer(), (choices, mask) => {
        const versions = withoutSome(randomStory(choices).versions, mask);
        const folded = fold(versions);
        expect(sorted(folded)).toEqual(sorted(itemSpans(versions.at(-1)!)));
      }),
      { numRuns: 300 },
    );
  });

  it('are the same when every version was read from the store anew', () => {
    fc.assert(
      fc.property(story, choices => {
        const { versions } = randomStory(choices);
        const copies = versions.map(version => structuredClone(version));
        expect(fold(copies)).toEqual(fold(versions));
      }),
      { numRuns: 100 },
    );
  });

  it('pass all checks on traces, for any history of the item', () => {
    fc.assert(
      fc.property(story, choices => {
        expect(checkTraces(fold(randomStory(choices).versions).map(asArrived))).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });

  it('include the subtree an executor reports after its build was cancelled, and not the build again', () => {
    const story = resetAndMergedStory();
    const late = story.versions.findIndex(
      (version, index) =>
        index > 0 && version.earlier.length === 1 && story.versions[index - 1]!.earlier.length === 1,
    );
    const names = endedSpans(story.versions[late - 1], story.versions[late]!).map(span => span.name);
    expect(names).toEqual([
      'JobExecution unit-tests',
      'BuildRepoUpdate local/acme/app',
      'BuildCheckout local/acme/app',
      'JobSetup sandbox',
      'Playbook pre-run/setup.sh',
      'Playbook run/test.sh',
      'Cleanup workspace',
    ]);
  });

  it('of an item that is not sampled are none', () => {
    expect(fold(resetAndMergedStory({ sampled: false }).versions)).toEqual([]);
    expect(itemSpans(resetAndMergedStory({ sampled: false }).item).length).toBeGreaterThan(20);
  });

  it('of a version that changed nothing are none', () => {
    const { item } = itemStory().merge().wait(4).merged();
    expect(endedSpans(item, item)).toEqual([]);
    expect(endedSpans(item, { ...item })).toEqual([]);
  });
});

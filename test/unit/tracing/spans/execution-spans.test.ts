import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { spanIdOf, type Uuid } from '../../../../src/lib/ids.ts';
import type { Build, Execution } from '../../../../src/model/build.ts';
import type { BuildSet } from '../../../../src/model/build-set.ts';
import type { QueueItem } from '../../../../src/model/queue-item.ts';
import type { SpanRecord } from '../../../../src/model/span.ts';
import {
  continuationSpanId,
  jobExecutionSpanId,
  ownTraceOf,
  playbookSpan,
} from '../../../../src/tracing/span-ids.ts';
import { endedSpans, itemSpans } from '../../../../src/tracing/spans/item-spans.ts';
import { orderSpans } from '../../../../src/tracing/spans/order-spans.ts';
import { asArrived, checkTraces } from '../../../fake/check-traces.ts';
import { randomStory } from '../../../fake/item-stories.ts';
import { itemStory } from '../../../fake/queue-item.ts';

type Length = 'usual' | 'long' | 'ran-over';

/** The same record, had its builds been long. */
function lengthened(item: QueueItem, lengthOf: (build: Uuid) => Length): QueueItem {
  const builds = (set: BuildSet) => ({
    ...set,
    builds: set.builds.map(build => long(build, lengthOf(build.uuid))),
  });
  return { ...item, buildset: builds(item.buildset), earlier: item.earlier.map(builds) };
}

function long(build: Build, length: Length): Build {
  if (length === 'long') return { ...build, ownTrace: true };
  if (length === 'usual' || !('execution' in build.state) || build.state.execution === null) return build;
  return { ...build, state: { ...build.state, execution: ranOver(build.state.execution) } };
}

/** From its last but one step on. */
function ranOver(execution: Execution): Execution {
  const from = execution.steps.length - 2;
  const continuedAt = execution.steps[from]?.startedAt;
  if (continuedAt === undefined) return execution;
  const steps = execution.steps.map((step, index) =>
    index < from ? step : { ...step, continued: true as const },
  );
  return { ...execution, continuedAt, steps };
}

function byUuid(build: Uuid): Length {
  const lengths: readonly Length[] = ['usual', 'long', 'ran-over'];
  return lengths[Number.parseInt(build.slice(0, 4), 16) % lengths.length] ?? 'usual';
}

function sorted(spans: readonly SpanRecord[]): readonly SpanRecord[] {
  return [...spans].sort((a, b) => (a.spanId < b.spanId ? -1 : 1));
}

function oneBuild(length: Length) {
  const story = itemStory();
  story.merge().wait(10).merged().freeze(['unit']).wait(1).start('unit').wait(9000).finish('unit', 'FAILURE');
  const item = lengthened(story.complete('FAILURE').leave('reported', 'FAILURE').item, () => length);
  const [build] = item.buildset.builds;
  if (build === undefined) throw new Error('there is no build');
  const spans = itemSpans(item);
  return { item, build, spans, named: (name: string) => spans.find(span => span.name === name)! };
}

describe('the work of a job that was expected to run long', () => {
  const { item, build, spans, named } = oneBuild('long');
  const own = ownTraceOf(build.uuid);
  const execution = named('JobExecution unit');

  it('is a trace of its own, and nothing of it is in the trace of the item', () => {
    expect(execution).toMatchObject({ traceId: own, parent: null, kind: 'consumer' });
    const inside = spans.filter(span => span.traceId === own);
    expect(inside.length).toBeGreaterThan(4);
    expect(inside.filter(span => span !== execution).every(span => span.parent === execution.spanId)).toBe(
      true,
    );
    const kinds = spans
      .filter(span => span.traceId !== own)
      .map(span => span.attributes['gatehouse.span.type']);
    expect(kinds).not.toContain('Playbook');
    expect(kinds).toContain('ExecutorQueue');
  });

  it('is found from the build and leads back to it', () => {
    expect(named('Build unit')).toMatchObject({
      links: [
        { traceId: own, spanId: execution.spanId, attributes: { 'gatehouse.link.relation': 'continues_in' } },
      ],
      attributes: { 'gatehouse.link.continues_in': own },
    });
    expect(execution).toMatchObject({
      links: [
        {
          traceId: item.uuid,
          spanId: spanIdOf(build.uuid),
          attributes: { 'gatehouse.link.relation': 'continued_from' },
        },
      ],
      attributes: {
        'gatehouse.link.continued_from': item.uuid,
        'gatehouse.tenant': 'acme',
        'gatehouse.pipeline': 'gate',
        'gatehouse.item.id': item.uuid,
        'gatehouse.buildset.id': item.buildset.uuid,
        'gatehouse.build.id': build.uuid,
        'vcs.change.id': 'master/login',
      },
    });
  });

  it('is drawn below its build', () => {
    const rows = orderSpans(spans);
    expect(rows.filter(row => row.depth === 0)).toHaveLength(1);
    const at = rows.findIndex(row => row.span.name === 'Build unit');
    const row = rows.find(each => each.span === execution);
    expect(row?.depth).toBe((rows[at]?.depth ?? 0) + 1);
  });

  it('is promised only where there was or may be work', () => {
    const story = itemStory().merge().wait(10).merged().freeze(['unit']).wait(1);
    const waiting = lengthened(story.item, () => 'long');
    expect(itemSpans(waiting).find(span => span.name === 'Build unit')?.links).toEqual([]);
    const started = lengthened(story.start('unit').item, () => 'long');
    expect(itemSpans(started).find(span => span.name === 'Build unit')?.links).toHaveLength(1);
    const lost = lengthened(story.wait(9).finish('unit', 'RETRY', 'without').item, () => 'long');
    expect(itemSpans(lost).find(span => span.name === 'Build unit')?.links).toEqual([]);
  });
});

describe('a job that ran over', () => {
  const { item, build, spans, named } = oneBuild('ran-over');
  const own = ownTraceOf(build.uuid);
  const execution = named('JobExecution unit');
  const continuation = named('JobExecution unit (continued)');

  it('has what began after that in a continuation trace', () => {
    expect(execution).toMatchObject({
      traceId: item.uuid,
      parent: spanIdOf(build.uuid),
      end: continuation.end,
    });
    expect(continuation).toMatchObject({ traceId: own, parent: null, kind: 'consumer' });
    const inside = spans.filter(span => span.traceId === own && span !== continuation);
    expect(inside.map(span => [span.name, span.parent])).toEqual([
      ['Playbook run/test.sh', continuation.spanId],
      ['Cleanup workspace', continuation.spanId],
    ]);
    expect(continuation.start).toBe(inside[0]?.start);
  });

  it('leads there and back', () => {
    expect(execution.attributes['gatehouse.link.continues_in']).toBe(own);
    expect(execution.links).toMatchObject([
      { traceId: own, spanId: continuationSpanId(spanIdOf(build.uuid)) },
    ]);
    expect(continuation.attributes).toMatchObject({
      'gatehouse.link.continued_from': item.uuid,
      'gatehouse.continuation': true,
    });
    expect(continuation.links).toMatchObject([{ traceId: item.uuid, spanId: execution.spanId }]);
    expect(orderSpans(spans).filter(row => row.depth === 0)).toHaveLength(1);
  });
});

describe('a playbook gets the id of its later span', () => {
  it.each([
    ['usual', {}],
    ['long', { own: true }],
    ['ran-over', { splitAfterMs: 1 }],
  ] as const)('when its job is %s', (length, more) => {
    const { item, build, named } = oneBuild(length);
    const buildSpan = spanIdOf(build.uuid);
    const trace = { traceId: ownTraceOf(item.uuid), buildSpan, sampled: true, event: null, ...more };
    const context = playbookSpan(build.uuid, trace, {
      subject: 'run/test.sh',
      ordinal: 0,
      continued: length === 'ran-over',
    });
    const { traceId, spanId, parent } = named('Playbook run/test.sh');
    expect(context).toEqual({ traceId, spanId });
    expect(parent).toBe(
      length === 'ran-over' ? continuationSpanId(buildSpan) : jobExecutionSpanId(buildSpan),
    );
  });
});

describe('spans of items with long jobs', () => {
  const story = fc.array(fc.nat(1000), { minLength: 1, maxLength: 40 });

  it('come once each, make whole traces and pass all checks, for any history', () => {
    let divided = 0;
    fc.assert(
      fc.property(story, choices => {
        const versions = randomStory(choices).versions.map(version => lengthened(version, byUuid));
        const spans = versions.flatMap((after, index) => endedSpans(versions[index - 1], after));
        expect(sorted(spans)).toEqual(sorted(itemSpans(versions.at(-1)!)));
        expect(checkTraces(spans.map(asArrived))).toEqual([]);
        divided += new Set(spans.map(span => span.traceId)).size - 1;
      }),
      { numRuns: 200 },
    );
    expect(divided).toBeGreaterThan(50);
  });

  it('of an item that is held back come all at once when it leaves and is kept, else never', () => {
    fc.assert(
      fc.property(story, fc.boolean(), (choices, kept) => {
        const versions = randomStory(choices)
          .versions.map(version => lengthened(version, byUuid))
          .map((version): QueueItem => ({ ...version, sampled: false, heldBack: true }));
        const left = versions.findIndex(version => version.phase.phase === 'left');
        const before = versions.slice(0, left);
        expect(before.flatMap((after, index) => endedSpans(versions[index - 1], after))).toEqual([]);
        const last: QueueItem = { ...versions[left]!, ...(kept ? { kept } : {}) };
        const spans = endedSpans(versions[left - 1], last);
        expect(spans).toEqual(kept ? itemSpans(last) : []);
        expect(spans.every(span => span.end !== null)).toBe(true);
      }),
      { numRuns: 100 },
    );
  });
});

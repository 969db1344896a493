import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addMilliseconds, type Nanoseconds, parseNanoseconds } from '../../../../src/lib/clock.ts';
import {
  derivedSpanId,
  parseUuid,
  type SpanId,
  spanIdOf,
  type TraceId,
  traceIdOf,
} from '../../../../src/lib/ids.ts';
import { isBefore } from '../../../../src/lib/time-window.ts';
import type { Execution } from '../../../../src/model/build.ts';
import type { BuildRequest, BuildTrace } from '../../../../src/model/build-request.ts';
import type { SpanRecord } from '../../../../src/model/span.ts';
import type { Step } from '../../../../src/model/step.ts';
import {
  continuationSpanId,
  jobExecutionSpanId,
  keyedStepSpanId,
  ownTraceOf,
  playbookSpan,
} from '../../../../src/tracing/span-ids.ts';
import { derivableIds } from '../../../../src/tracing/spans/derivable-ids.ts';
import { placeJobSpans, type ReportedSpan } from '../../../../src/tracing/spans/job-spans.ts';

const T0 = parseNanoseconds('1795000000000000000');
const at = (ms: number): Nanoseconds => addMilliseconds(T0, ms);
const ITEM = parseUuid('11111111111111112222222222222222');
const BUILD = parseUuid('33333333333333334444444444444444');
const BUILDSET = parseUuid('55555555555555556666666666666666');
const TRACE: BuildTrace = {
  traceId: traceIdOf(ITEM),
  buildSpan: spanIdOf(BUILD),
  sampled: true,
  event: null,
};
const REQUEST = {
  uuid: BUILD,
  tenant: 'acme',
  pipeline: 'gate',
  item: ITEM,
  buildset: BUILDSET,
  jobName: 'unit',
  attempt: 2,
  requestedAt: at(0),
} as BuildRequest;

function playbook(subject: string, from: number, to: number, more: Partial<Step> = {}): Step {
  return { kind: 'Playbook', subject, startedAt: at(from), endedAt: at(to), ...more };
}

const EXECUTION: Execution = {
  startedAt: at(10),
  endedAt: at(1000),
  steps: [
    { kind: 'JobSetup', subject: 'unit', startedAt: at(10), endedAt: at(90) },
    playbook('pre.sh', 100, 200),
    playbook('run.sh', 300, 900, {
      steps: [{ kind: 'ScriptStep', subject: 'make', key: 'k1', startedAt: at(310), endedAt: at(400) }],
    }),
  ],
};
const PRE = playbookSpan(BUILD, TRACE, { subject: 'pre.sh', ordinal: 0, continued: false }).spanId;
const RUN = playbookSpan(BUILD, TRACE, { subject: 'run.sh', ordinal: 0, continued: false }).spanId;
const STEP = keyedStepSpanId(RUN, 'k1');

let made = 0;
function span(parent: SpanId, from: number, to: number, more: Partial<SpanRecord> = {}): SpanRecord {
  made += 1;
  return {
    traceId: TRACE.traceId,
    spanId: `aaaaaaaa${String(made).padStart(8, '0')}` as SpanId,
    parent,
    name: 'mine',
    kind: 'internal',
    start: at(from),
    end: at(to),
    attributes: {},
    events: [],
    links: [],
    resource: { 'service.name': 'pytest' },
    scope: 'pytest',
    status: { code: 'unset' },
    ...more,
  };
}

function place(
  received: readonly SpanRecord[],
  more: Partial<Parameters<typeof placeJobSpans>[0]> = {},
  arrivedAt = 950,
) {
  const build = { request: REQUEST, trace: TRACE, execution: EXECUTION, cancelledAt: null, ...more };
  return placeJobSpans(
    build,
    received.map((each): ReportedSpan => ({ span: each, at: at(arrivedAt) })),
  );
}

describe('a span of a job', () => {
  test('below a playbook, a step or another span of the job keeps its parent', () => {
    const first = span(RUN, 310, 400);
    const second = span(first.spanId, 320, 390);
    const inStep = span(STEP, 320, 330);
    // Children arrive before their parents: they end before them.
    const { spans, rejected } = place([second, first, inStep]);
    expect(rejected).toBe(0);
    const parents = new Map(spans.map(each => [each.spanId, each.parent]));
    expect(parents.get(first.spanId)).toBe(RUN);
    expect(parents.get(second.spanId)).toBe(first.spanId);
    expect(parents.get(inStep.spanId)).toBe(STEP);
  });

  test('gets the ids of its build, in place of its own, and keeps the rest', () => {
    const { spans } = place([
      span(RUN, 310, 400, {
        attributes: { 'gatehouse.tenant': 'other', 'gatehouse.result': 'SUCCESS', mine: true },
        resource: { 'service.name': 'pytest', 'gatehouse.item.id': 'forged' },
        events: [{ at: at(320), name: 'e', attributes: { 'gatehouse.x': 1, y: 2 } }],
        links: [
          { traceId: TRACE.traceId, spanId: RUN, attributes: { 'gatehouse.link.relation': 'follows' } },
        ],
      }),
    ]);
    expect(spans[0]).toMatchObject({
      attributes: {
        mine: true,
        'gatehouse.span.type': 'JobSpan',
        'gatehouse.tenant': 'acme',
        'gatehouse.pipeline': 'gate',
        'gatehouse.item.id': ITEM,
        'gatehouse.buildset.id': BUILDSET,
        'gatehouse.build.id': BUILD,
        'gatehouse.job': 'unit',
        'gatehouse.attempt': 2,
      },
      resource: { 'service.name': 'pytest' },
      scope: 'pytest',
      events: [{ attributes: { y: 2 } }],
      links: [{ attributes: {} }],
    });
    const text = JSON.stringify(spans);
    for (const forged of ['other', 'forged', 'SUCCESS', 'gatehouse.x', 'follows'])
      expect(text).not.toContain(forged);
  });

  test('with an unknown parent goes below the playbook that ran when it arrived', () => {
    const missing = 'bbbbbbbbbbbbbbbb' as SpanId;
    const early = place([span(missing, 110, 120)], {}, 150).spans[0];
    expect(early).toMatchObject({
      parent: PRE,
      attributes: { 'gatehouse.span.original_parent_id': missing },
    });
    expect(place([span(missing, 310, 320)], {}, 350).spans[0]?.parent).toBe(RUN);
    // A span of ours that is no playbook, and nothing below one, is no parent either.
    expect(place([span(jobExecutionSpanId(TRACE.buildSpan), 310, 320)]).spans[0]?.parent).toBe(RUN);
  });

  test('among spans that are one another’s parents, one hangs below the playbook', () => {
    const [a, b] = [span(RUN, 310, 320), span(RUN, 310, 320)];
    const { spans } = place([
      { ...a, parent: b.spanId },
      { ...b, parent: a.spanId },
    ]);
    expect(spans.map(each => each.parent)).toEqual([RUN, a.spanId]);
  });

  test('received while no playbook had begun, or with an id of a span of ours, is rejected', () => {
    expect(place([span('bbbbbbbbbbbbbbbb' as SpanId, 20, 30)], {}, 50)).toEqual({ spans: [], rejected: 1 });
    for (const id of [RUN, PRE, STEP, spanIdOf(ITEM), spanIdOf(BUILDSET), spanIdOf(BUILD)])
      expect(place([span(RUN, 310, 320, { spanId: id })])).toEqual({ spans: [], rejected: 1 });
  });

  test('finds no place with the id of a wait, a layout or a frozen job of its item, which it could work out', () => {
    const graph = derivedSpanId(spanIdOf(BUILDSET), 'JobGraph', 1);
    const guessed = [
      derivedSpanId(spanIdOf(ITEM), 'Wait window', 0),
      derivedSpanId(spanIdOf(ITEM), 'Wait change-ahead', 40),
      derivedSpanId(spanIdOf(BUILDSET), 'Layout', 0),
      derivedSpanId(graph, 'FreezeJob unit', 3),
    ];
    const ids = derivableIds(REQUEST, TRACE.buildSpan);
    expect(guessed.filter(id => !ids.has(id))).toEqual([]);
    expect(ids.has(keyedStepSpanId(TRACE.buildSpan, 'mine'))).toBe(false);
  });

  test('lies within its playbook, and says by how much it was moved', () => {
    const [before, after] = place([
      span(RUN, 200, 350, { events: [{ at: at(200), name: 'e', attributes: {} }] }),
      span(RUN, 800, 5000),
    ]).spans;
    expect(before).toMatchObject({
      start: at(300),
      end: at(350),
      events: [{ at: at(300) }],
      attributes: { 'gatehouse.clock_adjusted_ns': 100_000_000 },
    });
    expect(after).toMatchObject({ start: at(800), end: at(900) });
  });

  test('of a cancelled build ends by when that was cancelled', () => {
    const { spans } = place([span(RUN, 310, 800), span(RUN, 700, 800)], { cancelledAt: at(600) });
    expect(spans.map(({ end }) => end)).toEqual([at(600), at(600)]);
  });
});

describe('a build whose work is in another trace', () => {
  test('of its own has the spans of its job there', () => {
    const trace: BuildTrace = { ...TRACE, own: true };
    const traceId = ownTraceOf(BUILD);
    const { spans, rejected } = place([span(RUN, 310, 400, { traceId }), span(RUN, 310, 400)], { trace });
    expect([spans.map(each => each.traceId), rejected]).toEqual([[traceId], 1]);
  });

  test('from a moment on has spans of its job in both', () => {
    const steps = [playbook('run.sh', 100, 200), playbook('run.sh', 300, 900, { continued: true })];
    const execution = { startedAt: at(10), endedAt: at(1000), continuedAt: at(300), steps };
    const later = playbookSpan(BUILD, TRACE, { subject: 'run.sh', ordinal: 0, continued: true });
    expect(later.traceId).toBe(ownTraceOf(BUILD));
    const { spans } = place([span(RUN, 110, 120), span(later.spanId, 310, 400, { traceId: later.traceId })], {
      execution,
    });
    expect(spans.map(each => [each.traceId, each.parent])).toEqual([
      [TRACE.traceId, RUN],
      [later.traceId, later.spanId],
    ]);
    expect(
      place([span(RUN, 1, 2, { spanId: continuationSpanId(TRACE.buildSpan) })], { execution }).spans,
    ).toEqual([]);
  });
});

test('no span of a job is an orphan, in a cycle or outside its playbook', () => {
  const id = fc.integer({ min: 0, max: 12 }).map(n => `cccccccc0000000${n.toString(16)}` as SpanId);
  const parent = fc.oneof(id, fc.constantFrom(RUN, PRE, STEP, spanIdOf(ITEM), spanIdOf(BUILD)));
  const received = fc.record({
    spanId: id,
    parent,
    from: fc.nat(1200),
    length: fc.nat(500),
    at: fc.integer({ min: 100, max: 1000 }),
    traceId: fc.constantFrom(TRACE.traceId, TRACE.traceId, ownTraceOf(BUILD)),
  });
  fc.assert(
    fc.property(fc.uniqueArray(received, { selector: each => each.spanId }), all => {
      const { spans, rejected } = placeJobSpans(
        { request: REQUEST, trace: TRACE, execution: EXECUTION, cancelledAt: null },
        all.map(({ from, length, at: ms, ...each }) => ({
          span: span(each.parent, from, from + length, each),
          at: at(ms),
        })),
      );
      expect(spans.length + rejected).toBe(all.length);
      const known = new Set<SpanId>([RUN, PRE, STEP]);
      for (const each of spans) {
        expect(each.traceId as TraceId).toBe(TRACE.traceId);
        expect(known.has(each.parent!)).toBe(true);
        known.add(each.spanId);
        const [low, high] = isBefore(each.start, at(300)) ? [at(100), at(200)] : [at(300), at(900)];
        expect(
          isBefore(each.start, low) || isBefore(high, each.end!) || isBefore(each.end!, each.start),
        ).toBe(false);
      }
    }),
  );
});

import { describe, expect, test } from 'vitest';
import { buildIntake } from '../../../../src/executor/relay/build-relay.ts';
import { countsText } from '../../../../src/executor/relay/relay-quota.ts';
import { addMilliseconds, parseNanoseconds } from '../../../../src/lib/clock.ts';
import { type SpanId, spanIdOf, type TraceId } from '../../../../src/lib/ids.ts';
import type { SpanRecord } from '../../../../src/model/span.ts';
import { ownTraceOf } from '../../../../src/tracing/span-ids.ts';
import { buildRequest } from '../fixture.ts';

const T0 = parseNanoseconds('1795000000000000000');
const request = buildRequest('1'.repeat(40), { run: ['run.sh'] });
const trace = request.trace!;

function intake(limits = { spans: 3, bytes: 100_000 }) {
  return buildIntake(request, trace, limits, { now: () => T0 });
}

let made = 0;
function span(more: Partial<SpanRecord> = {}): SpanRecord {
  made += 1;
  return {
    traceId: trace.traceId,
    spanId: `aaaaaaaa${String(made).padStart(8, '0')}` as SpanId,
    parent: 'bbbbbbbbbbbbbbbb' as SpanId,
    name: 'mine',
    kind: 'internal',
    start: T0,
    end: addMilliseconds(T0, 5),
    attributes: {},
    events: [],
    links: [],
    status: { code: 'unset' },
    ...more,
  };
}

function read(...spans: readonly SpanRecord[]) {
  const weighed = spans.map(each => ({ span: each, bytes: JSON.stringify(each).length }));
  return {
    kind: 'spans',
    encoding: 'json',
    spans: weighed,
    unpacked: 0,
    rejected: 0,
    reason: undefined,
  } as const;
}

describe('what a build may hand in', () => {
  test('is below the build: of its trace, with a parent, with an id of its own', () => {
    const relay = intake();
    const bad = [
      span({ traceId: '9'.repeat(32) as TraceId }),
      span({ parent: null }),
      span({ spanId: spanIdOf(request.item) }),
      span({ spanId: trace.buildSpan }),
    ];
    const { rejected, reason } = relay.take(
      read(...bad, span(), span({ traceId: ownTraceOf(request.uuid) })),
    );
    expect(rejected).toBe(4);
    expect(reason).toContain('TRACEPARENT');
    expect(relay.counts()).toMatchObject({ taken: 2, rejected: new Map([['not-below-the-build', 4]]) });
  });

  test('did not end before the build began', () => {
    const relay = intake();
    const early = addMilliseconds(T0, -10);
    expect(relay.take(read(span({ start: early, end: addMilliseconds(T0, -1) }))).rejected).toBe(1);
    expect(relay.take(read(span({ start: early }))).rejected).toBe(0);
  });

  test('is bounded in number and bytes, and the rest is counted', () => {
    const few = intake();
    expect(few.take(read(span(), span(), span(), span(), span()))).toMatchObject({ rejected: 2 });
    const small = intake({ spans: 100, bytes: 1600 });
    const large = span({ attributes: { text: 'x'.repeat(600) } });
    expect(small.take(read(large, span({ attributes: { text: 'x'.repeat(600) } }), span()))).toMatchObject({
      rejected: 2,
      reason: expect.stringContaining('otlp_relay_max_spans'),
    });
    expect(small.counts().rejected).toEqual(new Map([['over-quota', 2]]));
    expect(countsText(small.counts())).toBe('spans of the job: 1 taken, not taken: 2 over-quota');
  });

  test('counts once when it is sent again, because our answer was lost', () => {
    const relay = intake();
    const same = span();
    for (let time = 0; time < 5; time++) expect(relay.take(read(same))).toMatchObject({ rejected: 0 });
    expect(relay.counts().taken).toBe(1);
    expect(countsText(intake().counts())).toBeUndefined();
  });

  test('is nothing any more when the build has ended', () => {
    const relay = intake();
    expect(relay.finish({ startedAt: T0, endedAt: T0, steps: [] }, null)).toEqual([]);
    expect(relay.take(read(span())).rejected).toBe(1);
  });
});

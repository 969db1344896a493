import { expect, test } from 'vitest';
import { spanIdOf } from '../../../../src/lib/ids.ts';
import { itemSpans } from '../../../../src/tracing/spans/item-spans.ts';
import {
  type LateExecution,
  lateExecutionSpans,
} from '../../../../src/tracing/spans/late-execution-spans.ts';
import { DEFAULT_SPAN_OPTIONS } from '../../../../src/tracing/spans/span-options.ts';
import { asArrived, checkTraces } from '../../../fake/check-traces.ts';
import { at, itemStory, jobNode } from '../../../fake/queue-item.ts';

function story() {
  const { item } = itemStory()
    .merge()
    .wait(10)
    .merged()
    .freeze([jobNode('unit')])
    .wait(100)
    .start('unit')
    .wait(5_000)
    .reset()
    .wait(10)
    .leave('abandoned', 'DEQUEUED');
  const [buildset] = item.earlier;
  const build = buildset?.builds.find(({ job }) => job === 'unit');
  if (buildset === undefined || build?.state.state !== 'cancelled') throw new Error('no build was cancelled');
  const late: LateExecution = {
    tenant: item.tenant,
    pipeline: item.pipeline,
    item: item.uuid,
    buildset: buildset.uuid,
    build: build.uuid,
    job: build.job,
    attempt: build.attempt,
    worker: 'executor-1',
    trace: {
      traceId: itemSpans(item)[0]!.traceId,
      buildSpan: spanIdOf(build.uuid),
      sampled: true,
      event: item.origin.event,
    },
    requestedAt: build.requestedAt,
    cancelledAt: build.state.at,
    execution: {
      startedAt: build.state.startedAt ?? build.requestedAt,
      // It took a while to stop.
      endedAt: at(60_000),
      steps: [
        {
          kind: 'Playbook',
          subject: 'run/test.sh',
          startedAt: at(200),
          endedAt: at(59_000),
          result: 'ABORTED',
        },
      ],
    },
  };
  return { item, late };
}

test('spans that an executor reports after the item has left are below the exported build, and do not outlast it', () => {
  const { item, late } = story();
  const sent = itemSpans(item);
  const spans = lateExecutionSpans(late, DEFAULT_SPAN_OPTIONS);
  expect(spans.map(span => span.name)).toEqual(['JobExecution unit', 'Playbook run/test.sh']);
  expect(checkTraces([...sent, ...spans].map(asArrived), { toleranceNs: 10n ** 12n })).toEqual([]);
  expect(spans[0]!.end).toBe(late.cancelledAt);
  const build = sent.find(span => span.spanId === late.trace.buildSpan);
  for (const name of ['gatehouse.tenant', 'gatehouse.item.id', 'gatehouse.event.id', 'gatehouse.build.id'])
    expect(spans[0]!.attributes[name]).toBe(build?.attributes[name]);
});

test('a job expected to run long has its late work in its own trace', () => {
  const { late } = story();
  const spans = lateExecutionSpans({ ...late, trace: { ...late.trace, own: true } }, DEFAULT_SPAN_OPTIONS);
  expect(new Set(spans.map(span => span.traceId))).toEqual(new Set([late.build]));
  expect(spans[0]!.parent).toBeNull();
});

test('a build that is not sampled has no spans', () => {
  const { late } = story();
  expect(
    lateExecutionSpans({ ...late, trace: { ...late.trace, sampled: false } }, DEFAULT_SPAN_OPTIONS),
  ).toEqual([]);
});

/**
 * Check 24: a job of three hours, with a threshold of one, is split: an unexpectedly long one goes on in a continuation trace, what is
 * expected is a trace of its own from the start. Either way the traces lead to each other, every span is found by the item's id, and
 * nothing of the job's body is where it would make the item's trace grow. Without a threshold there is one trace.
 *
 * The service and its jobs are real; the clock is the test's, so that the hours pass while a job waits for its end.
 */
import { expect } from 'vitest';
import { type OtlpTraceDocument, spansFromOtlp } from '../../src/cmd/client/spans-from-otlp.ts';
import { orderSpans } from '../../src/tracing/spans/order-spans.ts';
import { BASE_JOB, gateYaml } from '../fake/layout-text.ts';
import type { SinkSpan } from '../fake/otlp-sink.ts';
import { skippingClock } from '../fake/skipping-clock.ts';
import { story } from '../scenario/story.ts';
import type { World } from '../scenario/world.ts';
import { semanticProblems } from './span-semantics.ts';

const HOURS = 3_600_000;

const LAYOUT = `${gateYaml({ require: null, success: '{merge: true}', notes: [] })}${BASE_JOB}
- job:
    name: nightly
    post-run: playbooks/after.sh
- project:
    name: org/project
    gate:
      jobs: [nightly]
`;
const AFTER = { 'playbooks/after.sh': '#!/bin/sh\necho "traceparent $TRACEPARENT"\n' };

/** Lands a change whose job runs three hours; resolves to all spans that know the item. */
async function land(world: World, topic: string, clock: { skip(ms: number): void }) {
  await world.propose(topic);
  await world.approve(topic);
  await world.runs(`nightly: ${topic}`);
  clock.skip(3 * HOURS);
  world.release(/./);
  const { uuid } = await world.leaves(topic, 'SUCCESS');
  await world.observer.until('the root of its trace', () =>
    world.sink.spans.some(span => span.traceId === uuid && span.parentSpanId === null),
  );
  const spans = world.sink.spans.filter(span => span.attributes['gatehouse.item.id'] === uuid);
  const build = only(spans, 'Build').attributes['gatehouse.build.id'];
  const found = (kind: string) => spans.filter(span => span.attributes['gatehouse.span.type'] === kind);
  return { uuid, spans, build, found, only: (kind: string) => only(spans, kind) };
}

function only(spans: readonly SinkSpan[], kind: string): SinkSpan {
  const [span, ...more] = spans.filter(each => each.attributes['gatehouse.span.type'] === kind);
  if (span === undefined || more.length > 0) throw new Error(`there is not exactly one ${kind}`);
  return span;
}

/** Links from one to the other and back, and both ids in the attributes of both. */
function expectLinked(from: SinkSpan, to: SinkSpan): void {
  const link = (span: SinkSpan, relation: string) => ({
    traceId: span.traceId,
    spanId: span.spanId,
    attributes: { 'gatehouse.link.relation': relation },
  });
  expect(from.links).toMatchObject([link(to, 'continues_in')]);
  expect(to.links).toMatchObject([link(from, 'continued_from')]);
  expect(from.attributes['gatehouse.link.continues_in']).toBe(to.traceId);
  expect(to.attributes['gatehouse.link.continued_from']).toBe(from.traceId);
  for (const name of ['tenant', 'pipeline', 'item.id', 'buildset.id', 'build.id'])
    expect(to.attributes[`gatehouse.${name}`], name).toBe(from.attributes[`gatehouse.${name}`]);
}

/** What the playbooks printed, in order, are the spans they were in. */
async function expectTracedPlaybooks(
  world: World,
  { build, found }: Awaited<ReturnType<typeof land>>,
): Promise<void> {
  const log = await world.api.text(`/api/tenant/tenant-one/build/${String(build)}/log`);
  const contexts = [...log.matchAll(/traceparent 00-([0-9a-f]{32})-([0-9a-f]{16})-01/g)].map(
    ([, trace, span]) => `${trace} ${span}`,
  );
  const playbooks = found('Playbook').toSorted((a, b) => (a.start < b.start ? -1 : 1));
  expect(contexts).toEqual(playbooks.map(span => `${span.traceId} ${span.spanId}`));
  expect(contexts).toHaveLength(2);
}

/** The API and everything that draws from it shows the traces as one. */
async function expectShownTogether(world: World, item: Awaited<ReturnType<typeof land>>): Promise<void> {
  const answer = await world.api.get<OtlpTraceDocument>(`/api/tenant/tenant-one/item/${item.uuid}/trace`);
  const rows = orderSpans(spansFromOtlp(answer));
  expect(rows.filter(row => row.depth === 0)).toHaveLength(1);
  expect(rows.map(row => row.span.spanId).toSorted()).toEqual(item.spans.map(span => span.spanId).toSorted());
}

const clock = skippingClock();

story(
  'check 24: a long job is divided from the item, unexpected or expected, with links both ways',
  { layout: LAYOUT, configFiles: AFTER, tracing: ['split_after = 1h'], clock },
  async world => {
    const ranOver = await land(world, 'A', clock);
    const inside = ranOver.found('JobExecution').find(span => span.traceId === ranOver.uuid);
    const continuation = ranOver.found('JobExecution').find(span => span !== inside);
    if (inside === undefined || continuation === undefined) throw new Error('it was not divided');
    expect(continuation).toMatchObject({
      traceId: ranOver.build,
      parentSpanId: null,
      name: 'JobExecution nightly (continued)',
    });
    expectLinked(inside, continuation);
    const after = ranOver.spans.filter(span => span.traceId === ranOver.build && span !== continuation);
    expect(after.map(span => [span.name, span.parentSpanId])).toEqual([
      ['JobSetup sandbox', continuation.spanId],
      ['Playbook playbooks/after.sh', continuation.spanId],
      ['Cleanup nightly', continuation.spanId],
    ]);
    await expectTracedPlaybooks(world, ranOver);
    await expectShownTogether(world, ranOver);

    const expected = await land(world, 'B', clock);
    const execution = expected.only('JobExecution');
    expect(execution).toMatchObject({ traceId: expected.build, parentSpanId: null });
    expectLinked(expected.only('Build'), execution);
    const body = expected.spans.filter(span => span.traceId === expected.build && span !== execution);
    expect(body.map(span => span.parentSpanId)).toEqual(body.map(() => execution.spanId));
    expect(body.filter(span => span.attributes['gatehouse.span.type'] === 'Playbook')).toHaveLength(2);
    expect(expected.found('Playbook').every(span => span.traceId === expected.build)).toBe(true);
    await expectTracedPlaybooks(world, expected);
    await expectShownTogether(world, expected);
    expect(semanticProblems(world.sink.spans)).toEqual([]);
  },
);

const whole = skippingClock();

story(
  'check 24: without a threshold there is one trace',
  { layout: LAYOUT, configFiles: AFTER, tracing: ['split_after = 0'], clock: whole },
  async world => {
    for (const topic of ['A', 'B']) {
      const item = await land(world, topic, whole);
      expect(new Set(item.spans.map(span => span.traceId))).toEqual(new Set([item.uuid]));
      await expectTracedPlaybooks(world, item);
    }
  },
);

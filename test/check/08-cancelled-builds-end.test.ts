/**
 * Check 08: every build that was started ends in one span, however it was stopped: a reset, an abandoned change, another pipeline, an
 * operator, a new patchset. Its result is a cancellation, it is not red, it says why, and it lies within its attempt. What the
 * executor did until it stopped hangs below it, also when the item has long left; an executor that never answers changes nothing.
 *
 * The reset with builds of two items under way is in `the-head-fails.ts`, and its check 08 stands with the others of that story.
 */
import { expect, test } from 'vitest';
import { endedSpans } from '../../src/tracing/spans/item-spans.ts';
import type { SinkSpan } from '../fake/otlp-sink.ts';
import { itemStory, jobNode } from '../fake/queue-item.ts';
import { classicLayout } from '../scenario/layouts.ts';
import { TENANT } from '../scenario/site.ts';
import { story } from '../scenario/story.ts';
import type { World } from '../scenario/world.ts';
import { kindOf, kindsBelow, linked } from './spans-by.ts';

const layout = classicLayout({ check: true, gate: { more: ['supercedes: check'] } });

story(
  'check 08: the span of a stopped build ends as a cancellation with the cause',
  { layout },
  async world => {
    await world.propose('A');
    await world.propose('B');
    await world.propose('C');
    await world.propose('D');
    await world.runs(...['A', 'B', 'C', 'D'].map(topic => `project-merge: ${topic}`));

    await world.abandon('A');
    await world.leaves('A', 'DEQUEUED', 'check');
    await world.propose('B');
    await world.runs(...['B', 'C', 'D'].map(topic => `project-merge: ${topic}`));
    await world.operator.post(`/api/tenant/${TENANT}/project/org/project/dequeue`, {
      pipeline: 'check',
      change: 'master/C',
    });
    await world.leaves('C', 'DEQUEUED', 'check');
    await world.approve('D');
    await world.leaves('D', 'DEQUEUED', 'check');

    await world.approve('C');
    world.fail('project-merge', 'D');
    await world.runs('project-merge: B', 'project-merge: D');
    world.release(/project-merge: D$/);
    world.free();
    await world.leaves('D', 'FAILURE');
    await world.leaves('C', 'SUCCESS');

    const stopped = await world.observer.until('all that was stopped', () => {
      const found = cancelled(world);
      return found.length >= 4 && found.every(build => execution(world, build) !== undefined)
        ? found
        : undefined;
    });
    expect(new Set(stopped.map(build => build.attributes['gatehouse.build.id'])).size).toBe(stopped.length);
    for (const build of stopped) cancelledProperly(build, world);
    removersOf(world);
    await causesOf(world);
  },
);

function cancelled({ sink }: World): readonly SinkSpan[] {
  return sink.spans.filter(
    span => kindOf(span) === 'Build' && span.attributes['cicd.pipeline.task.run.result'] === 'cancellation',
  );
}

function execution({ sink }: World, build: SinkSpan): SinkSpan | undefined {
  return sink.spans.find(span => kindOf(span) === 'JobExecution' && span.parentSpanId === build.spanId);
}

function cancelledProperly(build: SinkSpan, world: World): void {
  const { spans } = world.sink;
  const attempt = spans.find(span => span.spanId === build.parentSpanId);
  expect(build.status.code).toBe(0);
  expect(build.attributes).toMatchObject({
    'gatehouse.result': 'CANCELED',
    'gatehouse.cause.code': 'item-left',
    'gatehouse.cause.text': expect.stringMatching(/\w+ \w+/),
  });
  expect(kindOf(attempt ?? build)).toBe('BuildSet');
  expect(build.end <= (attempt?.end ?? 0n)).toBe(true);
  const work = execution(world, build);
  expect(work?.attributes).toMatchObject({
    'gatehouse.item.id': build.traceId,
    'gatehouse.event.id': build.attributes['gatehouse.event.id'],
    'cicd.pipeline.task.run.id': build.attributes['gatehouse.build.id'],
  });
  expect(work && work.end <= build.end).toBe(true);
  expect(spans.filter(span => span.parentSpanId === work?.spanId).map(kindOf)).toContain('Playbook');
}

/** An item that left early, and each build it stopped, link to what removed the item, never to the item itself. */
function removersOf(world: World): void {
  const { spans } = world.sink;
  const early = spans.filter(
    span => kindOf(span) === 'QueueItem' && span.attributes['gatehouse.result'] === 'DEQUEUED',
  );
  const removers = early.map(item => {
    const remover = linked(item, 'caused_by', spans);
    expect(item.attributes['gatehouse.link.caused_by']).toBe(remover?.traceId);
    for (const build of cancelled(world).filter(each => each.traceId === item.traceId)) {
      expect(linked(build, 'caused_by', spans)?.spanId).toBe(remover?.spanId);
      expect(build.attributes['gatehouse.culprit.item.id']).toBeUndefined();
    }
    const { attributes } = item;
    return [
      attributes['gatehouse.leave.code'],
      attributes['gatehouse.leave.initiator.type'],
      attributes['gatehouse.leave.initiator.name'],
      kindOf(remover ?? item),
    ].join(' ');
  });
  expect(removers.toSorted()).toEqual([
    'abandoned event  InternalEvent',
    'dequeued-by-hand operator command line ManagementEvent',
    'new-patchset event  InternalEvent',
    'superseded item gate QueueItem',
  ]);
}

/** Gatehouse's own events and the operator's request, with what they came to. */
async function causesOf(world: World): Promise<void> {
  const { spans } = world.sink;
  const roots = (kind: string, type: string) =>
    spans.filter(
      span =>
        kindOf(span) === kind && span.attributes['gatehouse.event.type'] === type && span.events.length > 0,
    );
  const [dequeue] = roots('ManagementEvent', 'dequeue');
  expect(dequeue?.attributes).toMatchObject({
    'gatehouse.event.outcome': 'dequeued',
    'gatehouse.by': 'command line',
    'gatehouse.reason': 'dequeued-by-hand',
  });
  expect(kindsBelow(dequeue, spans)).toEqual(['EventReceive', 'EventQueued', 'EventProcess']);
  const [superseded] = roots('InternalEvent', 'superseded');
  expect(superseded?.attributes['gatehouse.pipeline']).toBe('check');
  expect(linked(superseded, 'caused_by', spans)?.attributes).toMatchObject({
    'gatehouse.span.type': 'QueueItem',
    'gatehouse.pipeline': 'gate',
  });
  const updates = roots('InternalEvent', 'change-updated');
  expect(updates.map(span => span.attributes['gatehouse.reason']).toSorted()).toEqual([
    'abandoned',
    'new-patchset',
  ]);
  for (const span of updates)
    expect(linked(span, 'follows', spans)?.attributes['gatehouse.span.type']).toBe('TenantEvent');
}

test('check 08: a build whose executor never answers has ended with the reset that stopped it', () => {
  const story = itemStory()
    .merge()
    .wait(10)
    .merged()
    .freeze([jobNode('unit')])
    .wait(100)
    .start('unit')
    .wait(5_000)
    .reset();
  const [before, after] = story.versions.slice(-2);
  if (after === undefined) throw new Error('the story has no reset');
  const spans = story.versions.flatMap((version, index) => endedSpans(story.versions[index - 1], version));
  const builds = endedSpans(before, after).filter(span => span.attributes['gatehouse.span.type'] === 'Build');
  expect(builds).toMatchObject([
    {
      status: { code: 'unset' },
      attributes: { 'gatehouse.result': 'CANCELED', 'gatehouse.cause.code': 'reset' },
    },
  ]);
  const attempt = spans.find(span => span.spanId === builds[0]?.parent);
  expect(builds[0]?.end).toBe(attempt?.end);
});

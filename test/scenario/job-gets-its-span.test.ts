import { expect } from 'vitest';
import { classicLayout } from './layouts.ts';
import { story } from './story.ts';

story('a job gets the span of its own playbook', { layout: classicLayout() }, async world => {
  await world.propose('A');
  world.free();
  await world.approve('A');
  const left = await world.leaves('A', 'SUCCESS');
  await world.observer.until('the trace to arrive', () =>
    world.sink.spans.some(span => span.traceId === left.uuid && span.parentSpanId === null),
  );
  for (const build of world.stage.builds) {
    const log = await world.api.text(`/api/tenant/tenant-one/build/${build.uuid}/log`);
    const [, traceId, spanId, flags] =
      /traceparent 00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})/.exec(log) ?? [];
    expect(traceId).toBe(left.uuid);
    expect(flags).toBe('01');
    const span = world.sink.spans.find(each => each.spanId === spanId);
    expect(span?.attributes).toMatchObject({
      'gatehouse.span.type': 'Playbook',
      'gatehouse.build.id': build.uuid,
    });
    expect(span?.name).toBe('Playbook playbooks/job.sh');
  }
});

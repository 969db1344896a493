/**
 * Check 13: of what is not sampled nothing leaves: no span of an item, of its events or of its jobs, no row that waits to be sent, no
 * link to a trace that is nowhere. Its jobs get the flags 00, not to record. The log names the same ids all the same, and the API
 * shows the trace.
 */
import path from 'node:path';
import { expect, test } from 'vitest';
import type { LiveItem } from '../../src/api/live-item.ts';
import { type OtlpTraceDocument, spansFromOtlp } from '../../src/cmd/client/spans-from-otlp.ts';
import { classicLayout } from '../scenario/layouts.ts';
import { DEADLINE } from '../scenario/observer.ts';
import { openWorld } from '../scenario/open-world.ts';
import type { World } from '../scenario/world.ts';
import { rowsEverWritten } from './rows-ever-written.ts';

const SILENT = { layout: classicLayout(), collectorDown: true, tracing: ['sample_ratio = 0'] };

test('check 13: what is not sampled is nowhere but in the log and the API', {
  timeout: 3 * DEADLINE,
}, async () => {
  // Nothing is sent, so the story does not wait for a collector; were something sent, it would be taken.
  const world = await openWorld(SILENT, { kind: 'embedded' });
  try {
    world.sink.answerAlways({ kind: 'ok' });
    world.free();
    await world.propose('A');
    await world.approve('A');
    const { uuid } = await world.leaves('A', 'SUCCESS');
    await expectUnrecorded(world, uuid);
    expect(world.log.tail()).toContain(uuid);
    const item = await world.api.get<LiveItem>(`/api/tenant/tenant-one/item/${uuid}`);
    expect(item.traceUrl).toBeNull();
    await world.service.close();
    expect(world.sink.requests).toEqual([]);
    expect(world.sink.spans).toEqual([]);
    expect(await rowsEverWritten(path.dirname(path.dirname(world.config)))).toBe(0);
  } finally {
    await world[Symbol.asyncDispose]();
  }
});

/** Each playbook got the span that the API shows of it, flagged as not recorded. */
async function expectUnrecorded(world: World, item: string): Promise<void> {
  const trace = await world.api.get<OtlpTraceDocument>(`/api/tenant/tenant-one/item/${item}/trace`);
  const playbooks = spansFromOtlp(trace).filter(
    span => span.attributes['gatehouse.span.type'] === 'Playbook',
  );
  const seen: string[] = [];
  for (const { uuid, pipeline } of world.stage.builds) {
    if (pipeline !== 'gate') continue;
    const log = await world.api.text(`/api/tenant/tenant-one/build/${uuid}/log`);
    seen.push(/traceparent (\S+)/.exec(log)?.[1] ?? 'nothing');
  }
  expect(seen.length).toBeGreaterThan(0);
  expect(seen.toSorted()).toEqual(playbooks.map(span => `00-${span.traceId}-${span.spanId}-00`).toSorted());
}

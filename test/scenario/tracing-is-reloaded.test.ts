/** `[tracing]` is changed while the gate works: nobody starts anything again, and no span is lost on the way. */
import { readFile, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { reload } from '../../src/cmd/reload.ts';
import { readSettings } from '../../src/settings/read-settings.ts';
import { checkTraces, type OtlpSink, startOtlpSink } from '../fake/otlp-sink.ts';
import { classicLayout } from './layouts.ts';
import { DEADLINE } from './observer.ts';
import { openWorld } from './open-world.ts';
import type { World } from './world.ts';

/** Writes the section anew and does what SIGHUP does. */
async function changeTracing(world: World, ...lines: readonly string[]): Promise<void> {
  const before = readSettings(world.config, {});
  if (before.kind === 'invalid') throw new Error(before.errors.join('\n'));
  const text = await readFile(world.config, 'utf8');
  await writeFile(world.config, text.replace(/\[tracing\]\n[^[]*/, `[tracing]\n${lines.join('\n')}\n\n`));
  reload({
    config: world.config,
    environment: {},
    settings: before.settings,
    adopt: tracing => world.service.adoptTracing(tracing),
    log: world.log.log,
  });
}

async function land(world: World, topic: string): Promise<void> {
  await world.propose(topic);
  await world.approve(topic);
  await world.leaves(topic, 'SUCCESS');
}

function roots(sink: OtlpSink): readonly unknown[] {
  return sink.spans
    .filter(span => span.attributes['gatehouse.span'] === 'QueueItem')
    .map(span => span.attributes['gatehouse.change']);
}

test('[tracing] takes effect at once: another collector, another protocol, off, and on again', {
  timeout: 4 * DEADLINE,
}, async () => {
  const world = await openWorld({ layout: classicLayout(), tracingOff: true }, { kind: 'embedded' });
  await using second = await startOtlpSink({ protocol: 'http' });
  try {
    world.free();
    await changeTracing(world, 'enabled = true', `endpoint = ${world.sink.url}`);
    await land(world, 'A');
    await world.observer.until('A at the first collector', () => roots(world.sink).length >= 1);

    await changeTracing(world, 'enabled = true', 'protocol = http/protobuf', `endpoint = ${second.url}`);
    await land(world, 'B');
    await world.observer.until('B at the second collector', () => roots(second).length >= 1);
    expect(roots(second).every(change => String(change).includes('B'))).toBe(true);

    await changeTracing(world, 'enabled = false');
    const requests = second.requests.length;
    await land(world, 'C');
    expect(world.observer.view()?.tracing).toBeNull();

    await changeTracing(world, 'enabled = true', `endpoint = ${world.sink.url}`);
    await land(world, 'D');
    await world.observer.until('D at the first collector again', () =>
      roots(world.sink).some(change => String(change).includes('D')),
    );
    expect(second.requests.length).toBe(requests);
    expect(world.log.trouble.filter(line => line.includes('restart'))).toEqual([]);

    const all = [...world.sink.spans, ...second.spans];
    expect(checkTraces(all)).toEqual([]);
    expect(all.filter(span => String(span.attributes['gatehouse.change']).includes('C'))).toEqual([]);
  } finally {
    await world[Symbol.asyncDispose]();
  }
});

test('a file with errors changes nothing, and says where they are', { timeout: 2 * DEADLINE }, async () => {
  const world = await openWorld({ layout: classicLayout() }, { kind: 'embedded' });
  try {
    world.free();
    await changeTracing(world, 'enabled = true', 'endpoint = not an endpoint');
    expect(world.log.trouble.join('\n')).toMatch(/gatehouse\.conf:\d+: \[tracing\] endpoint/);
    await land(world, 'A');
    await world.observer.until('A at the collector', () => roots(world.sink).length >= 1);
  } finally {
    await world[Symbol.asyncDispose]();
  }
});

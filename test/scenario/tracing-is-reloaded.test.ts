/** `[tracing]` changes while the gate works: nothing is restarted, and no span is lost. */

import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { LiveItem } from '../../src/api/live-item.ts';
import { APP } from '../../src/cmd/quickstart/demo-files.ts';
import { approve, commitTopic, propose } from '../../src/cmd/quickstart/developer.ts';
import { prepareSite } from '../../src/cmd/quickstart/prepare-site.ts';
import { freePort, startServiceProcess, waitUntilReady } from '../../src/cmd/quickstart/service-process.ts';
import { reload } from '../../src/cmd/reload.ts';
import { compileCacheVariable } from '../../src/lib/compile-cache.ts';
import { readSettings } from '../../src/settings/read-settings.ts';
import { checkTraces, type OtlpSink, startOtlpSink } from '../fake/otlp-sink.ts';
import { builtProgram } from '../setup/built-program.ts';
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
    .filter(span => span.attributes['gatehouse.span.type'] === 'QueueItem')
    .map(span => span.attributes['gatehouse.change']);
}

test('[tracing] takes effect immediately: another collector, another protocol, off, and on again', {
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

test('the share that is sampled, what is kept, and the viewer are others from the next item on', {
  timeout: 4 * DEADLINE,
}, async () => {
  const world = await openWorld(
    { layout: classicLayout(), collectorDown: true, tracing: ['sample_ratio = 0'] },
    { kind: 'embedded' },
  );
  const linkOf = async (topic: string, result = 'SUCCESS') => {
    await world.propose(topic);
    await world.approve(topic);
    const { uuid } = await world.leaves(topic, result);
    const item = await world.api.get<LiveItem>(`/api/tenant/tenant-one/item/${uuid}`);
    return item.traceUrl?.replace(uuid, 'its trace') ?? null;
  };
  const endpoint = `endpoint = ${world.sink.url}`;
  try {
    // Nothing is sent at first, so the world must not wait for what it sends.
    world.sink.answerAlways({ kind: 'ok' });
    world.free();
    expect(await linkOf('A')).toBeNull();

    await changeTracing(
      world,
      endpoint,
      'sample_ratio = 1',
      'ui_url = http://viewer.example.org/t/{trace_id}',
    );
    expect(await linkOf('B')).toBe('http://viewer.example.org/t/its trace');
    await world.observer.until('B at the collector', () => roots(world.sink).length === 1);

    await changeTracing(world, endpoint, 'sample_ratio = 0', 'keep = failure');
    expect(await linkOf('C')).toBeNull();
    world.fail('project-merge', 'D');
    expect(await linkOf('D', 'FAILURE')).toContain('/trace/its trace');
    await world.observer.until('D at the collector', () => roots(world.sink).length === 2);
    expect(roots(world.sink).map(change => /master\/./.exec(String(change))?.[0])).toEqual([
      'master/B',
      'master/D',
    ]);
  } finally {
    await world[Symbol.asyncDispose]();
  }
});

test('a process that gets SIGHUP goes on and begins to send', { timeout: 3 * DEADLINE }, async () => {
  const directory = await mkdtemp(path.join(tmpdir(), 'gatehouse-sighup-'));
  await using sink = await startOtlpSink();
  const port = await freePort(0);
  const site = await prepareSite({
    directory: path.join(directory, 'site'),
    port,
    token: 'token of the test',
    logLevel: 'info',
  });
  const service = await startServiceProcess(
    site.config,
    path.join(directory, 'gatehouse.log'),
    { PATH: process.env.PATH, ...compileCacheVariable() },
    await builtProgram(),
  );
  try {
    await waitUntilReady(site.url, service, DEADLINE);
    await appendFile(site.config, `\n[tracing]\nendpoint = ${sink.url}\n`);
    process.kill(service.pid, 'SIGHUP');
    const clone = site.clone(APP);
    await commitTopic(clone, 'topic', 'Say more', [{ path: 'more.txt', text: 'more\n' }]);
    await propose(clone, 'topic');
    await approve(clone, 'topic');
    await sink.waitForSpans(1, DEADLINE);
    await service.stop();
    expect(sink.spans.every(span => span.resource['service.name'] === 'gatehouse')).toBe(true);
    expect(await readFile(path.join(directory, 'gatehouse.log'), 'utf8')).toContain('[tracing] reloaded');
  } finally {
    await service.stop();
    await rm(directory, { recursive: true, force: true });
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

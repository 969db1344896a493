/** `gatehouse trace export` against what the same service sent while it ran. */
import { readFile, writeFile } from 'node:fs/promises';
import { expect } from 'vitest';
import { runProgram } from '../../src/cmd/commands/program.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { type OtlpSink, startOtlpSink } from '../fake/otlp-sink.ts';
import { type RawSpan, rawSpans } from '../fake/raw-spans.ts';
import { layoutWith } from './layouts.ts';
import { story } from './story.ts';
import type { World } from './world.ts';

/** `unit` fails when told so; `flaky` is tried again after its pre-run fails the first time. */
const LAYOUT = layoutWith(
  `
- job:
    name: unit
- job:
    name: flaky
    pre-run: playbooks/first-time.sh
- job:
    name: long
    trace: own
- project:
    name: org/project
    gate:
      jobs:
        - unit
        - flaky
        - long
`,
  { gate: {} },
);

const FIRST_TIME = '#!/bin/sh\ntest "$ZUUL_ATTEMPT" != 1\n';

story(
  'the history gives each span of an item once more, byte for byte as it was sent live',
  { layout: LAYOUT, configFiles: { 'playbooks/first-time.sh': FIRST_TIME } },
  async world => {
    for (const topic of ['A', 'B', 'C']) await world.propose(topic);
    for (const topic of ['A', 'B', 'C']) await world.approve(topic);
    world.fail('unit', 'A');
    await world.runs(
      ...['A', 'A B', 'A B C'].flatMap(changes => ['unit', 'flaky', 'long'].map(job => `${job}: ${changes}`)),
    );
    // The failing head resets both behind it, whose builds are cancelled.
    world.release(/unit: A$/);
    await world.observer.until(
      'both behind it to be tested again',
      () => world.item('B')?.resets.length === 1 && world.item('C')?.resets.length === 1,
    );
    world.free();
    await world.leaves('A', 'FAILURE');
    await world.leaves('B', 'SUCCESS');
    await world.leaves('C', 'SUCCESS');
    const live = await itemsSpans(world);

    await using sink = await startOtlpSink();
    await using sinkOfOne = await startOtlpSink();
    const told = await exportTo(world, sink, ['--since', '1h']);
    expect(told).toMatch(/^\d+ spans of 3 items sent to http/);
    const again = rawSpans(sink.requests.map(request => request.body));
    expect(names(again)).toEqual(names(live));
    expect(sorted(again)).toEqual(sorted(live));
    expect([...new Set(resultsOf(world))]).toEqual(
      expect.arrayContaining(['CANCELED', 'RETRY', 'SUPERSEDED']),
    );

    expect(await exportTo(world, sinkOfOne, ['--since', '1h', '--pipeline', 'check'])).toMatch(/^0 spans/);
    const [{ traceId = '' } = {}] = live;
    await exportTo(world, sinkOfOne, ['--item', traceId]);
    const one = rawSpans(sinkOfOne.requests.map(request => request.body));
    expect(one.length).toBeGreaterThan(10);
    expect(sorted(one)).toEqual(sorted(again.filter(span => one.some(({ key }) => key === span.key))));
  },
);

/** What the story's service sent of its items, when all of it has arrived. */
async function itemsSpans(world: World): Promise<readonly RawSpan[]> {
  const roots = () => world.sink.spans.filter(span => span.attributes['gatehouse.span'] === 'QueueItem');
  await world.observer.until('the traces to arrive', () => roots().length === 3);
  const items = new Set(roots().map(root => root.traceId));
  const ofItems = new Set(
    world.sink.spans
      .filter(span => items.has(String(span.attributes['gatehouse.item.id'])))
      .map(span => `${span.traceId} ${span.spanId}`),
  );
  return rawSpans(world.sink.requests.map(request => request.body)).filter(span => ofItems.has(span.key));
}

/** With the story's settings, but for the port it got; returns what is said. */
async function exportTo(world: World, sink: OtlpSink, args: readonly string[]): Promise<string> {
  const file = `${world.config}.export`;
  const port = new URL(world.service.url).port;
  await writeFile(file, (await readFile(world.config, 'utf8')).replace('port = 0', `port = ${port}`));
  const said: string[] = [];
  const stream = { write: (text: string) => said.push(text) };
  const status = await runProgram(['trace', 'export', '-c', file, '--endpoint', sink.url, ...args], {
    stdout: stream,
    stderr: stream,
    environment: {},
    clock: systemClock(),
    interrupted: () => new AbortController().signal,
  });
  expect({ status, said }).toMatchObject({ status: 0 });
  return said.join('');
}

function resultsOf(world: World): readonly unknown[] {
  return world.sink.spans.map(span => span.attributes['gatehouse.result']);
}

function names(spans: readonly RawSpan[]): readonly string[] {
  return spans.map(span => span.name).toSorted();
}

function sorted(spans: readonly RawSpan[]): readonly RawSpan[] {
  return spans.toSorted((a, b) => (a.key < b.key ? -1 : 1));
}

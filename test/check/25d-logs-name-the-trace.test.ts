/**
 * Check 25, the log: every line about an event, an item or a build names the span that was exported of it, so that one leads from
 * the line to the trace and back. The real service, its real log as JSON lines; a failure in the middle resets what is behind.
 *
 * While nothing is traced the lines are the same: ids follow from uuids.
 */
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { createLog } from '../../src/cmd/log.ts';
import type { Log } from '../../src/lib/log.ts';
import type { SinkSpan } from '../fake/otlp-sink.ts';
import { classicLayout } from '../scenario/layouts.ts';
import { DEADLINE } from '../scenario/observer.ts';
import { openWorld } from '../scenario/open-world.ts';
import { story } from '../scenario/story.ts';
import type { World } from '../scenario/world.ts';

interface Line {
  readonly raw: string;
  readonly text: string;
  readonly facts: { readonly [name: string]: unknown };
}

interface JsonLog {
  readonly log: Log;
  lines(): readonly Line[];
}

function jsonLog(): JsonLog {
  const stream = new PassThrough();
  const raw: string[] = [];
  stream.on('data', (chunk: Buffer) => raw.push(chunk.toString()));
  return {
    log: createLog({ level: 'debug', format: 'json', stream }),
    lines: () =>
      raw
        .join('')
        .split('\n')
        .filter(line => line !== '')
        .map(line => {
          const { msg, ...facts } = JSON.parse(line);
          return { raw: line, text: msg, facts };
        }),
  };
}

/** A fails, so that B behind it is tested again; C is abandoned while its job runs. */
async function playStory(world: World): Promise<readonly string[]> {
  for (const topic of ['A', 'B', 'C']) await world.propose(topic);
  for (const topic of ['A', 'B', 'C']) await world.approve(topic);
  world.fail('project-merge', 'A');
  await world.runs('project-merge: A');
  world.release(/project-merge: A$/);
  const failed = await world.leaves('A', 'FAILURE');
  await world.runs('project-merge: B');
  await world.abandon('C');
  const abandoned = await world.leaves('C', 'DEQUEUED');
  world.free();
  const landed = await world.leaves('B', 'SUCCESS');
  return [failed, abandoned, landed].map(({ uuid }) => uuid);
}

const traced = jsonLog();

/** The last spans and the last lines come when everything is over, in no particular order. */
function isAllThere(items: readonly string[], lines: readonly Line[], spans: readonly SinkSpan[]): boolean {
  const roots = new Set(spans.filter(span => span.parentSpanId === null).map(span => span.traceId));
  const known = new Set(spans.map(span => `${span.traceId} ${span.spanId}`));
  const ran = new Set(
    spans
      .filter(({ attributes }) => attributes['gatehouse.span.type'] === 'JobExecution')
      .map(({ attributes }) => attributes['gatehouse.build.id']),
  );
  for (const { facts, text } of lines) if (text === 'a build ended') ran.delete(String(facts.build));
  return (
    items.every(item => roots.has(item)) &&
    ran.size === 0 &&
    lines.every(
      ({ facts }) => facts.trace_id === undefined || known.has(`${facts.trace_id} ${facts.span_id}`),
    )
  );
}

story(
  'check 25: each log line about an event, an item or a build names its span',
  { layout: classicLayout(), secondLog: traced.log },
  async world => {
    const items = await playStory(world);
    await world.observer.until('the last spans, and the last lines', () =>
      isAllThere(items, traced.lines(), world.sink.spans),
    );
    const exported = world.sink.spans;
    const spanAt = new Map(exported.map(span => [`${span.traceId} ${span.spanId}`, span]));
    const kindOf = ({ facts }: Line) =>
      spanAt.get(`${facts.trace_id} ${facts.span_id}`)?.attributes['gatehouse.span.type'];
    const lines = traced.lines();

    const ofBuilds = lines.filter(({ facts }) => facts.build !== undefined);
    expect(ofBuilds.filter(line => kindOf(line) !== 'Build').map(({ raw }) => raw)).toEqual([]);
    const ran = exported.filter(
      ({ attributes }) =>
        attributes['gatehouse.span.type'] === 'JobExecution' &&
        items.includes(String(attributes['gatehouse.item.id'])),
    );
    for (const { attributes } of ran) {
      const texts = ofBuilds
        .filter(({ facts }) => facts.build === attributes['gatehouse.build.id'])
        .map(({ text }) => text);
      expect(texts).toEqual(['a build begins', 'a build ended']);
    }

    const ofItems = lines.filter(({ facts }) => facts.item !== undefined);
    expect(ofItems.filter(({ facts }) => facts.trace_id !== facts.item)).toEqual([]);
    expect(ofItems.filter(line => kindOf(line) === undefined).map(({ raw }) => raw)).toEqual([]);
    for (const item of items) {
      const texts = ofItems.filter(({ facts }) => facts.item === item).map(({ text }) => text);
      expect(texts.length, `lines about item ${item}`).toBeGreaterThan(2);
    }

    const ofEvents = lines.filter(({ facts }) => facts.event !== undefined && facts.trace_id !== undefined);
    expect(ofEvents.filter(line => kindOf(line) === undefined).map(({ raw }) => raw)).toEqual([]);
    expect(new Set(ofEvents.map(kindOf))).toContain('GitEvent');

    // An id in the message is in the fields as well.
    const known = new Set(exported.flatMap(({ attributes }) => [String(attributes['gatehouse.item.id'])]));
    known.delete('undefined');
    const inPassing = lines.filter(
      ({ raw, facts }) => facts.trace_id === undefined && [...known].some(uuid => raw.includes(uuid)),
    );
    expect(inPassing.map(({ raw }) => raw)).toEqual([]);
  },
);

test('check 25: while nothing is traced, log lines have the ids all the same', {
  timeout: 4 * DEADLINE,
}, async () => {
  const { log, lines } = jsonLog();
  const setup = { layout: classicLayout(), secondLog: log, tracingOff: true };
  await using world = await openWorld(setup, { kind: 'embedded' });
  world.free();
  await world.propose('A');
  await world.approve('A');
  const { uuid } = await world.leaves('A', 'SUCCESS');
  const ofItem = lines().filter(({ facts }) => facts.item === uuid);
  const ofBuilds = ofItem.filter(({ facts }) => facts.build !== undefined);
  expect(ofBuilds.length).toBeGreaterThan(1);
  for (const { facts } of ofBuilds) expect(facts.span_id).toBe(String(facts.build).slice(0, 16));
  expect(new Set(ofItem.map(({ facts }) => facts.trace_id))).toEqual(new Set([uuid]));
});

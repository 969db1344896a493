/**
 * Checks 01, 02, 03, 04, 05, 07, 08, 21 and 25b look at the spans of one story (`the-head-fails.ts`): three changes in the gate, the first
 * one fails while the jobs of the others run, and the collector refuses some requests on the way. The real service, real
 * repositories, real jobs.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { SinkSpan } from '../fake/otlp-sink.ts';
import { rawSpans } from '../fake/raw-spans.ts';
import { classicLayout } from '../scenario/layouts.ts';
import { DEADLINE } from '../scenario/observer.ts';
import { openWorld } from '../scenario/open-world.ts';
import type { World } from '../scenario/world.ts';
import { semanticProblems } from './span-semantics.ts';
import { byTrace, kindOf, relationsOf } from './spans-by.ts';
import { type HeadFailsStory, type Life, livesInHistory, runTheHeadFails } from './the-head-fails.ts';

/** Of a span's flags: the parent is (not) known to be remote. */
const KNOWS_PARENT = 0x100;

let world: World;
let spans: readonly SinkSpan[];
let story: HeadFailsStory;
let recorded: ReadonlyMap<string, Life>;

beforeAll(async () => {
  const expectedTrouble = [/the collector does not take spans/];
  world = await openWorld({ layout: classicLayout(), expectedTrouble }, { kind: 'embedded' });
  story = await runTheHeadFails(world);
  await world.end();
  recorded = livesInHistory(world);
  spans = world.sink.spans;
}, 4 * DEADLINE);

afterAll(() => world[Symbol.asyncDispose]());

const traceOf = (topic: string) => byTrace(spans).get(story.left.get(topic)?.uuid ?? '') ?? [];

test('check 01: ids are well formed and unique over all traces, and every span has a name, a kind and a time', () => {
  expect(spans.length).toBeGreaterThan(200);
  for (const span of spans) {
    expect(span.traceId).toMatch(/^(?!0{32})[0-9a-f]{32}$/);
    expect(span.spanId).toMatch(/^(?!0{16})[0-9a-f]{16}$/);
    expect(span.name).not.toBe('');
    expect(span.kind).not.toBe(0);
    expect(span.start <= span.end).toBe(true);
    expect(span.start).toBeGreaterThan(BigInt(Date.UTC(2020, 0)) * 1_000_000n);
    expect(span.flags & 1).toBe(1);
    if (span.parentSpanId !== null) expect(span.flags & KNOWS_PARENT).toBe(KNOWS_PARENT);
  }
  const traces = Map.groupBy(spans, span => span.spanId);
  expect([...traces.values()].filter(same => new Set(same.map(each => each.traceId)).size > 1)).toEqual([]);
});

test('check 02: each span arrives once, and what is sent again is equal byte for byte', () => {
  const keys = spans.map(({ traceId, spanId }) => `${traceId} ${spanId}`);
  expect(new Set(keys).size).toBe(keys.length);
  const { requests } = world.sink;
  expect(requests.filter(({ answer }) => answer.kind === 'status')).toHaveLength(2);
  const sent = Map.groupBy(rawSpans(requests.map(({ body }) => body)), ({ key }) => key);
  expect([...sent.values()].filter(same => same.length > 1).length).toBeGreaterThan(0);
  for (const same of sent.values()) {
    expect(new Set(same.map(({ resource, scope, span }) => `${resource}/${scope}/${span}`)).size).toBe(1);
  }
  expect(sent.size).toBe(keys.length);
});

test('check 03: each trace has one root and no orphans within ten seconds after its item left', () => {
  expect(Math.max(...story.arrivals)).toBeLessThan(10_000);
  for (const trace of byTrace(spans).values()) {
    const ids = new Set(trace.map(({ spanId }) => spanId));
    expect(trace.filter(({ parentSpanId }) => parentSpanId === null)).toHaveLength(1);
    const orphans = trace.filter(({ parentSpanId }) => parentSpanId !== null && !ids.has(parentSpanId));
    expect(orphans.map(({ name }) => name)).toEqual([]);
  }
});

test('check 04: no child begins before its parent or ends after it', () => {
  const byId = new Map(spans.map(span => [span.spanId, span]));
  const outside = spans.filter(({ parentSpanId, start, end }) => {
    const parent = parentSpanId === null ? undefined : byId.get(parentSpanId);
    return parent !== undefined && (start < parent.start || end > parent.end);
  });
  expect(outside.map(({ name }) => name)).toEqual([]);
});

test('check 05: an item begins and ends when its own record says, in all nine digits', () => {
  const lastDigits = new Set<string>();
  for (const { uuid } of story.left.values()) {
    const root = spans.find(span => span.traceId === uuid && span.parentSpanId === null);
    const life = { from: String(root?.start), to: String(root?.end) };
    expect(recorded.get(uuid)).toEqual(life);
    expect(story.explained.get(uuid)).toEqual(life);
    expect(story.drawn.get(uuid)).toEqual(life);
    lastDigits.add(life.from.slice(-3)).add(life.to.slice(-3));
  }
  // Not rounded on the way, everywhere alike: six times, and hardly all of them a whole microsecond.
  expect([...lastDigits].some(digits => digits !== '000')).toBe(true);
});

test('check 07: after a reset the buildsets are linked, name the cause, and have their own builds below them', () => {
  const culprit = traceOf('A').find(
    span => kindOf(span) === 'Build' && span.attributes['gatehouse.result'] === 'FAILURE',
  );
  for (const topic of ['B', 'C']) {
    const trace = traceOf(topic);
    const sets = trace
      .filter(span => kindOf(span) === 'BuildSet')
      .toSorted((a, b) => (a.start < b.start ? -1 : 1));
    expect(sets.length).toBeGreaterThanOrEqual(2);
    for (const [index, next] of sets.entries()) {
      const before = sets[index - 1];
      if (before === undefined) continue;
      expect(before.end <= next.start).toBe(true);
      expect(before.attributes['gatehouse.result']).toBe('SUPERSEDED');
      expect(relationsOf(next).get('previous')).toMatchObject({
        traceId: next.traceId,
        spanId: before.spanId,
      });
      expect(next.attributes['gatehouse.link.previous']).toBe(before.spanId);
    }
    const reset = sets.find(span => span.attributes['gatehouse.culprit.build.id'] !== undefined);
    expect(reset?.attributes).toMatchObject({
      'gatehouse.cause.code': 'item-ahead-failed',
      'gatehouse.culprit.item.id': story.left.get('A')?.uuid,
      'gatehouse.culprit.build.id': culprit?.attributes['gatehouse.build.id'],
      'gatehouse.culprit.job': 'project-test1',
    });
    expect(reset && relationsOf(reset).get('caused_by')).toMatchObject({
      traceId: story.left.get('A')?.uuid,
      spanId: culprit?.spanId,
    });
    for (const set of sets.filter(each => each === reset || each === sets[0])) {
      const builds = trace.filter(
        span =>
          kindOf(span) === 'Build' &&
          span.attributes['gatehouse.buildset.id'] === set.attributes['gatehouse.buildset.id'],
      );
      expect(builds.length).toBeGreaterThan(0);
      for (const build of builds) expect(build.parentSpanId).toBe(set.spanId);
    }
  }
});

test('check 08: builds that ran when a reset came end with it as cancellations that say so', () => {
  for (const [topic, stoppedJobs] of [
    ['B', ['project-test1', 'project-test2']],
    ['C', ['project-merge']],
  ] as const) {
    const trace = traceOf(topic);
    const superseded = trace.filter(span => span.attributes['gatehouse.result'] === 'SUPERSEDED');
    const stopped = trace.filter(
      span => kindOf(span) === 'Build' && span.attributes['gatehouse.result'] === 'CANCELED',
    );
    expect(stopped.map(build => build.attributes['gatehouse.job']).toSorted(), topic).toEqual(stoppedJobs);
    for (const build of stopped) {
      expect(build.attributes).toMatchObject({
        'gatehouse.cause.code': 'reset',
        'gatehouse.cause.text': expect.stringMatching(/^the item is tested again/),
        'cicd.pipeline.task.run.result': 'cancellation',
      });
      expect(build.status.code).toBe(0);
      const set = superseded.find(({ spanId }) => spanId === build.parentSpanId);
      expect(build.end <= (set?.end ?? 0n), `${build.name} ends with its buildset`).toBe(true);
      // It had begun: an executor worked on it until it was stopped.
      expect(trace.filter(span => span.parentSpanId === build.spanId).map(kindOf)).toContain('JobExecution');
    }
  }
});

test('check 21: kinds, results and status are those of the conventions, and attributes are of types a backend takes', () => {
  expect(semanticProblems(spans)).toEqual([]);
  const statuses = new Set(spans.map(({ status }) => status.code));
  expect(statuses).toEqual(new Set([0, 2]));
});

test('check 25b: spans of a running item have the ids, parents, names and starts they are exported with', () => {
  const { live } = story;
  const open = live.filter(({ span }) => span.end === null);
  expect(open.map(({ span }) => span.attributes['gatehouse.span.type'])).toEqual(
    expect.arrayContaining(['QueueItem', 'BuildSet', 'Build', 'Wait']),
  );
  expect(live.map(({ resource }) => resource['gatehouse.component'])).toEqual(
    expect.arrayContaining(['scheduler', 'merger']),
  );
  const exported = new Map(spans.map(span => [`${span.traceId} ${span.spanId}`, span]));
  for (const { span, resource } of live) {
    // What had ended was shown as it was sent already.
    const end = span.end === null ? {} : { end: BigInt(span.end) };
    const sent = exported.get(`${span.traceId} ${span.spanId}`);
    expect(sent?.resource).toEqual(resource);
    expect(sent).toMatchObject({
      ...{ name: span.name, parentSpanId: span.parent, start: BigInt(span.start) },
      ...end,
    });
  }
});

/**
 * Check 14: with ratio 0.3 each item's trace is there whole or not at all, and so are the traces of the events it follows from, also
 * when the scheduler is killed half way and another goes on. With `keep = failure` every item that failed is there whole, at any
 * ratio. Jobs get the decision by ratio: whether a held-back item is kept is not known yet. A link leads to
 * a span that is there, or into a trace that was not sampled; never to a gap in one that is.
 *
 * Many items: whole schedulers on an embedded store, with a code host and workers in memory; what is in the outbox is what
 * would be sent. A few: the real service, real jobs, a collector.
 */
import { expect, test } from 'vitest';
import type { LiveItem } from '../../src/api/live-item.ts';
import { type OtlpTraceDocument, spansFromOtlp } from '../../src/cmd/client/spans-from-otlp.ts';
import { derivedUuid, traceIdOf } from '../../src/lib/ids.ts';
import type { BuildRequest } from '../../src/model/build-request.ts';
import { isExported, type QueueItem } from '../../src/model/queue-item.ts';
import type { SpanRecord } from '../../src/model/span.ts';
import { type LiveTracing, type TracePolicy, WHOLE_TRACES } from '../../src/tracing/live-tracing.ts';
import { isSampled } from '../../src/tracing/sampling.ts';
import { itemSpans } from '../../src/tracing/spans/item-spans.ts';
import { DEFAULT_SPAN_OPTIONS } from '../../src/tracing/spans/span-options.ts';
import { brokenChains } from '../e2e/event-chains.ts';
import { asArrived, checkTraces } from '../fake/check-traces.ts';
import { BASE_JOB, gateYaml } from '../fake/layout-text.ts';
import { classicLayout } from '../scenario/layouts.ts';
import { DEADLINE } from '../scenario/observer.ts';
import { openWorld } from '../scenario/open-world.ts';
import { openSchedulers, LAYOUT as SHARED_QUEUE } from '../unit/scheduler/schedulers.ts';

const RATIO = 0.3;
/** Multi-writes of the first scheduler until it is killed: in the middle of the work. */
const LAST_WRITE = 350;

const LAYOUT = `${gateYaml({ manager: 'independent', require: null, success: '{note: true}', notes: ['failure'] })}${BASE_JOB}
- job:
    name: unit
- project:
    name: acme/app
    gate:
      jobs: [unit]
`;

interface Seen {
  readonly items: readonly QueueItem[];
  readonly spansOf: (traceId: string) => readonly SpanRecord[];
  readonly requests: readonly BuildRequest[];
}

function tracingThatKeeps(keep: TracePolicy['keep']): LiveTracing {
  return {
    spans: () => DEFAULT_SPAN_OPTIONS,
    isSampled: event => isSampled(event, RATIO),
    policy: () => ({ ...WHOLE_TRACES, ratio: RATIO, keep }),
  };
}

/** So many changes are approved; every seventh fails. */
async function gate(changes: number, keep: TracePolicy['keep']): Promise<Seen> {
  const requests: BuildRequest[] = [];
  await using world = await openSchedulers(LAYOUT, undefined, {
    tracing: tracingThatKeeps(keep),
    verdict(request) {
      requests.push(request);
      return failing(String(request.zuul.change)) ? 'FAILURE' : 'SUCCESS';
    },
  });
  const first = await world.start('first', { dies: { at: LAST_WRITE, when: 'after' } });
  // The pipeline is the first one's before there is a second.
  await world.approve('x0');
  await world.quiet(60_000);
  await world.start('second');
  for (let from = 0; from < changes; from += 50) {
    for (let index = Math.max(from, 1); index < Math.min(changes, from + 50); index++)
      await world.approve(`x${index}`);
    await world.quiet(60_000);
  }
  expect(first.faulty.sessionState).toBe('lost');
  const items = (await world.history()).flatMap(row => (row.kind === 'item' ? [row.item] : []));
  const traces = Map.groupBy(await world.spans(), span => span.traceId as string);
  return { items, spansOf: traceId => traces.get(traceId) ?? [], requests };
}

function failing(change: string): boolean {
  return Number(change.replace('master/x', '')) % 7 === 0;
}

/** As it was decided when the event arrived. */
function isChosen(item: QueueItem): boolean {
  const [change] = item.changes;
  const id = change.kind === 'change' ? change.id.replace('master/', '') : '';
  return isSampled(derivedUuid('delivery', `approve-${id}`), RATIO);
}

function expectWholeOrAbsent({ items, spansOf, requests }: Seen): void {
  for (const item of items) {
    const name = `trace of ${item.uuid}`;
    expect(item.sampled, name).toBe(isChosen(item));
    const expected = isExported(item) ? itemSpans(item) : [];
    expect(sorted(spansOf(traceIdOf(item.uuid))), name).toEqual(sorted(expected));
    const events = [item.origin.eventSpan, item.origin.tenantSpan].map(({ traceId }) => spansOf(traceId));
    for (const spans of events) expect(spans.length > 0, `event of ${item.uuid}`).toBe(isExported(item));
    if (isExported(item)) expectLinked(item, events);
  }
  const sampled = new Map(items.map(item => [item.uuid, item.sampled]));
  expect(requests.length).toBeGreaterThanOrEqual(items.length);
  for (const { item, trace } of requests) {
    expect(trace?.sampled).toBe(sampled.get(item));
    expect(trace?.traceState).toMatch(
      sampled.get(item) === true ? /^ot=th:b[0-9a-f]{1,13};rv:[0-9a-f]{14}$/ : /^ot=rv:[0-9a-f]{14}$/,
    );
  }
}

/** The traces that the item followed from are complete: roots, links, and no orphan. */
function expectLinked({ origin }: QueueItem, events: readonly (readonly SpanRecord[])[]): void {
  const [event, tenant] = events.map(spans => spans.find(span => span.parent === null));
  expect([event?.spanId, tenant?.spanId]).toEqual([origin.eventSpan.spanId, origin.tenantSpan.spanId]);
  expect(tenant?.links.map(({ spanId }) => spanId)).toEqual([event?.spanId]);
  for (const spans of events) expect(checkTraces(spans.map(asArrived))).toEqual([]);
}

function sorted(spans: readonly SpanRecord[]): readonly SpanRecord[] {
  return spans.toSorted((a, b) => (a.spanId < b.spanId ? -1 : 1));
}

test('check 14: at ratio 0.3 each of 150 items is traced whole or not at all, also over a crash', {
  timeout: 120_000,
}, async () => {
  const seen = await gate(150, WHOLE_TRACES.keep);
  expect(seen.items).toHaveLength(150);
  expectWholeOrAbsent(seen);
  expect(seen.items.filter(isExported).length / 150).toBeCloseTo(RATIO, 1);
  expect(seen.items.filter(item => item.heldBack === true || item.kept === true)).toEqual([]);
});

test('check 14: items that failed are all kept, whole, when the rules say so, also over a crash', {
  timeout: 120_000,
}, async () => {
  const seen = await gate(90, { outcomes: ['failure'], slowerThanMs: null });
  expect(seen.items).toHaveLength(90);
  expectWholeOrAbsent(seen);
  for (const item of seen.items) {
    const failed = failing(item.changes[0].kind === 'change' ? item.changes[0].id : '');
    expect(isExported(item)).toBe(failed || isChosen(item));
    expect(item.heldBack).toBe(isChosen(item) ? undefined : true);
    expect(item.kept).toBe(failed && !isChosen(item) ? true : undefined);
  }
});

test('check 14: in a shared queue links lead to what is there, or into traces that were not sampled', {
  timeout: 60_000,
}, async () => {
  await using world = await openSchedulers(SHARED_QUEUE, undefined, {
    tracing: tracingThatKeeps(WHOLE_TRACES.keep),
    verdict: request => (failing(String(request.zuul.change)) ? 'FAILURE' : 'SUCCESS'),
  });
  await world.start('first');
  world.holdBuilds();
  for (let index = 0; index < 40; index++) await world.approve(`x${index}`);
  world.releaseBuilds();
  await world.quiet(30_000);
  const items = (await world.history()).flatMap(row => (row.kind === 'item' ? [row.item] : []));
  expect(items).toHaveLength(40);
  const spans = await world.spans();
  const arrived = new Set(spans.map(span => `${span.traceId} ${span.spanId}`));
  const unsampled = new Set(items.filter(item => !isExported(item)).flatMap(tracesOf));
  const links = spans.flatMap(span => span.links);
  const leadsTo = (set: 'arrived' | 'unsampled') =>
    links.filter(({ traceId, spanId }) =>
      set === 'arrived' ? arrived.has(`${traceId} ${spanId}`) : unsampled.has(traceId),
    );
  expect(leadsTo('arrived').length + leadsTo('unsampled').length).toBe(links.length);
  for (const set of ['arrived', 'unsampled'] as const)
    expect(leadsTo(set).map(link => link.attributes['gatehouse.link.relation'])).toContain('caused_by');
});

/** Of the item and of what it follows from. */
function tracesOf(item: QueueItem): readonly string[] {
  return [traceIdOf(item.uuid), item.origin.eventSpan.traceId, item.origin.tenantSpan.traceId];
}

test('check 14: failed items arrive at the collector when they leave, with what they came of, and are linked to from then on', {
  timeout: 3 * DEADLINE,
}, async () => {
  const tracing = ['sample_ratio = 0', 'keep = failure'];
  const world = await openWorld(
    { layout: classicLayout(), collectorDown: true, tracing },
    { kind: 'embedded' },
  );
  try {
    world.sink.answerAlways({ kind: 'ok' });
    world.fail('project-merge', 'A');
    await world.propose('A');
    await world.approve('A');
    await world.runs('project-merge: A');
    expect(world.item('A')?.traceUrl).toBeNull();
    world.free();
    const failed = await world.leaves('A', 'FAILURE');
    await world.propose('B');
    await world.approve('B');
    const merged = await world.leaves('B', 'SUCCESS');
    world.fail('project-merge', 'C');
    await world.propose('C');
    await world.operator.post('/api/tenant/tenant-one/project/org/project/enqueue', {
      pipeline: 'gate',
      change: 'master/C',
    });
    const byHand = await world.leaves('C', 'FAILURE');
    const item = (uuid: string) => world.api.get<LiveItem>(`/api/tenant/tenant-one/item/${uuid}`);
    expect((await item(failed.uuid)).traceUrl).toContain(failed.uuid);
    expect((await item(merged.uuid)).traceUrl).toBeNull();
    const trace = await world.api.get<OtlpTraceDocument>(`/api/tenant/tenant-one/item/${failed.uuid}/trace`);
    const expected = spansFromOtlp(trace).map(span => span.spanId as string);
    const arrived = () => Map.groupBy(world.sink.spans, span => span.traceId);
    for (const { uuid } of [failed, byHand])
      await world.observer.until('the failed items to arrive', () => arrived().has(uuid));
    await world.service.close();
    expect(
      arrived()
        .get(failed.uuid)
        ?.map(span => span.spanId)
        .toSorted(),
    ).toEqual(expected.toSorted());
    expect(checkTraces(world.sink.spans)).toEqual([]);
    expect(brokenChains(world.sink.spans)).toEqual([]);
    // The event, the tenant's event, and the item; the operator's request, and the item.
    expect(arrived().size).toBe(3 + 2);
    expect(world.sink.spans.filter(({ name }) => name === 'ManagementEvent enqueue')).toHaveLength(1);
  } finally {
    await world[Symbol.asyncDispose]();
  }
});

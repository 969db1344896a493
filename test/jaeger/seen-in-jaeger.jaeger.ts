/**
 * Check 25 with a real Jaeger: what the real service sent in a story with everything is the same there, without a warning and
 * without an orphan, and is found by what people search for.
 *
 * The service sends to the sink all tests use; the very bytes go on from there to Jaeger, by gRPC and by HTTP, so that both can
 * be compared. That our own exporters reach a Jaeger is shown by the back-fill.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openHistory } from '../../src/history/history.ts';
import { traceIdOf } from '../../src/lib/ids.ts';
import type { QueueItem } from '../../src/model/queue-item.ts';
import { readSettings } from '../../src/settings/read-settings.ts';
import { searchUrl, uiUrl } from '../../src/tracing/ui-url.ts';
import { resetAndMergedStory } from '../fake/item-stories.ts';
import type { SinkSpan } from '../fake/otlp-sink.ts';
import { DEMO, playDemo, runCommand, settingsOf } from '../scenario/demo-story.ts';
import { openWorld } from '../scenario/open-world.ts';
import type { World } from '../scenario/world.ts';
import { orphans, search, trace } from './ask-jaeger.ts';
import { sendRaw } from './send-raw.ts';
import { type Jaeger, startJaeger } from './start-jaeger.ts';

const SERVICE = 'gatehouse';
const DAY = 86_400_000;
const today = () => ({ from: new Date(Date.now() - DAY / 2), to: new Date(Date.now() + DAY / 2) });

let world: World;
beforeAll(async () => {
  world = await openWorld(DEMO, { kind: 'embedded' });
  await playDemo(world);
});
afterAll(() => world[Symbol.asyncDispose]());

describe.each(['grpc', 'http/protobuf'] as const)('a Jaeger that is sent spans by %s', protocol => {
  let jaeger: Jaeger;
  let sent: ReadonlyMap<string, readonly SinkSpan[]>;

  beforeAll(async () => {
    jaeger = await startJaeger();
    const requests = [...world.sink.requests];
    sent = Map.groupBy(
      requests.flatMap(request => request.spans),
      span => span.traceId,
    );
    const bodies = requests.map(request => request.body);
    await sendRaw(jaeger, protocol, bodies);
    for (const [id, spans] of sent) await arrived(jaeger, id, spans.length);
  });
  afterAll(() => jaeger[Symbol.asyncDispose]());

  test('has stored every span exactly as it was sent', async () => {
    expect(sent.size).toBeGreaterThan(12);
    for (const [id, spans] of sent)
      expect(inOrder(await trace(jaeger.query, id, true))).toEqual(inOrder(spans));
  });

  test('has no warning about any of them, and misses no parent', async () => {
    for (const id of sent.keys()) {
      const shown = await trace(jaeger.query, id, false);
      expect(shown.flatMap(warningsOf)).toEqual([]);
      const ids = new Set(shown.map(span => span.spanId));
      const lost = shown.filter(span => span.parentSpanId !== null && !ids.has(span.parentSpanId));
      expect(lost.map(span => span.name)).toEqual([]);
    }
    const counted = await orphans(jaeger.query, { service: SERVICE, ...today() });
    expect([...(counted ?? [])].filter(([, count]) => count > 0)).toEqual([]);
  });

  test('finds the traces of an item, a change, a job and a failure', async () => {
    const roots = [...sent.values()]
      .flat()
      .filter(span => span.attributes['gatehouse.span.type'] === 'QueueItem');
    const [failed] = roots.filter(span => span.attributes['gatehouse.result'] === 'FAILURE');
    const find = (tags: object) => search(jaeger.query, { service: SERVICE, tags, ...today() });
    const id = failed?.traceId ?? '';
    expect(await find({ 'vcs.change.id': 'master/A' })).toContain(id);
    expect((await find({ 'gatehouse.span.type': 'QueueItem', 'error.type': 'failure' })).toSorted()).toEqual([
      id,
    ]);
    const builds = [...sent.values()]
      .flat()
      .filter(span => span.attributes['gatehouse.span.type'] === 'Build');
    const nightly = builds.filter(span => span.attributes['gatehouse.job'] === 'nightly');
    const own = nightly.map(span => String(span.attributes['gatehouse.build.id']));
    const ofItem = await find({ 'gatehouse.item.id': id });
    expect(ofItem).toContain(id);
    expect(ofItem.filter(each => own.includes(each)).length).toBe(1);
    const ofJob = await find({ 'cicd.pipeline.task.name': 'nightly' });
    expect(ofJob).toEqual(expect.arrayContaining(own.filter(each => sent.has(each))));
    const hurt = await find({ 'gatehouse.span.type': 'BuildSet', 'gatehouse.culprit.job': 'unit' });
    expect(hurt.length).toBe(3);
  });

  test('gets nothing new from a back-fill of what it has', async () => {
    const said = await backFill(jaeger, protocol, '1h');
    expect(said).toMatch(/^\d+ spans of 4 items and \d+ other traces sent/);
    for (const [id, spans] of sent) {
      const shown = await trace(jaeger.query, id, false);
      expect(shown.flatMap(warningsOf)).toEqual([]);
      expect(inOrder(shown).map(span => span.spanId)).toEqual(inOrder(spans).map(span => span.spanId));
    }
  });

  test('opens an item that began three days ago by our link, and finds it by our search', async () => {
    const item = await recordOldItem();
    await backFill(jaeger, protocol, '7d');
    await arrived(jaeger, item.uuid, 1);
    const ui = { template: `${jaeger.query}/trace/{trace_id}?uiFind={span_id}`, service: SERVICE };
    const link = new URL(uiUrl(ui, { traceId: traceIdOf(item.uuid), start: item.enqueuedAt }) ?? '');
    expect((await fetch(link)).ok).toBe(true);
    const id = link.pathname.split('/').at(-1) ?? '';
    expect((await trace(jaeger.query, id, false)).filter(span => span.parentSpanId === null)).toHaveLength(1);
    const tags = { 'gatehouse.item.id': item.uuid };
    const address = searchUrl(ui, { tags, start: item.enqueuedAt, end: null });
    const question = new URL(address ?? '').searchParams;
    const time = (name: string) => new Date(Number(question.get(name)) / 1000);
    const found = await search(jaeger.query, {
      service: SERVICE,
      tags,
      from: time('start'),
      to: time('end'),
    });
    expect(found).toEqual([item.uuid]);
  });
});

function backFill(jaeger: Jaeger, protocol: 'grpc' | 'http/protobuf', since: string): Promise<string> {
  return settingsOf(world).then(config =>
    runCommand([
      ...['trace', 'export', '-c', config, '--since', since],
      ...['--endpoint', protocol === 'grpc' ? jaeger.grpc : jaeger.http, '--protocol', protocol],
    ]),
  );
}

/** In the history of the story's service, as if it had left three days ago but for its four minutes. */
async function recordOldItem(): Promise<QueueItem> {
  const { item } = resetAndMergedStory();
  const shift = BigInt(Date.now() - 3 * DAY) * 1_000_000n - BigInt(item.enqueuedAt);
  const moved = JSON.stringify(item).replace(/"(1\d{18})"/g, (_, time) => `"${BigInt(time) + shift}"`);
  const old: QueueItem = JSON.parse(moved);
  const read = readSettings(world.config, {});
  if (read.kind === 'invalid') throw new Error(read.errors.join('\n'));
  const history = await openHistory(read.settings.database);
  await history.record([{ kind: 'item', item: old }]);
  await history.close();
  return old;
}

/** Jaeger stores what it accepted a moment later, without a signal. */
async function arrived(jaeger: Jaeger, id: string, count: number): Promise<void> {
  await world.observer.until(
    `${count} spans of ${id}`,
    async () => (await trace(jaeger.query, id, true)).length >= count,
  );
}

function warningsOf(span: SinkSpan): readonly string[] {
  return Object.entries(span.attributes).flatMap(([name, value]) =>
    name.startsWith('@jaeger') ? [`${span.name}: ${String(value)}`] : [],
  );
}

function inOrder(spans: readonly SinkSpan[]): readonly SinkSpan[] {
  return spans.toSorted((a, b) => (a.spanId < b.spanId ? -1 : 1));
}

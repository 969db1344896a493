import { createHash } from 'node:crypto';
/** What the web stores for others: an operator's request with its trace, and spans of other programs. */
import { beforeEach, describe, expect, test } from 'vitest';
import { liveTracing, type TracingControl } from '../../../../src/cmd/service/live-tracing.ts';
import { storeDequeue } from '../../../../src/cmd/service/operator-requests.ts';
import { createSpanIntake, isTraceSampled } from '../../../../src/cmd/service/span-intake.ts';
import { derivedUuid, randomIds, type SpanId, spanIdOf, traceIdOf } from '../../../../src/lib/ids.ts';
import { pipelineEventCodec, spansCodec } from '../../../../src/model/codec/records.ts';
import type { PipelineEvent } from '../../../../src/model/event.ts';
import type { SpanRecord } from '../../../../src/model/span.ts';
import { parseSettings } from '../../../../src/settings/parse-settings.ts';
import { openEmbeddedStore } from '../../../../src/store/embedded/server.ts';
import { EventQueue } from '../../../../src/store/event-queue.ts';
import { listOutbox, readOutbox } from '../../../../src/store/outbox.ts';
import { storePaths } from '../../../../src/store/paths.ts';
import { type Store, StoreError } from '../../../../src/store/port.ts';
import type { CallerContext } from '../../../../src/web/auth/caller-context.ts';
import { at, itemStory } from '../../../fake/queue-item.ts';
import { FaultyStore } from '../../store/faulty-store.ts';

const paths = storePaths('/gatehouse');
const clock = { now: () => at(70), monotonic: () => 0 };
const ids = randomIds();
let store: Store;

beforeEach(() => {
  const server = openEmbeddedStore({ file: ':memory:' });
  store = server.connect();
  return () => server.close();
});

function tracing(text: string): TracingControl {
  const content = new TextEncoder().encode(`[scheduler]\ntenant_config = x\n[tracing]\n${text}\n`);
  const parsed = parseSettings({ content, file: 'x.conf', directory: '/', environment: {} });
  if (parsed.kind === 'invalid') throw new Error(JSON.stringify(parsed.problems));
  return liveTracing(parsed.settings.tracing, new Map(), () => 'http://gate.example.org');
}
const ON = 'endpoint = http://collector:4317';

/** A ratio of a half keeps some of them. */
const TRACES = Array.from({ length: 20 }, (_, n) => traceIdOf(derivedUuid(`trace ${n}`)));
const spanId = 'b7ad6b7169203331' as SpanId;

describe('a dequeue', () => {
  async function originOf(control: TracingControl, context: CallerContext | undefined) {
    const { item } = itemStory();
    const { eventQueue } = paths.pipeline(item.tenant, item.pipeline);
    const queue = new EventQueue<PipelineEvent>({
      store,
      path: eventQueue,
      codec: pipelineEventCodec,
      clock,
    });
    await queue.prepare();
    const { tenant, pipeline } = item;
    const request = { tenant, pipeline, item, by: 'alice', receivedAt: at(69), context };
    await storeDequeue({ paths, clock, ids, host: 'web1', tracing: control }, store, request);
    const [entry] = (await queue.list()).map(({ value }) => value).slice(-1);
    if (entry?.kind !== 'dequeue') throw new Error('no dequeue was stored');
    return entry.management;
  }

  test('is stored with when it came in, and who asked', async () => {
    const span = { traceId: TRACES[0]!, spanId };
    const times = { receivedAt: at(69), storedAt: at(70), receiver: 'web1', sampled: true };
    expect(await originOf(tracing(ON), undefined)).toEqual(times);
    const from = (relation: CallerContext['relation']) => ({ relation, span, sampled: true });
    expect(await originOf(tracing(ON), from('parent'))).toEqual({ ...times, caller: span });
    expect(await originOf(tracing(ON), from('caller'))).toEqual({ ...times, caller: span });
  });

  test('of a command is recorded when the command is, and only then', async () => {
    const half = tracing(`${ON}\nsample_ratio = 0.5`);
    const kept = TRACES.map(traceId => isTraceSampled(half, traceId));
    expect(new Set(kept).size).toBe(2);
    for (const [index, traceId] of TRACES.entries()) {
      const context = { relation: 'parent', span: { traceId, spanId }, sampled: true } as const;
      expect((await originOf(half, context))?.sampled).toBe(kept[index]);
      expect((await originOf(half, { ...context, sampled: false }))?.sampled).toBe(false);
    }
  });

  test('is not recorded while tracing is off', async () => {
    const span = { traceId: TRACES[0]!, spanId };
    expect((await originOf(tracing('enabled = false'), undefined))?.sampled).toBe(false);
    expect(
      (await originOf(tracing('enabled = false'), { relation: 'parent', span, sampled: true }))?.sampled,
    ).toBe(false);
  });
});

/** 20 000 characters that become hardly smaller when they are packed. */
function unpackable(name: string): string {
  const hash = (part: number) => createHash('sha256').update(`${name} ${part}`).digest('base64');
  return Array.from({ length: 500 }, (_, part) => hash(part))
    .join('')
    .slice(0, 20_000);
}

describe('spans of others', () => {
  const span = (name: string): SpanRecord => ({
    traceId: TRACES[0]!,
    spanId,
    parent: null,
    name,
    kind: 'client',
    start: at(1),
    end: at(2),
    attributes: { text: unpackable(name) },
    events: [],
    links: [],
    resource: { 'service.name': 'bot' },
    status: { code: 'unset' },
  });

  test('go into the outbox in rows that can be written, also before a scheduler has made it', async () => {
    const intake = createSpanIntake({ tracing: tracing(ON), paths, clock }, store)();
    expect(intake?.ownServices).toContain('gatehouse');
    const spans = Array.from({ length: 150 }, (_, n) => span(`step ${n}`));
    await intake?.store(spans);
    const rows = await readOutbox(store, await listOutbox(store, paths.spanOutbox));
    expect(rows.flatMap(row => spansCodec.decode(row.data))).toEqual(spans);
    expect(rows.length).toBeGreaterThan(3);
    expect(Math.max(...rows.map(row => row.bytes))).toBeLessThan(500_000);
  });

  test('are stored once when the sender has to repeat what failed half-way', async () => {
    const faulty = new FaultyStore(store);
    const intake = createSpanIntake({ tracing: tracing(ON), paths, clock }, faulty)();
    const spans = Array.from({ length: 150 }, (_, n) => ({
      ...span(`step ${n}`),
      spanId: spanIdOf(derivedUuid(`${n}`)),
    }));
    await intake?.store([span('first')]);
    const multi = faulty.multi.bind(faulty);
    let writes = 0;
    faulty.multi = async operations => {
      writes += 1;
      if (writes === 2) throw new StoreError('ConnectionLoss', paths.spanOutbox);
      return multi(operations);
    };
    await expect(intake?.store(spans)).rejects.toThrow(StoreError);
    await intake?.store(spans);
    const rows = await readOutbox(store, await listOutbox(store, paths.spanOutbox));
    const names = rows.flatMap(row => spansCodec.decode(row.data)).map(({ name }) => name);
    expect(names).toEqual(['first', ...spans.map(({ name }) => name)]);
    await intake?.store(spans.slice(0, 1));
    expect(await listOutbox(store, paths.spanOutbox)).toHaveLength(rows.length + 1);
  });

  test('go nowhere while tracing is off, and somewhere as soon as it is on', () => {
    const control = tracing('enabled = false');
    const intake = createSpanIntake({ tracing: control, paths, clock }, store);
    expect(intake()).toBeUndefined();
    control.adopt(tracing(`${ON}\nservice_name = our-gate`).settings());
    expect(intake()?.ownServices).toContain('our-gate-executor');
  });
});

import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { BuildResultEvent, TakenBuild } from '../../../src/executor/deps.ts';
import { createStoreBuilds } from '../../../src/executor/store-builds.ts';
import { randomIds, type SpanId } from '../../../src/lib/ids.ts';
import type { BuildRequest } from '../../../src/model/build-request.ts';
import { buildRequestCodec, pipelineEventCodec, spansCodec } from '../../../src/model/codec/records.ts';
import type { SpanRecord } from '../../../src/model/span.ts';
import { type EmbeddedStore, openEmbeddedStore } from '../../../src/store/embedded/server.ts';
import { ensureNode } from '../../../src/store/ensure-node.ts';
import { EventQueue } from '../../../src/store/event-queue.ts';
import { listOutbox, readOutbox } from '../../../src/store/outbox.ts';
import { storePaths } from '../../../src/store/paths.ts';
import { remove, type Store, StoreError } from '../../../src/store/port.ts';
import { RequestQueue } from '../../../src/store/request-queue.ts';
import { manualClock } from '../store/test-bench.ts';
import { buildRequest } from './fixture.ts';

const paths = storePaths();
const clock = manualClock();
const request = buildRequest('1'.repeat(40), { run: ['run.sh'] });
const result: BuildResultEvent = {
  kind: 'build-result',
  ...{ uuid: randomIds().uuid(), item: request.item, buildset: request.buildset, build: request.uuid },
  ...{ at: clock.now(), result: 'SUCCESS', worker: 'executor', execution: null },
};

let server: EmbeddedStore;
let store: Store;
let events: EventQueue<unknown>;
let writes: number;
let beforeWrite: () => Promise<unknown>;
let queue: RequestQueue<BuildRequest>;

beforeEach(async () => {
  server = openEmbeddedStore({ file: ':memory:' });
  store = server.connect();
  queue = new RequestQueue({ store, path: paths.requests('build'), codec: buildRequestCodec });
  await queue.prepare();
  await ensureNode(store, paths.spanOutbox);
  const { eventQueue } = paths.pipeline(request.tenant, request.pipeline);
  events = new EventQueue({ store, path: eventQueue, codec: pipelineEventCodec, clock });
  await events.prepare();
  await queue.submitNow(request);
  writes = 0;
  beforeWrite = async () => undefined;
});
afterEach(() => server.close());

/** Taken by an executor whose writes are counted. */
async function take(): Promise<TakenBuild> {
  const session = server.connect();
  const counted = new Proxy(session, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) => {
        if (name === 'multi') {
          writes += 1;
          return beforeWrite().then(() => Reflect.apply(value, target, args));
        }
        return Reflect.apply(value, target, args);
      };
    },
  });
  const own = new RequestQueue({ store: counted, path: paths.requests('build'), codec: buildRequestCodec });
  const deps = { store: counted, paths, clock, ids: randomIds(), worker: 'executor' };
  const taken = await createStoreBuilds(own, deps).take(() => true, new AbortController().signal);
  writes = 0;
  return taken!;
}

function spans(count: number, bytes: number): readonly SpanRecord[] {
  return Array.from({ length: count }, (_, index) => ({
    traceId: request.trace!.traceId,
    spanId: index.toString(16).padStart(16, 'a') as SpanId,
    parent: request.trace!.buildSpan,
    ...{ name: 'mine', kind: 'internal', start: clock.now(), end: clock.now(), events: [], links: [] },
    attributes: { text: noise(index, bytes) },
    status: { code: 'unset' },
  }));
}

/** Text that packing makes little less of. */
function noise(seed: number, length: number): string {
  let text = '';
  for (let round = 0; text.length < length; round++)
    text += createHash('sha512').update(`${seed} ${round}`).digest('base64');
  return text.slice(0, length);
}

async function sent(): Promise<readonly SpanRecord[]> {
  const rows = await readOutbox(store, await listOutbox(store, paths.spanOutbox));
  return rows.flatMap(({ data }) => spansCodec.decode(data));
}

describe('the result of a build', () => {
  test('takes the spans of its job along, in the same write', async () => {
    const taken = await take();
    const given = spans(50, 100);
    await taken.complete(result, given);
    expect([writes, await sent()]).toEqual([1, given]);
    expect((await events.list()).map(({ value }) => value)).toMatchObject([{ kind: 'build-result' }]);
    expect((await queue.overview()).names).toEqual([]);
  });

  test('comes before spans that do not fit beside it: they never hang below a build that was not exported', async () => {
    const taken = await take();
    const given = spans(1200, 2000);
    beforeWrite = async () => seen.push((await events.list()).length);
    const seen: number[] = [];
    expect(await taken.complete(result, given)).toBe('whole');
    expect(await sent()).toEqual(given);
    expect(seen).toEqual([0, 1, 1]);
    expect((await events.list()).length).toBe(1);
  });

  test('counts also when spans that did not fit are lost', async () => {
    const taken = await take();
    beforeWrite = async () => {
      if (writes > 1) throw new StoreError('ConnectionLoss', paths.spanOutbox);
    };
    expect(await taken.complete(result, spans(1200, 2000))).toBe('spans-cut');
    expect((await events.list()).length).toBe(1);
    expect((await sent()).length).toBeGreaterThan(0);
  });

  test('and its spans are dropped when the claim was lost', async () => {
    const taken = await take();
    await store.multi([remove(queue.claimPath(request.uuid))]);
    await taken.complete(result, spans(1200, 2000));
    expect([await sent(), (await events.list()).length]).toEqual([[], 0]);
  });
});

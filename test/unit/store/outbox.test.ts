import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { pause } from '../../../src/lib/pause.ts';
import { type EmbeddedStore, openEmbeddedStore } from '../../../src/store/embedded/server.ts';
import { listOutbox, outboxOperation, readOutbox } from '../../../src/store/outbox.ts';
import { createOutboxDrain, type Delivery, type OutboxDrainDeps } from '../../../src/store/outbox-drain.ts';
import { create, type Store } from '../../../src/store/port.ts';
import { eventually } from '../../conformance/store/eventually.ts';
import { FaultyStore } from './faulty-store.ts';
import { manualClock } from './test-bench.ts';

const PATH = '/outbox';
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (data: Uint8Array): string => new TextDecoder().decode(data);

let server: EmbeddedStore;
let store: FaultyStore;
let writer: Store;
let clock: ReturnType<typeof manualClock>;
let stop: AbortController;
let running: Promise<void>;

beforeEach(async () => {
  server = openEmbeddedStore({ file: ':memory:' });
  store = new FaultyStore(server.connect());
  writer = server.connect();
  await writer.multi([create(PATH)]);
  clock = manualClock();
  stop = new AbortController();
  running = Promise.resolve();
});
afterEach(async () => {
  stop.abort();
  await running;
  await server.close();
});

const write = async (...rows: string[]): Promise<void> => {
  await writer.multi(rows.map(row => outboxOperation(PATH, bytes(row), clock.now())));
};
const left = async (): Promise<number> => (await writer.children(PATH))?.length ?? 0;

/** A receiver with prepared answers, which accepts after the last one. */
function receiver(...answers: (Delivery | Error)[]) {
  const batches: string[][] = [];
  const deliver = async (rows: readonly Uint8Array[]): Promise<Delivery> => {
    batches.push(rows.map(text));
    const answer = answers.shift() ?? 'delivered';
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return { batches, deliver };
}

function start(deliver: OutboxDrainDeps['deliver'], more: Partial<OutboxDrainDeps> = {}) {
  const waits: number[] = [];
  const dropped: object[] = [];
  const drain = createOutboxDrain({
    store,
    path: PATH,
    deliver,
    clock,
    bounds: { maxAgeMs: 3_600_000, maxBytes: 10_000 },
    random: () => 0.5,
    pause: async ms => {
      waits.push(ms);
      await new Promise(resolve => setImmediate(resolve));
    },
    onDropped: (reason, what) => dropped.push({ reason, ...what }),
    ...more,
  });
  running = drain.run(stop.signal);
  return { drain, waits, dropped };
}

describe('outbox rows', () => {
  test('show size, age and order by their names', async () => {
    await write('first');
    clock.advance(1500);
    await writer.multi([outboxOperation(PATH, bytes('second row'), undefined, 25)]);
    const entries = await listOutbox(writer, PATH);
    expect(entries.map(entry => entry.bytes)).toEqual([5, 10]);
    expect(entries.map(entry => entry.at)).toEqual([1_795_000_000_000, undefined]);
    expect(entries.map(entry => entry.values)).toEqual([1, 25]);
    expect((await readOutbox(writer, entries)).map(row => text(row.data))).toEqual(['first', 'second row']);
  });

  test('of release 0.2 are read as well, and count as one each', async () => {
    const old = create(`${PATH}/3-1795000000000-`, bytes('old'), { sequential: true });
    await writer.multi([old, outboxOperation(PATH, bytes('new'), clock.now(), 7)]);
    const entries = await listOutbox(writer, PATH);
    expect(entries.map(({ bytes: size, at, values }) => [size, at, values])).toEqual([
      [3, 1_795_000_000_000, 1],
      [3, 1_795_000_000_000, 7],
    ]);
    expect((await readOutbox(writer, entries)).map(row => text(row.data))).toEqual(['old', 'new']);
  });

  test('are listed in the order of writing, regardless of their sizes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string(), { maxLength: 30 }), async rows => {
        const path = `/outbox-${++runs}`;
        await writer.multi([create(path), ...rows.map(row => outboxOperation(path, bytes(row)))]);
        const read = await readOutbox(writer, await listOutbox(writer, path));
        expect(read.map(row => text(row.data))).toEqual(rows.map(row => text(bytes(row))));
      }),
      { numRuns: 30 },
    );
  });
  let runs = 0;
});

describe('an outbox drain', () => {
  test('delivers what waits and what comes, in order, and removes it', async () => {
    const { batches, deliver } = receiver();
    await write('a', 'b');
    const { drain } = start(deliver);
    await eventually(async () => expect(await left()).toBe(0));
    await write('c');
    await eventually(async () => expect(await left()).toBe(0));
    expect(batches.flat()).toEqual(['a', 'b', 'c']);
    await eventually(() =>
      expect(drain.counters()).toMatchObject({ depth: 0, bytes: 0, oldestAgeMs: 0, delivered: 3 }),
    );
  });

  test('makes batches of bounded rows and bytes; a larger row goes alone', async () => {
    const { batches, deliver } = receiver();
    await write('1', '2', '3', '4', 'x'.repeat(30), '5', 'y'.repeat(8), 'z'.repeat(8));
    start(deliver, { batch: { rows: 3, bytes: 10, values: 100 } });
    await eventually(async () => expect(await left()).toBe(0));
    expect(batches.map(batch => batch.map(row => row.length))).toEqual([[1, 1, 1], [1], [30], [1, 8], [8]]);
  });

  test('counts values as well, since a small row may hold many', async () => {
    const { batches, deliver } = receiver();
    const rows = [3, 3, 9, 1].map((values, at) =>
      outboxOperation('/outbox', bytes(`${at}`), undefined, values),
    );
    await writer.multi(rows);
    start(deliver, { batch: { rows: 9, bytes: 1000, values: 6 } });
    await eventually(async () => expect(await left()).toBe(0));
    expect(batches).toEqual([['0', '1'], ['2'], ['3']]);
  });

  test('keeps rows until they are delivered: same rows, growing waits', async () => {
    const again: Delivery = { retryAfterMs: undefined };
    const { batches, deliver } = receiver(again, new Error('refused'), again, { retryAfterMs: 7_000 });
    await write('a', 'b');
    const reasons: unknown[] = [];
    const { waits, drain } = start(deliver, {
      backoff: { firstMs: 100, maxMs: 300 },
      onRetry: (attempt, reason) =>
        reasons.push([attempt, reason instanceof Error ? reason.message : reason]),
    });
    await eventually(async () => expect(await left()).toBe(0));
    expect(batches).toEqual(Array.from({ length: 5 }, () => ['a', 'b']));
    expect(waits).toEqual([75, 150, 225, 7_000]);
    expect(reasons).toEqual([
      [1, undefined],
      [2, 'refused'],
      [3, undefined],
      [4, undefined],
    ]);
    await eventually(() => expect(drain.counters()).toMatchObject({ delivered: 2 }));
  });

  test('shows depth, bytes and age while the other side is down', async () => {
    const { deliver } = receiver();
    let up = false;
    await write('abc', 'defg');
    clock.advance(5_000);
    const { drain } = start(async rows => (up ? await deliver(rows) : { retryAfterMs: 1 }));
    await eventually(() =>
      expect(drain.counters()).toMatchObject({ depth: 2, bytes: 7, oldestAgeMs: 5_000 }),
    );
    up = true;
    await eventually(async () => expect(await left()).toBe(0));
  });

  test('is done with what the other side refuses for good, and goes on', async () => {
    const { batches, deliver } = receiver({ lost: 'rejected' });
    await write('bad', 'bad too');
    const { drain, dropped } = start(deliver);
    await eventually(async () => expect(await left()).toBe(0));
    await write('good');
    await eventually(async () => expect(await left()).toBe(0));
    expect(batches).toEqual([['bad', 'bad too'], ['good']]);
    await eventually(() => expect(drain.counters()).toMatchObject({ depth: 0, delivered: 3 }));
    expect(dropped).toEqual([]);
  });

  test('drops rows that are too old, unread, and reports how much they held', async () => {
    await writer.multi([outboxOperation(PATH, bytes('old'), clock.now(), 25)]);
    await write('older');
    clock.advance(3_600_001);
    await write('young');
    const { batches, deliver } = receiver();
    const { drain, dropped } = start(deliver);
    await eventually(async () => expect(await left()).toBe(0));
    expect(batches).toEqual([['young']]);
    expect(dropped).toEqual([{ reason: 'too-old', rows: 2, values: 26 }]);
    await eventually(() => expect(drain.counters()).toMatchObject({ delivered: 1 }));
  });

  test('ages rows without a time from when it first saw them', async () => {
    await writer.multi([outboxOperation(PATH, bytes('undated'))]);
    const { dropped } = start(async () => {
      clock.advance(2_000_000);
      return { retryAfterMs: 1 };
    });
    await eventually(() => expect(dropped).toEqual([{ reason: 'too-old', rows: 1, values: 1 }]));
    expect(await left()).toBe(0);
  });

  test('drops the oldest when too many bytes wait, and reports how much they held', async () => {
    const { batches, deliver } = receiver();
    await writer.multi([outboxOperation(PATH, bytes('a'.repeat(6_000)), clock.now(), 40)]);
    await write('b'.repeat(6_000), 'c'.repeat(3_000));
    const { dropped } = start(deliver);
    await eventually(async () => expect(await left()).toBe(0));
    expect(batches.flat().map(row => row[0])).toEqual(['b', 'c']);
    expect(dropped).toEqual([{ reason: 'outbox-full', rows: 1, values: 40 }]);
  });

  test('removes what was delivered although replies get lost, and does not send it again', async () => {
    const { batches, deliver } = receiver();
    await write('a', 'b');
    store.faults.push('lose-reply');
    const { drain } = start(deliver);
    await eventually(async () => expect(await left()).toBe(0));
    await eventually(() => expect(drain.counters().delivered).toBe(2));
    store.faults.push('lose-request');
    await write('c');
    await eventually(async () => expect(await left()).toBe(0));
    expect(batches).toEqual([['a', 'b'], ['c']]);
  });

  test('lives with a second reader: nothing is lost, both end empty', async () => {
    const mine = receiver();
    const theirs = receiver();
    const rows = Array.from({ length: 50 }, (_, n) => `${n}`);
    await write(...rows);
    start(mine.deliver, { batch: { rows: 7, bytes: 1000, values: 100 } });
    const second = createOutboxDrain({
      store: writer,
      path: PATH,
      deliver: theirs.deliver,
      clock,
      bounds: { maxAgeMs: 1e9, maxBytes: 1e9 },
      batch: { rows: 5, bytes: 1000, values: 100 },
      random: () => 0,
    }).run(stop.signal);
    await eventually(async () => expect(await left()).toBe(0));
    stop.abort();
    await second;
    const all = new Set([...mine.batches.flat(), ...theirs.batches.flat()]);
    expect(all.size).toBe(50);
  });

  test('continues after being out of contact', async () => {
    const { batches, deliver } = receiver();
    start(deliver);
    await writer.sync();
    store.suspend();
    await write('a');
    store.resume();
    await eventually(async () => expect(await left()).toBe(0));
    expect(batches).toEqual([['a']]);
  });

  test('ends quietly when aborted, also while it waits to try again', async () => {
    await write('a');
    const { deliver } = receiver({ retryAfterMs: 3_600_000 });
    let waiting = false;
    const { drain } = start(deliver, {
      pause: async (ms, signal) => {
        waiting = true;
        await pause(ms, signal);
      },
    });
    await eventually(() => expect(waiting).toBe(true));
    stop.abort();
    await running;
    expect(drain.counters().depth).toBe(1);
    expect(await left()).toBe(1);
  });

  test('fails when its session is over, so that it is started again', async () => {
    const { deliver } = receiver();
    start(deliver);
    const ended = expect(running).rejects.toMatchObject({ code: 'SessionExpired' });
    running = Promise.resolve();
    await writer.sync();
    await server.expire(store.sessionId);
    await ended;
  });
});

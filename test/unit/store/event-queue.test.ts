import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type EmbeddedStore, openEmbeddedStore } from '../../../src/store/embedded/server.ts';
import { EventQueue, MAX_ENTRY_BYTES } from '../../../src/store/event-queue.ts';
import { create, type Store } from '../../../src/store/port.ts';
import { sweepSeen } from '../../../src/store/seen.ts';
import { newerRecord } from '../../fake/newer-record.ts';
import { FaultyStore } from './faulty-store.ts';
import { manualClock, textCodec } from './test-bench.ts';

const DAY = 86_400_000;

let server: EmbeddedStore;
let store: FaultyStore;
let other: Store;
let clock: ReturnType<typeof manualClock>;
let queue: EventQueue<string>;
let buried: string[];

beforeEach(async () => {
  server = openEmbeddedStore({ file: ':memory:' });
  store = new FaultyStore(server.connect());
  other = server.connect();
  clock = manualClock();
  buried = [];
  queue = new EventQueue({
    store,
    path: '/events/queue',
    seenPath: '/events/seen',
    codec: textCodec,
    clock,
    onDeadLetter: path => buried.push(path),
  });
  await queue.prepare();
});
afterEach(async () => {
  await server.close();
});

const put = async (...values: string[]): Promise<void> => {
  await store.multi(values.flatMap(value => queue.put(value)));
};
const values = async (limit?: number): Promise<string[]> =>
  (await queue.list(limit)).map(entry => entry.value);

describe('an event queue', () => {
  test('lists what was put in the order it was put, and keeps it until it is acknowledged', async () => {
    await put('a', 'b');
    await put('c');
    expect(await values()).toEqual(['a', 'b', 'c']);
    expect(await values(2)).toEqual(['a', 'b']);
    const [first] = await queue.list();
    await store.multi([queue.ack(first!)]);
    expect(await values()).toEqual(['b', 'c']);
    expect(await queue.depth()).toBe(2);
  });

  test('keeps the order over any mixture of puts and acknowledgements', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(fc.constant('ack'), fc.string()), { maxLength: 30 }),
        async steps => {
          const path = `/property-${++runs}`;
          const own = new EventQueue({ store, path, codec: textCodec, clock });
          await own.prepare();
          const model: string[] = [];
          for (const step of steps.filter(text => !text.startsWith('bad'))) {
            const [first] = await own.list(1);
            if (step !== 'ack') {
              await store.multi(own.put(step));
              model.push(step);
            } else if (first !== undefined) {
              await store.multi([own.ack(first)]);
              model.shift();
            }
            expect((await own.list()).map(entry => entry.value)).toEqual(model);
          }
        },
      ),
      { numRuns: 30 },
    );
  });
  let runs = 0;

  test('lists thousands in order', async () => {
    const many = Array.from({ length: 1050 }, (_, index) => `value ${index}`);
    await put(...many);
    expect(await values()).toEqual(many);
    expect(await values(333)).toEqual(many.slice(0, 333));
  });

  test('lets only one of two take an entry, together with its effect', async () => {
    await put('a');
    const [entry] = await queue.list();
    const results = await Promise.allSettled([
      store.multi([queue.ack(entry!), create('/effect-1')]),
      other.multi([queue.ack(entry!), create('/effect-2')]),
    ]);
    expect(results.map(result => result.status).toSorted()).toEqual(['fulfilled', 'rejected']);
    const effects = await other.getMany(['/effect-1', '/effect-2']);
    expect(effects.map(effect => effect !== undefined)).toEqual(
      results.map(result => result.status === 'fulfilled'),
    );
  });

  test('refuses an entry that is too large before anything is written', () => {
    expect(() => queue.put('x'.repeat(MAX_ENTRY_BYTES + 1))).toThrow('TooLarge');
    expect(queue.put('x'.repeat(MAX_ENTRY_BYTES))).toHaveLength(1);
  });
});

describe('entries that cannot be handled', () => {
  test('undecodable ones move aside with their bytes and the reason, and the rest goes on', async () => {
    await put('a', 'bad one', 'b', 'bad two');
    expect(await values()).toEqual(['a', 'b']);
    expect(buried).toHaveLength(2);
    const dead = await queue.deadLetters();
    expect(dead.map(letter => textCodecRaw(letter.bytes))).toEqual(['bad one', 'bad two']);
    expect(dead[0]).toMatchObject({
      from: buried[0],
      attempts: 0,
      at: clock.now(),
      error: 'cannot read "bad one"',
    });
    expect(await queue.depth()).toBe(2);
  });

  test('an undecodable entry of the largest size moves aside too', async () => {
    await put(`bad${'x'.repeat(MAX_ENTRY_BYTES - 3)}`, 'a');
    expect(await values()).toEqual(['a']);
    expect((await queue.deadLetters())[0]?.bytes.byteLength).toBe(MAX_ENTRY_BYTES);
  });

  test('two readers that meet the same undecodable entry bury it once', async () => {
    await put('bad');
    const second = new EventQueue({ store: other, path: queue.path, codec: textCodec, clock });
    const lists = await Promise.all([queue.list(), second.list()]);
    expect(lists).toEqual([[], []]);
    expect(await queue.deadLetters()).toHaveLength(1);
  });

  test('a lost reply while burying neither blocks nor doubles', async () => {
    await put('bad', 'a');
    store.faults.push('lose-request');
    expect(await values()).toEqual(['a']);
    store.faults.push('lose-reply');
    expect(await values()).toEqual(['a']);
    expect(await values()).toEqual(['a']);
    expect(await queue.deadLetters()).toHaveLength(1);
  });

  test('failures are counted on the entry, which keeps its place, until it is given up', async () => {
    await put('a', 'b');
    for (const attempts of [0, 1, 2]) {
      const [entry] = await queue.list();
      expect(entry).toMatchObject({ value: 'a', attempts });
      await store.multi([queue.noteFailure(entry!)]);
    }
    const [entry] = await queue.list();
    await store.multi([...queue.deadLetter(entry!, new Error('hopeless'))]);
    expect(await values()).toEqual(['b']);
    expect(await queue.deadLetters()).toMatchObject([{ attempts: 3, error: 'hopeless' }]);
  });

  test('a dead letter can be brought back, at the end', async () => {
    await put('a', 'b');
    const [entry] = await queue.list();
    await store.multi([...queue.deadLetter(entry!, 'for a while')]);
    const [letter] = await queue.deadLetters();
    await store.multi([...queue.revive(letter!)]);
    expect(await values()).toEqual(['b', 'a']);
    expect(await queue.deadLetters()).toEqual([]);
  });
});

describe('deliveries that come more than once', () => {
  test('are stored once', async () => {
    expect(await queue.offer('a', 'delivery/1')).toBe('stored');
    expect(await queue.offer('a', 'delivery/1')).toBe('duplicate');
    expect(await queue.offer('b', 'delivery/2')).toBe('stored');
    expect(await values()).toEqual(['a', 'b']);
  });

  test('are duplicates after the entry was taken', async () => {
    await queue.offer('a', '1');
    const [entry] = await queue.list();
    await store.multi([queue.ack(entry!)]);
    expect(await queue.offer('a', '1')).toBe('duplicate');
    expect(await values()).toEqual([]);
  });

  test.each(['lose-request', 'lose-reply'] as const)(
    'are stored once although the answer is in doubt (%s)',
    async fault => {
      store.faults.push(fault, fault);
      expect(await queue.offer('a', '1')).toBe('stored');
      expect(await values()).toEqual(['a']);
    },
  );

  test('that come at the same moment are stored once', async () => {
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => queue.offer('a', '1')));
    expect(outcomes.toSorted()).toEqual([...Array.from({ length: 9 }, () => 'duplicate'), 'stored']);
    expect(await values()).toEqual(['a']);
  });

  test('ids are forgotten after days, not before three', async () => {
    await queue.offer('a', '1');
    clock.advance(2 * DAY);
    await queue.offer('b', '2');
    expect(await sweepSeen(store, '/events/seen', clock.now())).toBe(0);
    expect(await queue.offer('a again', '1')).toBe('duplicate');
    clock.advance(1.5 * DAY);
    expect(await sweepSeen(store, '/events/seen', clock.now())).toBe(0);
    expect(await queue.offer('a again', '1')).toBe('duplicate');
    expect(await values()).toEqual(['a', 'b']);
    clock.advance(DAY);
    expect(await sweepSeen(store, '/events/seen', clock.now())).toBe(1);
    expect(await queue.offer('b', '2')).toBe('duplicate');
    expect(await queue.offer('a', '1')).toBe('stored');
    await expect(sweepSeen(store, '/events/seen', clock.now(), 3 * DAY)).rejects.toThrow(RangeError);
  });

  test('ids remembered in a form of a newer version are left to its sweepers; what is no time at all goes', async () => {
    await store.multi([
      create('/events/seen/later', newerRecord({ kind: 'seen', version: 0 })),
      create('/events/seen/odd', Uint8Array.of(0, 255)),
    ]);
    clock.advance(10 * DAY);
    expect(await sweepSeen(store, '/events/seen', clock.now())).toBe(1);
    expect(await store.children('/events/seen')).toEqual(['later']);
  });

  test('a sweep of thousands is cut into multis that fit, and two sweeps do not hurt', async () => {
    for (let at = 0; at < 3000; at += 1000) {
      await store.multi(Array.from({ length: 1000 }, (_, index) => queue.put('x', `${at + index}`)[1]!));
    }
    clock.advance(5 * DAY);
    await Promise.all([
      sweepSeen(store, '/events/seen', clock.now()),
      sweepSeen(other, '/events/seen', clock.now()),
    ]);
    await sweepSeen(store, '/events/seen', clock.now());
    expect(await other.children('/events/seen')).toEqual([]);
  });
});

describe('moving on', () => {
  test('an entry is gone here and in all its targets in one instant', async () => {
    const targets = ['/t1', '/t2'].map(
      path => new EventQueue({ store, path, seenPath: `${path}-seen`, codec: textCodec, clock }),
    );
    for (const target of targets) await target.prepare();
    await put('a', 'b');
    const [entry] = await queue.list();
    const move = queue.forward(
      entry!,
      targets.map(target => ({ queue: target, value: `${entry!.value}!` })),
    );
    await store.multi(move);
    expect(await values()).toEqual(['b']);
    for (const target of targets) expect((await target.list()).map(({ value }) => value)).toEqual(['a!']);
    await expect(store.multi(move)).rejects.toMatchObject({ code: 'NoNode' });
  });
});

describe('waiting for entries', () => {
  test('returns at once when there are some, else when the first arrives', async () => {
    const signal = AbortSignal.timeout(10_000);
    const waiting = queue.waitForEntries(signal);
    await other.sync();
    await other.multi(queue.put('a'));
    await waiting;
    await queue.waitForEntries(signal);
  });

  test('rejects when aborted', async () => {
    const stop = new AbortController();
    const waiting = expect(queue.waitForEntries(stop.signal)).rejects.toThrow('enough');
    await other.sync();
    stop.abort(new Error('enough'));
    await waiting;
  });

  test('arrivals missed while out of contact are found after it', async () => {
    const stop = new AbortController();
    const waiting = queue.waitForEntries(stop.signal);
    await other.sync();
    store.suspend();
    await other.multi(queue.put('a'));
    store.resume();
    await waiting;
  });

  test('a session that ends ends the wait', async () => {
    const waiting = expect(queue.waitForEntries(new AbortController().signal)).rejects.toMatchObject({
      code: 'SessionExpired',
    });
    await other.sync();
    await server.expire(store.sessionId);
    await waiting;
  });
});

const textCodecRaw = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

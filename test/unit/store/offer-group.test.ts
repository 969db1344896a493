import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parseNanoseconds } from '../../../src/lib/clock.ts';
import { type EmbeddedStore, openEmbeddedStore } from '../../../src/store/embedded/server.ts';
import { EventQueue, MAX_ENTRY_BYTES } from '../../../src/store/event-queue.ts';
import { createOfferGroup, type OfferGroup } from '../../../src/store/offer-group.ts';
import { FaultyStore } from './faulty-store.ts';

const codec = {
  encode: (text: string) => new TextEncoder().encode(text),
  decode: (bytes: Uint8Array) => new TextDecoder().decode(bytes),
};
let server: EmbeddedStore;
let store: FaultyStore;
let queue: EventQueue<string>;
let group: OfferGroup<string>;

beforeEach(async () => {
  server = openEmbeddedStore({ file: ':memory:' });
  store = new FaultyStore(server.connect());
  const clock = { now: () => parseNanoseconds('1') };
  queue = new EventQueue({ store, path: '/queue', seenPath: '/seen', codec, clock });
  await queue.prepare();
  group = createOfferGroup(store, queue);
  store.calls.multi = 0;
});
afterEach(() => server.close());

const offerAll = (...ids: string[]) => Promise.all(ids.map(id => group.offer(`event ${id}`, id)));
const queued = async () => (await queue.list()).map(({ value }) => value);

describe('deliveries offered at the same time', () => {
  test('are one transaction, in their order', async () => {
    expect(await offerAll('a', 'b', 'c')).toEqual(['stored', 'stored', 'stored']);
    expect(store.calls.multi).toBe(1);
    expect(await queued()).toEqual(['event a', 'event b', 'event c']);
  });

  test('of which one is a duplicate are stored anyway, and that one is reported as such', async () => {
    await offerAll('b');
    expect(await offerAll('a', 'b', 'c', 'c')).toEqual(['stored', 'duplicate', 'stored', 'duplicate']);
    expect(await queued()).toEqual(['event b', 'event a', 'event c']);
  });

  test('are stored once when the reply is lost', async () => {
    store.faults.push('lose-reply');
    const answers = await offerAll('a', 'b');
    expect(answers.every(answer => answer === 'stored' || answer === 'duplicate')).toBe(true);
    expect(await queued()).toEqual(['event a', 'event b']);
  });

  test('are stored once when the request is lost', async () => {
    store.faults.push('lose-request');
    expect(await offerAll('a', 'b')).toEqual(['stored', 'stored']);
    expect(await queued()).toEqual(['event a', 'event b']);
  });

  test('one that is too large refuses itself alone', async () => {
    const large = group.offer('x'.repeat(MAX_ENTRY_BYTES + 1), 'large');
    const [stored] = await Promise.all([group.offer('small', 'small'), large.catch(() => {})]);
    await expect(large).rejects.toMatchObject({ code: 'TooLarge' });
    expect(stored).toBe('stored');
    expect(await queued()).toEqual(['small']);
  });

  test('are several transactions when they are many or large', async () => {
    await Promise.all(Array.from({ length: 4 }, (_, at) => group.offer('x'.repeat(200_000), `large ${at}`)));
    expect(store.calls.multi).toBe(4);
    await Promise.all(Array.from({ length: 150 }, (_, at) => group.offer('x', `small ${at}`)));
    expect(store.calls.multi).toBe(4 + 3);
    expect(await queue.depth()).toBe(154);
  });
});

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { isNewerRecord, RecordError, recordCodec } from '../../../src/model/codec/record.ts';
import { text } from '../../../src/model/codec/schema.ts';
import { decodeDeadLetter } from '../../../src/store/dead-letter.ts';
import { type EmbeddedStore, openEmbeddedStore } from '../../../src/store/embedded/server.ts';
import { create, type Store, set } from '../../../src/store/port.ts';
import { createQuarantine, type Quarantine } from '../../../src/store/quarantine.ts';
import { newerRecord } from '../../fake/newer-record.ts';
import { SILENT } from '../../fake/silent-log.ts';
import { FaultyStore } from './faulty-store.ts';
import { manualClock } from './test-bench.ts';

const codec = recordCodec('text', 1, text);
const PLACE = '/record';

let server: EmbeddedStore;
let store: FaultyStore;
let logged: object[];
let quarantine: Quarantine;

beforeEach(() => {
  server = openEmbeddedStore({ file: ':memory:' });
  store = new FaultyStore(server.connect());
  logged = [];
  const log = { ...SILENT, error: (facts: object) => void logged.push(facts) };
  quarantine = createQuarantine({ store, path: '/aside', clock: manualClock(), log });
});
afterEach(() => server.close());

async function readAt(data: Uint8Array, options?: { readonly keepNode: boolean }) {
  await store.multi([create(PLACE, data)]);
  return await quarantine.read(codec, PLACE, await store.get(PLACE), options);
}

async function quarantined(from: Store = store) {
  const names = (await from.children('/aside')) ?? [];
  const nodes = await from.getMany(names.map(name => `/aside/${name}`));
  return nodes.flatMap(node => (node === undefined ? [] : [decodeDeadLetter(node.data)]));
}

describe('a record', () => {
  test('that can be read is read, and one that is not there is not', async () => {
    expect(await readAt(codec.encode('hello'))).toBe('hello');
    expect(await quarantine.read(codec, '/none', undefined)).toBeUndefined();
    expect(await quarantined()).toEqual([]);
  });

  test.each([
    ['random bytes', Uint8Array.of(0, 255, 7, 128)],
    ['half a record', codec.encode('hello').subarray(0, 20)],
    ['nothing', new Uint8Array(0)],
    ['a record of another kind', recordCodec('other', 1, text).encode('hello')],
  ])('of %s is out of the way, kept with its place and the reason, and logged', async (_, bytes) => {
    expect(await readAt(bytes)).toBeUndefined();
    expect(await store.get(PLACE)).toBeUndefined();
    const [letter] = await quarantined();
    expect(letter).toMatchObject({ from: PLACE, bytes });
    expect(letter?.error).toContain('text record cannot be read');
    expect(logged).toMatchObject([{ path: PLACE, copy: '/aside/0000000000' }]);
  });

  test('of a newer version stays, and the error names its place', async () => {
    const error = await readAt(newerRecord(codec)).catch(failure => failure);
    expect(isNewerRecord(error)).toBe(true);
    expect(error.message).toContain(`${PLACE}: `);
    expect((await store.get(PLACE))?.data).toEqual(newerRecord(codec));
    expect(await quarantined()).toEqual([]);
  });

  test('whose node must stay is emptied, and empty means not written yet', async () => {
    expect(await readAt(Uint8Array.of(1), { keepNode: true })).toBeUndefined();
    const emptied = await store.get(PLACE);
    expect(emptied?.data).toHaveLength(0);
    expect(await quarantine.read(codec, PLACE, emptied, { keepNode: true })).toBeUndefined();
    expect(await quarantined()).toHaveLength(1);
  });

  test('that was written anew since it was read stays', async () => {
    await store.multi([create(PLACE, Uint8Array.of(1))]);
    const old = await store.get(PLACE);
    await store.multi([set(PLACE, codec.encode('mended'))]);
    expect(await quarantine.read(codec, PLACE, old)).toBeUndefined();
    expect(await quarantine.read(codec, PLACE, await store.get(PLACE))).toBe('mended');
    expect(await quarantined()).toEqual([]);
  });

  test('found by two processes at the same time is quarantined once', async () => {
    await store.multi([create(PLACE, Uint8Array.of(1))]);
    const node = await store.get(PLACE);
    await Promise.all([quarantine.read(codec, PLACE, node), quarantine.read(codec, PLACE, node)]);
    expect(await quarantined()).toHaveLength(1);
  });

  test('a fault of the reader itself is not blamed on the record', async () => {
    const odd = {
      ...codec,
      decode: (): string => {
        throw new TypeError('a defect');
      },
    };
    await store.multi([create(PLACE, codec.encode('hello'))]);
    await expect(quarantine.read(odd, PLACE, await store.get(PLACE))).rejects.toThrow('a defect');
    expect(await store.get(PLACE)).toBeDefined();
  });
});

test('a lost answer neither fails the reader nor doubles the copy', async () => {
  await store.multi([create(PLACE, Uint8Array.of(1)), create('/aside')]);
  const node = await store.get(PLACE);
  store.faults.push('lose-reply');
  await quarantine.move(PLACE, node!, new RecordError('broken', 'it is not an object'));
  expect(await quarantine.read(codec, PLACE, await store.get(PLACE))).toBeUndefined();
  expect(await quarantined()).toHaveLength(1);
});

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { isNewerRecord, recordCodec } from '../../../src/model/codec/record.ts';
import { json, text } from '../../../src/model/codec/schema.ts';
import { type EmbeddedStore, openEmbeddedStore } from '../../../src/store/embedded/server.ts';
import { EventQueue } from '../../../src/store/event-queue.ts';
import { create, type Store } from '../../../src/store/port.ts';
import { newerRecord } from '../../fake/newer-record.ts';
import { manualClock } from './test-bench.ts';

const codec = recordCodec('text', 1, text);
const PATH = '/events/queue';

let server: EmbeddedStore;
let store: Store;
let queue: EventQueue<string>;
const buried: string[] = [];

beforeEach(async () => {
  server = openEmbeddedStore({ file: ':memory:' });
  store = server.connect();
  buried.length = 0;
  queue = new EventQueue({
    store,
    path: PATH,
    codec,
    clock: manualClock(),
    onDeadLetter: path => void buried.push(path),
  });
  await queue.prepare();
});
afterEach(() => server.close());

async function put(...entries: (string | Uint8Array)[]): Promise<void> {
  for (const entry of entries) {
    const bytes = typeof entry === 'string' ? codec.encode(entry) : entry;
    await store.multi([create(`${PATH}/`, bytes, { sequential: true })]);
  }
}

async function refusal(list: Promise<unknown>): Promise<Error> {
  return list.then(
    () => Promise.reject(new Error('it was not refused')),
    error => error,
  );
}

describe('an entry of a newer version', () => {
  test('is reached only when all before it is taken, and what is behind it waits', async () => {
    await put('a', 'b', newerRecord(codec), 'c');
    const before = await queue.list(10);
    expect(before.map(entry => entry.value)).toEqual(['a', 'b']);
    await store.multi(before.map(entry => queue.ack(entry)));
    const error = await refusal(queue.list(10));
    expect(isNewerRecord(error)).toBe(true);
    expect(error.message).toContain(`${PATH}/0000000002`);
    expect(error.message).toContain('version 2');
  });

  test('is left where it is, byte for byte', async () => {
    await put(newerRecord(codec));
    await refusal(queue.list(10));
    expect(buried).toEqual([]);
    expect(await queue.deadLetters()).toEqual([]);
    const [name] = (await store.children(PATH)) ?? [];
    const node = await store.get(`${PATH}/${name}`);
    expect(node?.stat.version).toBe(0);
    expect(node?.data).toEqual(newerRecord(codec));
  });

  test('makes the question for the whole queue fail rather than be answered in part', async () => {
    await put('a', newerRecord(codec));
    expect(isNewerRecord(await refusal(queue.list()))).toBe(true);
  });

  test('ends a loop over additions after those before it', async () => {
    await put('a', newerRecord(codec));
    const taken: string[] = [];
    const loop = (async () => {
      for await (const entries of queue.additions(new Set())) {
        taken.push(...entries.map(entry => entry.value));
        await store.multi(entries.map(entry => queue.ack(entry)));
      }
    })();
    expect(isNewerRecord(await refusal(loop))).toBe(true);
    expect(taken).toEqual(['a']);
  });

  test('is read by an upgraded process, and the rest after it', async () => {
    await put(newerRecord(codec));
    const upgraded = recordCodec('text', 2, json, [value => value]);
    const theirs = new EventQueue({ store, path: PATH, codec: upgraded, clock: manualClock() });
    const [entry] = await theirs.list(1);
    expect(entry?.value).toEqual({ of: 'tomorrow' });
  });

  test('does not hide a broken one before it, which is moved to the dead letters', async () => {
    await put(new Uint8Array(0), new TextEncoder().encode('{"k":"text","v"'), 'a', newerRecord(codec));
    expect((await queue.list(10)).map(entry => entry.value)).toEqual(['a']);
    expect(buried).toEqual([`${PATH}/0000000000`, `${PATH}/0000000001`]);
  });
});

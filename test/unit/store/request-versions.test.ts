import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { isBrokenRecord, isNewerRecord, recordCodec } from '../../../src/model/codec/record.ts';
import { object, text, whole } from '../../../src/model/codec/schema.ts';
import { abandonedRequests, discarded, requeued } from '../../../src/store/abandoned-requests.ts';
import { decodeDeadLetter } from '../../../src/store/dead-letter.ts';
import { type EmbeddedStore, openEmbeddedStore } from '../../../src/store/embedded/server.ts';
import { create, type Store } from '../../../src/store/port.ts';
import { RequestQueue } from '../../../src/store/request-queue.ts';
import {
  decodeRequestRecord,
  encodeRequestRecord,
  requestHeadCodec,
  requestNamePrefix,
} from '../../../src/store/request-record.ts';
import { createRequestWorker } from '../../../src/store/request-worker.ts';
import { isIntact } from '../../../src/store/stored-request.ts';
import { newerRecord } from '../../fake/newer-record.ts';
import { manualClock } from './test-bench.ts';

interface Request {
  readonly uuid: string;
  readonly priority: number;
}

const codec = recordCodec('errand', 1, object<Request>({ uuid: text, priority: whole }));
const LINE_END = Buffer.of(10);

let server: EmbeddedStore;
let store: Store;
let queue: RequestQueue<Request>;

beforeEach(async () => {
  server = openEmbeddedStore({ file: ':memory:' });
  store = server.connect();
  queue = new RequestQueue({ store, path: '/wishes', codec });
  await queue.prepare();
});
afterEach(() => server.close());

async function plant(uuid: string, data: Uint8Array): Promise<string> {
  const name = `${queue.queuePath}/${requestNamePrefix(100, uuid)}`;
  const [made] = await store.multi([create(name, data, { sequential: true })]);
  return made?.path ?? '';
}

const waiting = { state: { kind: 'requested' }, attempt: 1 } as const;
const newerBody = encodeRequestRecord({ ...waiting, bytes: newerRecord(codec) });
const newerHead = Buffer.concat([
  newerRecord(requestHeadCodec),
  LINE_END,
  codec.encode({ uuid: 'b', priority: 1 }),
]);

describe.each([
  ['whose body is of a newer version', newerBody],
  ['whose state is of a newer version', newerHead],
  ['that has no lines any more', newerRecord(requestHeadCodec)],
])('a request %s', (_, data) => {
  test('is stepped over by workers, who serve the others', async () => {
    await plant('newer', data);
    await store.multi(queue.submit({ uuid: 'ours', priority: 200 }));
    const signal = AbortSignal.timeout(5000);
    const claim = await createRequestWorker(queue, { worker: 'w', clock: manualClock() }).next(signal);
    expect(claim.request.uuid).toBe('ours');
  });

  test('is known to be there, is not settled, and stays as it is', async () => {
    const path = await plant('newer', data);
    expect((await queue.everything()).map(each => [each.uuid, isIntact(each)])).toEqual([['newer', true]]);
    expect(await queue.list()).toEqual([]);
    expect(await abandonedRequests(queue)).toEqual([]);
    expect((await store.get(path))?.data).toEqual(new Uint8Array(data));
  });
});

test('a waiting request of a newer body is withdrawn like any other; of one whose state is newer, the end is asked for', async () => {
  const body = await plant('body', newerBody);
  const head = await plant('head', newerHead);
  await store.multi(await queue.withdrawAll(['body', 'head']));
  expect(await store.get(body)).toBeUndefined();
  expect(await store.get(head)).toBeDefined();
  expect(await store.get(queue.cancelPath('head'))).toBeDefined();
});

test.each([
  ['nothing', Buffer.alloc(0)],
  ['random bytes', Buffer.of(0, 255, 10, 3, 10)],
  ['a first line without its end', requestHeadCodec.encode({ state: 'requested', attempt: 1 })],
  [
    'a body cut short',
    encodeRequestRecord({ ...waiting, bytes: codec.encode({ uuid: 'x', priority: 1 }) }).subarray(0, -5),
  ],
])('a request that holds %s is for the sweeper', async (_, data) => {
  await plant('broken', data);
  const [abandoned] = await abandonedRequests(queue);
  expect(abandoned).toMatchObject({ kind: 'unreadable', request: { uuid: 'broken' } });
  expect((await queue.everything()).map(isIntact)).toEqual([false]);
  await store.multi(abandoned === undefined ? [] : discarded(queue, abandoned));
  expect(await queue.everything()).toEqual([]);
});

test('a request as 0.3 wrote it, in one node with its state, is taken, put back, moved and completed in that form', async () => {
  const bytes = codec.encode({ uuid: 'old', priority: 100 });
  const head = '{"k":"request","v":1,"d":{"state":"requested","attempt":1}}\n';
  const path = await plant('old', Buffer.concat([Buffer.from(head), bytes]));
  const [request] = await queue.list();
  expect(request).toMatchObject({ uuid: 'old', attempt: 1, value: { uuid: 'old' } });
  await store.multi(requeued(queue, { ...request!, attempt: 1 }));
  const back = await store.get(path);
  expect(decodeRequestRecord(back?.data ?? new Uint8Array())).toMatchObject({ attempt: 2, bytes });
  for (const move of await queue.reprioritize(new Map([['old', 150]]))) await store.multi(move);
  const claim = await createRequestWorker(queue, { worker: 'w', clock: manualClock() }).next(
    AbortSignal.timeout(5000),
  );
  expect(claim.request).toMatchObject({ uuid: 'old', attempt: 2, value: { uuid: 'old' } });
  expect(await store.children(queue.bodiesPath)).toEqual([]);
  expect(await claim.complete()).toBe('done');
  expect(await queue.everything()).toEqual([]);
});

test('the state of a request is a record of its own', () => {
  const taken = {
    state: { kind: 'taken', worker: 'ci1', at: manualClock().now(), session: null },
    attempt: 2,
    bytes: Buffer.of(1, 10, 2),
  } as const;
  const stored = encodeRequestRecord(taken);
  expect(new TextDecoder().decode(stored)).toMatch(
    /^\{"k":"request","v":2,"d":\{"state":"taken","attempt":2,/,
  );
  const { bytes, ...rest } = decodeRequestRecord(stored);
  expect(rest).toEqual({ state: taken.state, attempt: 2 });
  expect([...(bytes ?? [])]).toEqual([1, 10, 2]);
});

test('a state as 0.1.0 wrote it is read', () => {
  const at = manualClock().now();
  const waited = decodeRequestRecord(Buffer.from('{"state":"requested","attempt":2}\nbody'));
  expect(waited).toMatchObject({ state: { kind: 'requested' }, attempt: 2 });
  const taken = Buffer.from(`{"worker":"ci1","at":"${at}","state":"taken","attempt":1}\nbody`);
  expect(decodeRequestRecord(taken)).toMatchObject({
    state: { kind: 'taken', worker: 'ci1', at },
    attempt: 1,
  });
});

test('a dead letter as 0.1.0 wrote it is read', () => {
  const stored = Buffer.from('{"from":"/queue/1","attempts":3,"at":"17","error":"no luck"}\nbytes');
  expect(decodeDeadLetter(stored)).toMatchObject({ from: '/queue/1', attempts: 3, error: 'no luck' });
});

test('a state that cannot be read is distinguished', () => {
  const refusal = (data: Uint8Array): unknown => {
    try {
      return decodeRequestRecord(data);
    } catch (error) {
      return error;
    }
  };
  expect(isNewerRecord(refusal(newerHead))).toBe(true);
  const odd = Buffer.from('{"k":"request","v":1,"d":{"state":"lost"}}\n');
  expect(isBrokenRecord(refusal(odd))).toBe(true);
  expect(isBrokenRecord(refusal(Buffer.of(123, 34, 195, 10, 1)))).toBe(true);
  expect(isBrokenRecord(refusal(Buffer.of(255, 10, 1)))).toBe(true);
});

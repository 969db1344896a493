/** When items will probably leave, from the history of a gate that the pure core ran. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CallLost } from '../../../src/lib/worker-calls.ts';
import type { QueueItem } from '../../../src/model/queue-item.ts';
import { type Contract, contractOf, type Described } from '../../fake/contract.ts';
import { busyMoment } from '../forecast/busy-days.ts';
import { readEvents } from './event-reader.ts';
import { type FakeWeb, fakeWeb, sampleSnapshot } from './fake-web.ts';

let web: FakeWeb;
let contract: Contract;
let queued: readonly QueueItem[] = [];
const reads: string[] = [];

beforeAll(async () => {
  const moment = busyMoment();
  queued = moment.queued;
  web = await fakeWeb({ snapshot: sampleSnapshot({ gate: queued, check: [] }) });
  web.setNow(moment.at);
  const itemsLeft = web.history.itemsLeft.bind(web.history);
  Object.assign(web.history, {
    itemsLeft: (question: Parameters<typeof itemsLeft>[0]) => {
      reads.push(question.pipeline ?? '');
      return itemsLeft(question);
    },
  });
  await web.history.record(moment.left.map(item => ({ kind: 'item', item }) as const));
  contract = contractOf((await (await fetch(`${web.url}/openapi.json`)).json()) as Described);
});
afterAll(() => web.close());

async function ask(path: string) {
  const response = await fetch(`${web.url}${path}`);
  const text = await response.text();
  const type = response.headers.get('content-type') ?? '';
  expect(contract.problems({ method: 'GET', path, status: response.status, type, text }), path).toEqual([]);
  return { status: response.status, json: JSON.parse(text) };
}

const GATE = '/api/tenant/main/pipeline/gate/forecast';

test('each item of the queue has its place and times', async () => {
  const { json } = await ask(GATE);
  expect(Object.keys(json.items).sort()).toEqual(queued.map(({ uuid }) => uuid).sort());
  for (const forecast of Object.values<{ expected: { early: number; likely: number; late: number } }>(
    json.items,
  )) {
    expect(forecast).toMatchObject({ expected: { what: 'lands' }, unknown: null });
    expect(forecast.expected.early).toBeLessThanOrEqual(forecast.expected.likely);
    expect(forecast.expected.likely).toBeLessThanOrEqual(forecast.expected.late);
  }
});

test('the live stream has the same, and the history is read once a minute at most', async () => {
  const { json } = await ask(GATE);
  await using events = await readEvents(`${web.url}/api/tenant/main/events`);
  expect((await events.next()).data.set['forecast/gate']).toEqual(json);
  await ask(GATE);
  // Pages of ten, up to a hundred items; the calibration has not been asked for.
  expect(reads.length).toBeLessThanOrEqual(8);
});

test('how right it was is measured on the items that landed', async () => {
  const { json } = await ask(`${GATE}/calibration?since=20d`);
  expect(json.items).toBeGreaterThan(20);
  expect(json.inside).toBeGreaterThan(0.6);
  expect(json.inside + json.before + json.after).toBeCloseTo(1);
});

test('an empty pipeline has no forecasts, and an unknown one is not found', async () => {
  expect((await ask('/api/tenant/main/pipeline/post/forecast')).json).toEqual({
    pipeline: 'post',
    items: {},
  });
  const { status, json } = await ask('/api/tenant/main/pipeline/gat/forecast');
  expect([status, json.error]).toEqual([404, 'tenant main has no pipeline "gat", did you mean "gate"?']);
});

test('a history that does not answer is a warning, and no reason to show less', async () => {
  const blind = await fakeWeb({ snapshot: sampleSnapshot() });
  Object.assign(blind.history, {
    itemsLeft: () => Promise.reject(new Error('the disk is full')),
  });
  const answer = await fetch(`${blind.url}${GATE}`);
  const json = (await answer.json()) as { readonly items: { readonly [uuid: string]: object } };
  const places = Object.values(json.items).map(each => ('place' in each ? each.place : undefined));
  expect(places.toSorted()).toEqual([1, 2, 3, 4, 5, 6]);
  expect(blind.warnings).toContainEqual(expect.stringContaining('cannot read finished items for forecasts'));
  await blind.close();
});

test.each([
  ['is closed, because the service ends, warns of nothing', new CallLost('closed', 'closed'), 0],
  ['cannot be read is a warning', new CallLost('memory', 'out of memory'), 1],
])('a history that %s', async (_, error, warnings) => {
  await using other = await warnedWeb(error);
  expect((await fetch(`${other.web.url}${GATE}`)).status).toBe(200);
  expect(other.web.warnings.filter(line => line.includes('for forecasts'))).toHaveLength(warnings);
});

async function warnedWeb(error: Error) {
  const ill = await fakeWeb({ snapshot: sampleSnapshot({ gate: queued, check: [] }) });
  Object.assign(ill.history, { itemsLeft: () => Promise.reject(error) });
  return { web: ill, [Symbol.asyncDispose]: () => ill.close() };
}

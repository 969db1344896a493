/** An item beside the last good one of its project and branch, by the route that the page and the command line ask. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { LeftQuestion } from '../../../src/history/find-items.ts';
import { MOST_READ } from '../../../src/web/compare-route.ts';
import { MOST_WAITING_ANSWERS } from '../../../src/web/shared-answers.ts';
import { type Contract, contractOf, type Described } from '../../fake/contract.ts';
import { type FakeWeb, fakeWeb } from './fake-web.ts';
import { finishedItems, gateItems } from './sample-gate.ts';
import { uuidOf } from './sample-item.ts';

let web: FakeWeb;
let contract: Contract;
beforeAll(async () => {
  web = await fakeWeb();
  contract = contractOf((await (await fetch(`${web.url}/openapi.json`)).json()) as Described);
});
afterAll(() => web.close());

async function compare(item: string, query = '') {
  const path = `/api/tenant/main/item/${item}/compare${query}`;
  const response = await fetch(`${web.url}${path}`);
  const text = await response.text();
  const type = response.headers.get('content-type') ?? '';
  expect(contract.problems({ method: 'GET', path, status: response.status, type, text })).toEqual([]);
  return { status: response.status, json: JSON.parse(text) };
}

/** In the gate now, of the project of `metrics`, which has landed. */
function liveOfLib() {
  const item = gateItems().find(({ changes: [change] }) => change.project.endsWith('acme/lib'));
  if (item === undefined) throw new Error('the sample has no item of acme/lib in the gate');
  return item;
}

test('an item in the queue is beside the last of its project and branch that passed', async () => {
  const { status, json } = await compare(liveOfLib().uuid);
  expect(status).toBe(200);
  expect(json).toMatchObject({
    item: { item: liveOfLib().uuid, result: null },
    other: { item: uuidOf('metrics'), result: 'SUCCESS', resets: 1, ms: 238_000 },
    usualOf: 1,
  });
  const running = json.phases.find(({ state }: { state?: string }) => state === 'running');
  expect(running.other).toBe(222_000);
});

test('what left later, failed or is of another project is not what it is compared with', async () => {
  const { json } = await compare(uuidOf('schema'));
  expect([json.item.result, json.other, json.usualOf]).toEqual(['FAILURE', null, 0]);
});

test('any other item of the tenant can be named', async () => {
  const { json } = await compare(uuidOf('schema'), `?with=${uuidOf('metrics')}`);
  expect(json.other.item).toBe(uuidOf('metrics'));
  const tests = json.phases.find(
    ({ level, job }: { level: string; job?: string }) => level === 'job' && job === 'unit-tests',
  );
  expect(tests).toMatchObject({ ms: 108_000, other: 97_000 });
});

test.each([
  [uuidOf('none'), '', 404, 'there is no item'],
  [uuidOf('schema'), `?with=${uuidOf('none')}`, 404, 'there is no item'],
  [uuidOf('schema'), '?with=metrics', 404, 'there is no item metrics'],
  [uuidOf('schema'), '?wiht=x', 400, 'wiht: unknown parameter, did you mean "with"?'],
])('of %s with "%s" is refused with %i', async (item, query, status, error) => {
  const refused = await compare(item, query);
  expect([refused.status, refused.json.error]).toEqual([status, expect.stringContaining(error)]);
});

test('is computed for a bounded number of clients, from a bounded number of items', async () => {
  const asked: LeftQuestion[] = [];
  const first = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  const busy = await fakeWeb();
  const [, merged] = finishedItems();
  if (merged === undefined) throw new Error('the sample has no item that landed');
  Object.assign(busy.history, {
    async itemsLeft(question: LeftQuestion) {
      asked.push(question);
      first.resolve();
      await go.promise;
      // Of another project each, and more than will be read.
      return {
        items: Array.from({ length: question.limit }, () => finishedItems()[0]),
        next: 1_000_000 - asked.length,
        reached: merged.enqueuedAt,
      };
    },
  });
  const asks = [...gateItems(), ...finishedItems()]
    .slice(0, MOST_WAITING_ANSWERS + 1)
    .map(({ uuid }) => fetch(`${busy.url}/api/tenant/main/item/${uuid}/compare`));
  const refused = await Promise.race(asks);
  await first.promise;
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '10']);
  go.resolve();
  const statuses = (await Promise.all(asks)).map(({ status }) => status);
  expect(statuses.filter(status => status === 200)).toHaveLength(MOST_WAITING_ANSWERS);
  const read = asked.reduce((sum, { limit }) => sum + limit, 0);
  expect(read).toBe(MOST_READ * MOST_WAITING_ANSWERS);
  await busy.close();
});

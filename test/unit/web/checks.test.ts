/** What Gerrit's Checks tab asks for. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Contract, contractOf, type Described } from '../../fake/contract.ts';
import { checkedItems, gatedItem, unlandedItem } from '../../fake/gerrit-change-items.ts';
import { type FakeWeb, fakeWeb, sampleSnapshot } from './fake-web.ts';

let web: FakeWeb;
let contract: Contract;
beforeAll(async () => {
  const [failed, passed] = checkedItems();
  web = await fakeWeb({
    snapshot: sampleSnapshot({ gate: [gatedItem()], check: [] }),
    // Between queue and history.
    overrides: { leavingItems: async wanted => [passed].filter(wanted) },
  });
  await web.history.record([failed, unlandedItem()].map(item => ({ kind: 'item', item }) as const));
  contract = contractOf((await (await fetch(`${web.url}/openapi.json`)).json()) as Described);
});
afterAll(() => web.close());

async function ask(question: string, change = '12') {
  const path = `/api/tenant/main/changes/${change}/checks${question}`;
  const response = await fetch(`${web.url}${path}`);
  const text = await response.text();
  const type = response.headers.get('content-type') ?? '';
  expect(contract.problems({ method: 'GET', path, status: response.status, type, text }), path).toEqual([]);
  return { response, status: response.status, json: JSON.parse(text) };
}

const names = (json: { runs: readonly { checkName: string; attempt: number }[] }) =>
  json.runs.map(({ checkName, attempt }) => `${checkName} ${attempt}`);

test('finds live, leaving and finished items of the patch set, readable from any page', async () => {
  const { response, json } = await ask('?project=acme/app&patchset=3');
  expect(response.headers.get('access-control-allow-origin')).toBe('*');
  expect(names(json)).toEqual([
    'check/lint 1',
    'check/unit-tests 1',
    'check/integration 1',
    'check/lint 2',
    'check/unit-tests 2',
    'check/coverage 1',
    'gate/lint 1',
    'gate/unit-tests 1',
    'gate/integration 1',
  ]);
  expect(json.truncated).toBe(false);
});

test('counts attempts per patch set, where all are asked for', async () => {
  const { json } = await ask('?project=acme/app');
  expect(names(json).filter(name => name.startsWith('gate'))).toEqual([
    'gate/lint 1',
    'gate 1',
    'gate/lint 1',
    'gate/unit-tests 1',
    'gate/integration 1',
  ]);
});

test.each([
  ['?project=acme/lib', '12'],
  ['?project=acme/app', '13'],
  ['?project=acme/app&patchset=2', '12'],
  ['?project=acme/app&connection=hooks', '12'],
])('has nothing for %s of change %s', async (question, change) => {
  expect((await ask(question, change)).json).toEqual({ runs: [], truncated: false });
});

test('takes the connection of the project', async () => {
  const { json } = await ask('?project=acme/app&connection=local&patchset=4');
  expect(names(json)).toEqual(['gate/lint 1', 'gate 1']);
});

test('refuses a question without a project', async () => {
  const { status, json } = await ask('');
  expect([status, json.place]).toEqual([400, 'query parameter project']);
});

/** What an act would do is asked with the right to do it, and nothing is stored. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { PlannedAct } from '../../../src/web/deps.ts';
import { postByPort, postBySocket } from './ask-web.ts';
import { type FakeWeb, fakeWeb } from './fake-web.ts';
import { uuidOf } from './sample-item.ts';

let web: FakeWeb;
let asked: PlannedAct[];
beforeEach(async () => {
  asked = [];
  const costOf = async (act: PlannedAct) => {
    asked.push(act);
    return { items: [], jobs: [], refusals: ['not now'] };
  };
  web = await fakeWeb({ overrides: { costOf } });
});
afterEach(() => web.close());

const PROJECT = 'tenant/main/project/acme/app';
const ACTS: readonly (readonly [string, string, object])[] = [
  ['dequeue', `${PROJECT}/dequeue`, { pipeline: 'gate', change: 'master/dark-mode' }],
  ['enqueue', `${PROJECT}/enqueue`, { pipeline: 'gate', change: 'master/other' }],
  ['promote', 'tenant/main/promote', { pipeline: 'gate', changes: ['master/dark-mode'] }],
  ['rerun', `tenant/main/item/${uuidOf('dark-mode')}/rerun`, {}],
  ['halt', 'tenant/main/pipeline/gate/state', { state: 'paused', reason: 'disks' }],
];

test.each(ACTS)('%s says what it would do, and is not done', async (kind, path, body) => {
  const answer = await postBySocket(web, `${path}/dry-run`, { body });
  expect([answer.status, await answer.json()]).toMatchObject([
    200,
    { text: 'resets nothing', refusals: ['not now'], items: [] },
  ]);
  expect(asked).toMatchObject([{ kind, tenant: 'main', by: 'command line' }]);
  expect([web.dequeued, web.enqueued, web.promoted, web.rerun, web.halted].flat()).toEqual([]);
});

test.each(ACTS)('the port alone may not ask what %s would do', async (_kind, path, body) => {
  expect((await postByPort(web, `${path}/dry-run`, { body })).status).toBe(401);
  expect(asked).toEqual([]);
});

test.each(ACTS.filter(([kind]) => kind !== 'rerun'))(
  '%s without sense is refused beforehand as well',
  async (_kind, path) => {
    expect((await postBySocket(web, `${path}/dry-run`, { body: '{' })).status).toBe(400);
    expect(asked).toEqual([]);
  },
);

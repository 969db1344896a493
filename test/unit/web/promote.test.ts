import { afterEach, beforeEach, expect, test } from 'vitest';
import { postByPort, postBySocket } from './ask-web.ts';
import { type FakeWeb, fakeWeb } from './fake-web.ts';
import { uuidOf } from './sample-item.ts';

let web: FakeWeb;
beforeEach(async () => {
  web = await fakeWeb();
});
afterEach(() => web.close());

async function promote(body: unknown) {
  const answer = await postBySocket(web, 'tenant/main/promote', { body });
  return { status: answer.status, body: await answer.json() };
}

test('changes are promoted in the order given, by id or ref, after their project or without', async () => {
  const changes = ['master/dark-mode', 'acme/lib master/fix-typo', 'refs/heads/for/master/fast-login'];
  expect(await promote({ pipeline: 'gate', changes })).toEqual({ status: 200, body: true });
  expect(web.promoted).toEqual([[uuidOf('dark-mode'), uuidOf('fix-typo'), uuidOf('fast-login')]]);
});

test.each([
  ['no JSON', '{', 400],
  ['no changes', { pipeline: 'gate', changes: [] }, 400],
  ['a change that is no text', { pipeline: 'gate', changes: ['master/dark-mode', 7] }, 400],
  [
    'too many changes',
    { pipeline: 'gate', changes: Array.from({ length: 101 }, () => 'master/dark-mode') },
    400,
  ],
  ['an unknown pipeline', { pipeline: 'gaet', changes: ['master/dark-mode'] }, 400],
  ['a change of another project', { pipeline: 'gate', changes: ['acme/lib master/dark-mode'] }, 404],
  ['one change that is not there', { pipeline: 'gate', changes: ['master/dark-mode', 'master/gone'] }, 404],
])('a request with %s is refused as a whole', async (_what, body, status) => {
  expect(await promote(body)).toEqual({
    status,
    body: { error: expect.any(String), description: expect.any(String), place: expect.any(String) },
  });
  expect(web.promoted).toEqual([]);
});

test('slashes in a row count as one, as Zuul’s page asks', async () => {
  const body = { pipeline: 'gate', changes: ['master/dark-mode'] };
  expect((await postBySocket(web, 'tenant/main//promote?', { body })).status).toBe(200);
  expect(web.promoted).toEqual([[uuidOf('dark-mode')]]);
  expect((await postByPort(web, 'tenant/main//promote', { body })).status).toBe(401);
});

test('a pipeline without an order refuses, and says why', async () => {
  const answer = await promote({ pipeline: 'check', changes: ['master/graph-colours'] });
  expect(answer).toMatchObject({
    status: 400,
    body: { error: expect.stringMatching(/dependent pipelines only, and check is independent/) },
  });
});

test('the port gives no authority', async () => {
  const body = { pipeline: 'gate', changes: ['master/dark-mode'] };
  expect((await postByPort(web, 'tenant/main/promote', { body })).status).toBe(401);
  expect(web.promoted).toEqual([]);
});

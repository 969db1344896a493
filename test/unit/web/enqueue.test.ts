import { afterEach, beforeEach, expect, test } from 'vitest';
import { postByPort, postBySocket } from './ask-web.ts';
import { type FakeWeb, fakeWeb } from './fake-web.ts';

let web: FakeWeb;
beforeEach(async () => {
  web = await fakeWeb();
});
afterEach(() => web.close());

const COMMIT = '3f2a91c0a3b0a1b2c3d4e5f60718293a4b5c6d7e';
const NONE = '0'.repeat(40);

async function enqueue(body: unknown, project = 'acme/app') {
  const answer = await postBySocket(web, `tenant/main/project/${project}/enqueue`, { body });
  return { status: answer.status, body: await answer.json() };
}

test('a change is named with its patchset or without, a ref with its revisions or without', async () => {
  for (const body of [
    { change: 'master/login' },
    { change: 'master/login,3f2a91c0' },
    { change: 12 },
    { ref: 'refs/heads/master', oldrev: NONE, newrev: NONE },
    { ref: 'refs/tags/v1', newrev: COMMIT },
  ])
    expect(await enqueue({ pipeline: 'gate', ...body })).toEqual({ status: 200, body: true });
  const wanted = web.enqueued.map(each => JSON.parse(each.replace('gate: ', '')));
  expect(wanted).toEqual([
    { kind: 'change', key: 'local/acme/app#master/login' },
    { kind: 'change', key: 'local/acme/app#master/login', patchset: '3f2a91c0' },
    { kind: 'change', key: 'local/acme/app#12' },
    { kind: 'ref', project: 'local/acme/app', ref: 'refs/heads/master', from: null, to: null },
    { kind: 'ref', project: 'local/acme/app', ref: 'refs/tags/v1', from: null, to: COMMIT },
  ]);
});

test.each([
  ['no pipeline', { change: 'master/login' }, 400],
  ['an unknown pipeline', { pipeline: 'gaet', change: 'master/login' }, 400],
  ['neither change nor ref', { pipeline: 'gate' }, 400],
  ['a change without a name', { pipeline: 'gate', change: '' }, 400],
  ['a name that is far too long', { pipeline: 'gate', change: 'x'.repeat(2000) }, 400],
  ['a branch in place of a ref', { pipeline: 'gate', ref: 'master' }, 400],
  ['a revision that is no commit', { pipeline: 'gate', ref: 'refs/heads/master', newrev: 'v1' }, 400],
  ['a tag without its revision', { pipeline: 'gate', ref: 'refs/tags/v1' }, 400],
])('a request with %s is refused and stored nowhere', async (_what, body, status) => {
  const answer = await enqueue(body);
  expect(answer).toMatchObject({ status, body: { description: expect.any(String) } });
  expect(web.enqueued).toEqual([]);
});

test('an unknown project is 404, and so is a change that the host does not have', async () => {
  expect(await enqueue({ pipeline: 'gate', change: 'master/login' }, 'acme/none')).toMatchObject({
    status: 404,
  });
  expect(await enqueue({ pipeline: 'gate', change: 'master/gone' })).toMatchObject({
    status: 404,
    body: { description: expect.stringContaining('has no change "master/gone"') },
  });
});

test('the port gives no authority', async () => {
  const body = { pipeline: 'gate', change: 'master/login' };
  expect((await postByPort(web, 'tenant/main/project/acme/app/enqueue', { body })).status).toBe(401);
  expect(web.enqueued).toEqual([]);
});

import { request as httpRequest } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { postByPort, postBySocket } from './ask-web.ts';
import { type FakeWeb, fakeWeb } from './fake-web.ts';
import { uuidOf } from './sample-item.ts';

let web: FakeWeb;
beforeEach(async () => {
  web = await fakeWeb();
});
afterEach(() => web.close());

const REQUEST = { pipeline: 'gate', change: 'master/dark-mode' };
const pathOf = (project: string) => `tenant/main/project/${project}/dequeue`;

async function dequeue(
  body: unknown,
  { headers = {}, project = 'acme/app' }: { headers?: Record<string, string>; project?: string } = {},
) {
  const answer = await postBySocket(web, pathOf(project), { body, headers });
  return { status: answer.status, body: await answer.json() };
}

describe('the command line of this machine', () => {
  test.each([['master/dark-mode'], ['refs/heads/for/master/dark-mode']])(
    'dequeues a change named as %s',
    async change => {
      expect(await dequeue({ pipeline: 'gate', change })).toEqual({ status: 200, body: true });
      expect(web.dequeued).toEqual([uuidOf('dark-mode')]);
    },
  );

  test('may encode the slash of a project', async () => {
    expect((await dequeue(REQUEST, { project: 'acme%2Fapp' })).status).toBe(200);
    expect((await dequeue({ pipeline: 'gate', ref: 'refs/heads/for/master/dark-mode' })).status).toBe(200);
  });

  test.each([
    ['no JSON', '{', 400],
    ['a list', [], 400],
    ['no change', { pipeline: 'gate' }, 400],
    ['a change that is no text', { pipeline: 'gate', change: 7 }, 400],
    ['an unknown pipeline', { pipeline: 'gaet', change: 'master/dark-mode' }, 400],
    ['a change that is not there', { pipeline: 'check', change: 'master/dark-mode' }, 404],
    ['too much', { pipeline: 'gate', change: 'x'.repeat(70_000) }, 400],
  ])('gets an error that names %s', async (_what, body, status) => {
    const answer = await dequeue(body);
    expect(answer.status).toBe(status);
    expect(answer.body).toEqual({
      error: expect.any(String),
      description: expect.any(String),
      place: expect.any(String),
    });
    expect(web.dequeued).toEqual([]);
  });

  test.each([['application/x-www-form-urlencoded'], ['text/plain']])('sends no %s', async type => {
    expect((await dequeue(REQUEST, { headers: { 'content-type': type } })).status).toBe(415);
    expect(web.dequeued).toEqual([]);
  });
});

/** Not `fetch`, which does not let callers choose the Host header. */
function postFromLoopback(headers: Record<string, string>): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const all = { 'content-type': 'application/json', ...headers };
  const request = httpRequest(`${web.url}/api/${pathOf('acme/app')}`, { method: 'POST', headers: all });
  request.on('response', response => {
    response.resume();
    resolve(response.statusCode ?? 0);
  });
  request.on('error', reject);
  request.end(JSON.stringify(REQUEST));
  return promise;
}

describe('the port gives authority to no address', () => {
  test.each([
    ['a program of this machine', {}],
    ['our command line, as it calls itself', { 'user-agent': 'gatehouse-cli/0.4.0' }],
    ['a stranger behind a proxy that adds nothing', { host: '127.0.0.1:9000', connection: 'close' }],
    ['a stranger behind a proxy that says so', { 'x-forwarded-for': '192.0.2.1' }],
    ['a stranger who claims to be this machine', { 'x-forwarded-for': '127.0.0.1', 'x-real-ip': '::1' }],
    ['a page of another name for this machine', { host: 'evil.example.org' }],
    ['a page of another origin', { origin: 'http://evil.example.org' }],
  ])('not to %s', async (_who, headers) => {
    expect(await postFromLoopback(headers)).toBe(401);
    expect(web.dequeued).toEqual([]);
  });

  test('and says what would do', async () => {
    const answer = await postByPort(web, pathOf('acme/app'), { body: REQUEST });
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    expect(await answer.json()).toMatchObject({
      error:
        'a token is needed to dequeue: this service accepts none, because it has no [auth NAME] section; or use the gatehouse command on the machine of the service',
      place: 'header authorization',
    });
  });

  test('nor does fetching dequeue', async () => {
    expect((await fetch(`${web.url}/api/${pathOf('acme/app')}`)).status).toBe(405);
  });
});

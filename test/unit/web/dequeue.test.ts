import { request as httpRequest } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type FakeWeb, fakeWeb } from './fake-web.ts';
import { uuidOf } from './sample-item.ts';

let web: FakeWeb;
beforeEach(async () => {
  web = await fakeWeb();
});
afterEach(() => web.close());

const JSON_TYPE = { 'content-type': 'application/json' };

async function dequeue(
  body: unknown,
  options: { readonly headers?: Record<string, string>; readonly project?: string } = {},
) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: unknown }>();
  const url = `${web.url}/api/tenant/main/project/${options.project ?? 'acme/app'}/dequeue`;
  // Not `fetch`: it does not let a caller choose the Host header.
  const request = httpRequest(
    url,
    { method: 'POST', headers: { ...JSON_TYPE, ...options.headers } },
    async response => {
      let answer = '';
      for await (const chunk of response.setEncoding('utf8')) answer += String(chunk);
      resolve({ status: response.statusCode ?? 0, body: JSON.parse(answer) });
    },
  );
  request.on('error', reject);
  request.end(text);
  return promise;
}

describe('an operator on this machine', () => {
  test.each([['master/dark-mode'], ['refs/heads/for/master/dark-mode']])(
    'dequeues a change named as %s',
    async change => {
      expect(await dequeue({ pipeline: 'gate', change })).toEqual({ status: 200, body: true });
      expect(web.dequeued).toEqual([uuidOf('dark-mode')]);
    },
  );

  test('may encode the slash of a project', async () => {
    expect(
      (await dequeue({ pipeline: 'gate', change: 'master/dark-mode' }, { project: 'acme%2Fapp' })).status,
    ).toBe(200);
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
  ])('is told what is wrong with %s', async (_what, body, status) => {
    const answer = await dequeue(body);
    expect(answer.status).toBe(status);
    expect(answer.body).toEqual({ error: expect.any(String), place: expect.any(String) });
    expect(web.dequeued).toEqual([]);
  });
});

describe('nobody else dequeues', () => {
  test.each([
    ['a page of another name for this machine', { host: 'evil.example.org' }, 403],
    ['a page of another origin', { origin: 'http://evil.example.org' }, 403],
    ['somebody behind a proxy here', { 'x-forwarded-for': '192.0.2.1' }, 403],
    ['somebody behind a proxy that says so in the standard way', { forwarded: 'for=192.0.2.1' }, 403],
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }, 415],
    ['a form sent as text', { 'content-type': 'text/plain' }, 415],
  ])('not %s', async (_who, headers, status) => {
    expect((await dequeue({ pipeline: 'gate', change: 'master/dark-mode' }, { headers })).status).toBe(
      status,
    );
    expect(web.dequeued).toEqual([]);
  });

  test('not by fetching', async () => {
    const response = await fetch(`${web.url}/api/tenant/main/project/acme/app/dequeue`);
    expect(response.status).toBe(405);
  });
});

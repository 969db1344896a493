/** What builds left, as browsers and Zuul's clients get it. */
import { request } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { OPEN_ACCESS } from '../../../src/model/authorization.ts';
import { type FakeWeb, fakeWeb } from './fake-web.ts';
import { uuidOf } from './sample-item.ts';

let web: FakeWeb;
const uuid = uuidOf('retry-budget', 'build', '1', 'integration', '2');
beforeEach(async () => {
  web = await fakeWeb();
  web.logs.set(uuid, { text: 'line one\n', complete: true });
  web.files.set(uuid, {
    'report/index.html': '<script>parent.x()</script><b>fine</b>',
    'report/run 1&2.txt': 'plain',
    'unknown.bin': 'bytes',
  });
});
afterEach(() => web.close());

const get = async (path: string) => {
  const response = await fetch(`${web.url}/api/tenant/main/build/${uuid}/logs/${path}`);
  return { status: response.status, text: await response.text(), headers: response.headers };
};

describe('below the log_url of a build', () => {
  test('which the API names', async () => {
    const build = await (await fetch(`${web.url}/api/tenant/main/build/${uuid}`)).json();
    expect(build).toMatchObject({ log_url: `${web.url}/api/tenant/main/build/${uuid}/logs/` });
  });

  test.each([
    ['report/index.html', 'text/html; charset=utf-8', '<script>parent.x()</script><b>fine</b>'],
    ['report/run%201%262.txt', 'text/plain; charset=utf-8', 'plain'],
    ['unknown.bin', 'application/octet-stream', 'bytes'],
    ['job-output.txt', 'text/plain; charset=utf-8', 'line one\n'],
  ])('%s is served by its name, in a sandbox of its own', async (path, type, text) => {
    const found = await get(path);
    expect({ status: found.status, text: found.text }).toEqual({ status: 200, text });
    expect(found.headers.get('content-type')).toBe(type);
    expect(found.headers.get('x-content-type-options')).toBe('nosniff');
    expect(found.headers.get('content-security-policy')).toMatch(/^sandbox; default-src 'none'/);
    expect(found.headers.get('content-security-policy')).not.toMatch(/script|allow-/);
  });

  test('clients that take no compression get what the job wrote', async () => {
    const { promise, resolve } = Promise.withResolvers<[string | undefined, string]>();
    request(`${web.url}/api/tenant/main/build/${uuid}/logs/unknown.bin`, response => {
      let text = '';
      response.on('data', chunk => {
        text += String(chunk);
      });
      response.on('end', () => resolve([response.headers['content-encoding'], text]));
    }).end();
    expect(await promise).toEqual([undefined, 'bytes']);
  });

  test('a build without playbooks for Ansible has none in job-output.json', async () => {
    expect(await get('job-output.json')).toMatchObject({ status: 200, text: '[]' });
  });

  test("the manifest is Zuul's, and the page links to every file", async () => {
    expect(JSON.parse((await get('zuul-manifest.json')).text)).toEqual({
      index_links: false,
      tree: [
        { name: 'job-output.txt', mimetype: 'text/plain', encoding: null },
        {
          name: 'report',
          mimetype: 'application/directory',
          encoding: null,
          children: [
            {
              name: 'index.html',
              mimetype: 'text/html',
              encoding: null,
              last_modified: 1_795_200_000,
              size: 38,
            },
            {
              name: 'run 1&2.txt',
              mimetype: 'text/plain',
              encoding: null,
              last_modified: 1_795_200_000,
              size: 5,
            },
          ],
        },
        {
          ...{ name: 'unknown.bin', mimetype: 'application/octet-stream', encoding: null },
          ...{ last_modified: 1_795_200_000, size: 5 },
        },
      ],
    });
    const page = await get('');
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.text).toContain('<a href="report/run%201%262.txt">report/run 1&amp;2.txt</a> 5 bytes');
  });

  test('a manifest of the job is served in place of ours, and nothing else is there', async () => {
    web.files.set(uuid, { 'zuul-manifest.json': '{"tree": []}' });
    expect((await get('zuul-manifest.json')).text).toBe('{"tree": []}');
    for (const path of ['report/index.html', '..%2f..%2fetc/passwd', '%2e%2e/secret'])
      expect((await get(path)).status).toBe(404);
    const other = await fetch(`${web.url}/api/tenant/main/build/${uuidOf('foreign')}/logs/`);
    expect(other.status).toBe(404);
  });

  test('of a private tenant there is nothing without a token', async () => {
    web.access = {
      main: { ...OPEN_ACCESS, accessRules: [{ name: 'readers', conditions: [{ groups: 'acme' }] }] },
    };
    for (const path of ['', 'job-output.txt', 'unknown.bin']) expect((await get(path)).status).toBe(401);
  });
});

/** The status of the page's addresses. */
import { expect, test } from 'vitest';
import { fakeWeb } from './fake-web.ts';
import { uuidOf } from './sample-item.ts';

const NOT_THERE = '0'.repeat(32);

test('an address of the page is answered 404 when there is nothing to show', async () => {
  const web = await fakeWeb();
  try {
    const statusOf = async (path: string) => {
      const { status, headers } = await fetch(web.url + path);
      return `${status} ${path} ${headers.get('content-type')?.split(';')[0]}`;
    };
    const found = [
      '/',
      '/t/main',
      '/t/main/status',
      '/t/main/config-errors',
      '/t/main/delays',
      '/t/main/night',
      '/t/main/nodes',
      '/t/main/autoholds',
      '/t/main/components/',
      '/t/main/pipeline/gate',
      '/t/main/job/lint',
      '/t/main/project/acme/app',
      '/t/main/project/git.example.org/acme/lib',
      `/t/main/item/${uuidOf('dark-mode')}`,
      `/t/main/item/${uuidOf('metrics')}`,
      `/t/main/buildset/${uuidOf('metrics', 'buildset', '1')}`,
      `/t/main/build/${uuidOf('retry-budget', 'build', '1', 'integration', '2')}`,
    ];
    const absent = [
      '/t/nope',
      '/t/main/nonsense',
      '/t/main/build/123',
      '/t/main/pipeline/nope',
      '/t/main/job/nope',
      '/t/main/project/acme/nope',
      `/t/main/item/${NOT_THERE}`,
      `/t/main/buildset/${NOT_THERE}`,
      `/t/main/build/${NOT_THERE}`,
    ];
    for (const path of found) expect(await statusOf(path)).toBe(`200 ${path} text/html`);
    for (const path of absent) expect(await statusOf(path)).toBe(`404 ${path} text/html`);
    expect((await fetch(`${web.url}/t/%zz`)).status).toBe(400);

    web.started = false;
    expect(await statusOf('/t/nope')).toBe('200 /t/nope text/html');
    web.started = true;
    web.access = {
      main: { accessRules: [{ name: 'staff', conditions: [{ groups: 'staff' }] }], adminRules: [] },
    };
    for (const path of ['/t/nope', `/t/main/item/${NOT_THERE}`])
      expect(await statusOf(path)).toBe(`200 ${path} text/html`);
  } finally {
    await web.close();
  }
});

test('a history that does not answer makes no page disappear', async () => {
  const web = await fakeWeb();
  await web.history.close();
  try {
    expect((await fetch(`${web.url}/t/main/build/${NOT_THERE}`)).status).toBe(200);
    expect(web.warnings).toEqual(['whether a page exists could not be found out']);
  } finally {
    await web.close().catch(() => {});
  }
});

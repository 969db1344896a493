/** What of our sources a browser can ask for. */
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { pageFiles, versionOf } from '../../../src/web/page-files.ts';
import { fakeWeb } from './fake-web.ts';

const files = await pageFiles();

test('the page is served with all its modules import, and nothing else below src', () => {
  const modules = [...files.keys()].filter(name => name.endsWith('.ts'));
  expect(modules).toContain('web/page/main.ts');
  expect(modules).toContain('web/page/live-worker.ts');
  expect(modules.filter(name => !name.startsWith('web/page/')).toSorted()).toEqual([
    'lib/log-line.ts',
    'lib/terminal-sequences.ts',
    'model/item-states.ts',
    'model/page-place.ts',
  ]);
  expect(
    [...files.keys()].filter(name => !name.endsWith('.ts')).every(name => /\.(css|svg)$/.test(name)),
  ).toBe(true);
});

test('all of it, compressed, weighs less than 150 kB', () => {
  let bytes = 0;
  for (const [name, { text, gzip }] of files) {
    bytes += gzip.length;
    expect(gunzipSync(gzip).toString(), name).toBe(text);
  }
  expect(bytes).toBeGreaterThan(30_000);
  expect(bytes).toBeLessThan(150_000);
});

test('modules are JavaScript: types are gone, and imports of types alone', () => {
  for (const [name, { type, text }] of files) {
    if (!name.endsWith('.ts')) continue;
    expect(type).toBe('js');
    expect(text, name).not.toMatch(/^\s*(?:export )?(?:interface|type) \w|import type/m);
  }
});

test('a browser that takes gzip gets it, and another one the text', async () => {
  const web = await fakeWeb();
  try {
    for (const encoding of ['gzip', 'identity']) {
      const answer = await fetch(`${web.url}/page/theme.css`, { headers: { 'accept-encoding': encoding } });
      const isPacked = encoding === 'gzip';
      expect(answer.headers.get('content-encoding')).toBe(isPacked ? 'gzip' : null);
      expect(answer.headers.get('vary')).toContain('Accept-Encoding');
      expect(answer.headers.get('content-type')).toMatch(/^text\/css/);
      expect(await answer.text()).toBe(files.get('theme.css')?.text);
    }
  } finally {
    await web.close();
  }
});

test('the document names its files below a digest of them, where browsers keep them; those of another release are asked for again', async () => {
  const web = await fakeWeb();
  try {
    const html = await (await fetch(`${web.url}/`)).text();
    const folder = /href="(\/page\/[0-9a-f]{16})\/theme\.css"/.exec(html)?.[1] ?? 'none';
    const named = [...html.matchAll(/(?:href|src)="(\/page\/[^"]+)"/g)].map(([, place = '']) => place);
    expect(named.filter(place => !place.startsWith(`${folder}/`))).toEqual([]);
    for (const place of named) {
      const answer = await fetch(web.url + place);
      expect(answer.status, place).toBe(200);
      expect(answer.headers.get('cache-control')).toContain('immutable');
    }
    expect(named.length).toBeGreaterThan(10);
    for (const place of ['/page/theme.css', '/page/0123456789abcdef/theme.css']) {
      const answer = await fetch(web.url + place);
      expect(answer.headers.get('cache-control')).toBe('no-cache');
      expect(await answer.text()).toBe(files.get('theme.css')?.text);
    }
  } finally {
    await web.close();
  }
});

test('other files have another digest', () => {
  const changed = new Map(files);
  const css = files.get('theme.css');
  if (css === undefined) throw new Error('there is no theme.css');
  changed.set('theme.css', { ...css, text: `${css.text}\n` });
  expect(versionOf(changed)).not.toBe(versionOf(files));
  expect(versionOf(new Map([...files].toReversed()))).toBe(versionOf(files));
});

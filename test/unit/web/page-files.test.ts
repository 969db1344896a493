/** What of our sources a browser can ask for. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { pageFiles, versionOf } from '../../../src/web/page-files.ts';
import { fakeWeb } from './fake-web.ts';

const PAGE = path.resolve(import.meta.dirname, '../../../src/web/page');
const files = await pageFiles();

test('the page is few files, and nothing else below src is served', () => {
  expect([...files.keys()].toSorted()).toEqual([
    'icon-failing.svg',
    'icon-quiet.svg',
    'icon.svg',
    'live-worker.js',
    'main.js',
    'page.css',
  ]);
});

test('its stylesheet is all of those in its folder', () => {
  const sheet = files.get('page.css')?.text ?? '';
  const names = readdirSync(PAGE).filter(name => name.endsWith('.css'));
  expect(names.length).toBeGreaterThan(10);
  expect(names.filter(name => !sheet.includes(readFileSync(path.join(PAGE, name), 'utf8')))).toEqual([]);
});

test('all of it, compressed, weighs less than 100 kB', () => {
  let bytes = 0;
  for (const [name, { text, gzip }] of files) {
    bytes += gzip.length;
    expect(gunzipSync(gzip).toString(), name).toBe(text);
  }
  expect(bytes).toBeGreaterThan(30_000);
  expect(bytes).toBeLessThan(100_000);
});

test('modules are JavaScript that imports nothing, with the names of the sources', () => {
  for (const [name, { type, text }] of files) {
    if (!name.endsWith('.js')) continue;
    expect(type).toBe('.js');
    expect(text, name).not.toMatch(/^\s*(?:export )?(?:interface|type) \w|^\s*import\b|\bimport\(/m);
    expect(text, name).toMatch(/^\/\/ tenant-stream\.ts$/m);
  }
  expect(files.get('main.js')?.text).toContain('function headerContent(');
});

test('a browser that takes gzip gets it, and another one the text', async () => {
  const web = await fakeWeb();
  try {
    for (const encoding of ['gzip', 'identity']) {
      const answer = await fetch(`${web.url}/page/page.css`, { headers: { 'accept-encoding': encoding } });
      const isPacked = encoding === 'gzip';
      expect(answer.headers.get('content-encoding')).toBe(isPacked ? 'gzip' : null);
      expect(answer.headers.get('vary')).toContain('Accept-Encoding');
      expect(answer.headers.get('content-type')).toMatch(/^text\/css/);
      expect(await answer.text()).toBe(files.get('page.css')?.text);
    }
  } finally {
    await web.close();
  }
});

test('the document names its files below a digest of them, where browsers keep them; those of another release are asked for again', async () => {
  const web = await fakeWeb();
  try {
    const html = await (await fetch(`${web.url}/`)).text();
    const folder = /href="(\/page\/[0-9a-f]{16})\/page\.css"/.exec(html)?.[1] ?? 'none';
    const named = [...html.matchAll(/(?:href|src)="(\/page\/[^"]+)"/g)].map(([, place = '']) => place);
    expect(named.filter(place => !place.startsWith(`${folder}/`))).toEqual([]);
    for (const place of named) {
      const answer = await fetch(web.url + place);
      expect(answer.status, place).toBe(200);
      expect(answer.headers.get('cache-control')).toContain('immutable');
    }
    expect(named.length).toBe(3);
    for (const place of ['/page/page.css', '/page/0123456789abcdef/page.css']) {
      const answer = await fetch(web.url + place);
      expect(answer.headers.get('cache-control')).toBe('no-cache');
      expect(await answer.text()).toBe(files.get('page.css')?.text);
    }
  } finally {
    await web.close();
  }
});

test('other files have another digest', () => {
  const changed = new Map(files);
  const css = files.get('page.css');
  if (css === undefined) throw new Error('there is no page.css');
  changed.set('page.css', { ...css, text: `${css.text}\n` });
  expect(versionOf(changed)).not.toBe(versionOf(files));
  expect(versionOf(new Map([...files].toReversed()))).toBe(versionOf(files));
});

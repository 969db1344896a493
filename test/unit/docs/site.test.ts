/** The documentation as a site: every link leads to something in it, every page is found from every other, and the search finds. */
import { describe, expect, test } from 'vitest';
import { siteFiles } from '../../../scripts/docs/site-files.ts';
import { filesBelow, ROOT } from './repository-text.ts';

const files = siteFiles(ROOT);
const pages = [...files].flatMap(([name, content]) =>
  name.endsWith('.html') ? [{ name, html: String(content) }] : [],
);
const html = new Map(pages.map(page => [page.name, page.html]));

/** Addresses in a page, as files of the site. */
function linksOf({ name, html: text }: (typeof pages)[number]) {
  return [...text.matchAll(/\b(?:href|src)="([^"]*)"/g)]
    .map(([, href = '']) => href.replaceAll('&amp;', '&'))
    .filter(href => !/^[a-z]+:/.test(href))
    .map(href => ({ from: name, url: new URL(href, `http://site/${name}`) }));
}

describe('the site', () => {
  test('has a page for every document', () => {
    const documents =
      filesBelow('doc', '.md').length + ['README', 'CHANGELOG', 'CONTRIBUTING', 'decisions'].length;
    expect(pages).toHaveLength(documents);
    for (const { html: text } of pages) expect(text).toMatch(/<title>[^<]*Gatehouse<\/title>/);
  });

  test('links only to what is in it', () => {
    const links = pages.flatMap(linksOf);
    expect(links.length).toBeGreaterThan(5000);
    const ids = new Map(pages.map(({ name, html: text }) => [name, idsOf(text)]));
    const broken = links.filter(({ url }) => {
      const file = decodeURIComponent(url.pathname.slice(1));
      const anchor = decodeURIComponent(url.hash.slice(1));
      return !files.has(file) || (anchor !== '' && ids.get(file)?.has(anchor) === false);
    });
    expect(broken.map(({ from, url }) => `${from} → ${url.pathname}${url.hash}`)).toEqual([]);
  });

  test('is made of tags that its Markdown meant', () => {
    const tags = new Set(
      pages.flatMap(({ html: text }) => [...text.matchAll(/<([a-z]\w*)/g)].map(([, tag]) => tag)),
    );
    expect([...tags].filter(tag => !KNOWN_TAGS.has(tag ?? ''))).toEqual([]);
  });

  test('leads to every page but single decisions from the menu of each', () => {
    const menu = /<nav id="menu".*?<\/nav>/s.exec(html.get('guide/jobs.html') ?? '')?.[0] ?? '';
    const listed = [...menu.matchAll(/href="\.\.\/([^"]+)"|href="(\w[^"]+)"/g)].map(
      ([, up, beside]) => up ?? `guide/${beside}`,
    );
    const wanted = pages
      .map(({ name }) => name)
      .filter(name => !/^decisions\/\d|^index|^documentation/.test(name));
    expect(listed.toSorted()).toEqual(wanted.toSorted());
    expect(menu).toContain('aria-current="page"');
  });

  test('has no address outside of it that a reader must reach', () => {
    const outside = pages.flatMap(({ name, html: text }) =>
      [...text.matchAll(/<(?:script|link|img)[^>]*(?:src|href)="(https?:[^"]*)"/g)].map(
        ([, url]) => `${name} → ${url}`,
      ),
    );
    expect(outside).toEqual([]);
  });
});

const KNOWN_TAGS = new Set([
  ...[
    'html',
    'head',
    'meta',
    'title',
    'link',
    'script',
    'body',
    'header',
    'nav',
    'main',
    'form',
    'input',
    'button',
    'div',
    'span',
  ],
  ...[
    'h1',
    'h2',
    'h3',
    'h4',
    'p',
    'a',
    'ul',
    'ol',
    'li',
    'pre',
    'code',
    'em',
    'strong',
    'img',
    'small',
    'br',
    'blockquote',
  ],
  ...['table', 'thead', 'tbody', 'tr', 'th', 'td', 'hr', 'del'],
]);

function idsOf(text: string): ReadonlySet<string> {
  return new Set([...text.matchAll(/\bid="([^"]*)"/g)].map(([, id = '']) => id));
}

test('the search has the text of every section, with the place where it is', () => {
  const script = String(files.get('search-texts.js'));
  const texts: readonly { readonly at: string; readonly text: string }[] = JSON.parse(
    script.slice(script.indexOf('['), script.lastIndexOf(']') + 1),
  );
  expect(texts.length).toBeGreaterThan(500);
  const ids = new Map(pages.map(({ name, html: text }) => [name, idsOf(text)]));
  const lost = texts.filter(({ at }) => {
    const [page = '', anchor = ''] = at.split('#');
    return ids.get(page)?.has(anchor) !== true;
  });
  expect(lost).toEqual([]);
  expect(texts.find(({ at }) => at === 'guide/how-to.html#run-something-every-night')?.text).toContain(
    'timer',
  );
});

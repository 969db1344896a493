import path from 'node:path';
import type { navigation } from './navigation.ts';
import { escaped, type renderMarkdown } from './render-markdown.ts';
import type { Source } from './sources.ts';

type Groups = ReturnType<typeof navigation>;

/** @param groups the navigation of the whole site. */
export function pageHtml(
  source: Source,
  rendered: ReturnType<typeof renderMarkdown>,
  groups: Groups,
): string {
  const to = (page: string) => path.posix.relative(path.posix.dirname(source.page), page);
  const home = source.page === 'index.html';
  const title = home ? 'Gatehouse' : `${source.title.replaceAll('`', '')} · Gatehouse`;
  return `<!doctype html>
<html lang="en" data-root="${to('.') || '.'}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<link rel="icon" href="${to('favicon.svg')}">
<link rel="stylesheet" href="${to('site.css')}">
<script src="${to('site.js')}"></script>
</head>
<body>
<a class="skip" href="#content">To the text</a>
<header>
<button class="menu" type="button" aria-expanded="false" aria-controls="menu" aria-label="Menu">☰</button>
<a class="home" href="${to('index.html')}">Gatehouse</a>
<form class="search" role="search" hidden><input type="search" placeholder="Search  /" aria-label="Search the documentation" autocomplete="off" spellcheck="false"><div class="found" hidden></div></form>
<button class="theme" type="button" hidden></button>
</header>
<nav id="menu" aria-label="Documentation">
${groups.map(group => groupHtml(group, source, to)).join('\n')}
</nav>
<main id="content">
${rendered.html}${neighbours(source, groups, to)}</main>
${outline(rendered.headings)}
</body>
</html>
`;
}

function groupHtml({ title, pages }: Groups[number], shown: Source, to: (page: string) => string): string {
  const lines = pages.map(({ source, label }) => {
    const here = source.page === shown.page ? ' aria-current="page"' : '';
    return `<li><a href="${to(source.page)}"${here}>${escaped(label)}</a></li>`;
  });
  return `<h2>${escaped(capitalized(title))}</h2>\n<ul>${lines.join('')}</ul>`;
}

/** The page before and the one after, in the order of the navigation. */
function neighbours(source: Source, groups: Groups, to: (page: string) => string): string {
  const all = groups.flatMap(({ pages }) => pages);
  const at = all.findIndex(each => each.source.page === source.page);
  if (at < 0) return '';
  const link = (step: number, words: string) => {
    const other = all[at + step];
    if (other === undefined) return '<span></span>';
    return `<a rel="${words}" href="${to(other.source.page)}"><small>${words}</small> ${escaped(other.label)}</a>`;
  };
  return `<nav class="neighbours" aria-label="Neighbours">${link(-1, 'prev')}${link(1, 'next')}</nav>\n`;
}

function outline(headings: ReturnType<typeof renderMarkdown>['headings']): string {
  const shown = headings.filter(({ depth }) => depth === 2);
  if (shown.length < 3) return '';
  const lines = shown.map(
    ({ anchor, html }) => `<li><a href="#${anchor}">${html.replaceAll(/<\/?a\b[^>]*>/g, '')}</a></li>`,
  );
  return `<nav class="outline" aria-label="On this page"><h2>On this page</h2><ul>${lines.join('')}</ul></nav>`;
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

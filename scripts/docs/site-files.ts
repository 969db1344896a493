import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { navigation } from './navigation.ts';
import { pageHtml } from './page-template.ts';
import { renderMarkdown } from './render-markdown.ts';
import { isDecision, readSources, type Source } from './sources.ts';

/** Files of the repository that are served as they are, with their places there. */
const ASSETS = new Map([
  ['site.css', 'scripts/docs/site.css'],
  ['site.js', 'scripts/docs/site.js'],
  ['favicon.svg', 'src/web/page/icon.svg'],
  ['minisearch.js', 'node_modules/minisearch/dist/umd/index.js'],
]);

/** What the search looks through; `site.js` reads it. */
interface Searched {
  readonly id: number;
  /** Address from the root of the site. */
  readonly at: string;
  readonly page: string;
  readonly title: string;
  readonly text: string;
  /** Decisions come after what people use. */
  readonly minor: boolean;
}

/** Every file of the site by its path. @param root of the repository. @throws Error where a text links to nothing. */
export function siteFiles(root: string): ReadonlyMap<string, string | Buffer> {
  const sources = readSources(root);
  const groups = navigation(sources);
  const files = new Map<string, string | Buffer>();
  for (const [name, file] of ASSETS) files.set(name, readFileSync(path.join(root, file)));
  const searched: Searched[] = [];
  for (const source of sources.values()) {
    const rendered = renderMarkdown(source.markdown, href => {
      const { target, file } = resolved(root, sources, source, href);
      if (file !== undefined) files.set(`files/${file}`, readFileSync(path.join(root, file)));
      return target;
    });
    files.set(source.page, pageHtml(source, rendered, groups));
    for (const { anchor, title, text } of rendered.sections)
      searched.push({
        id: searched.length,
        at: `${source.page}#${anchor}`,
        page: source.title.replaceAll('`', ''),
        title,
        text,
        minor: isDecision(source) || source.file === 'CHANGELOG.md',
      });
  }
  // A script, and no JSON: a page that was opened from the disk may load scripts, and fetch nothing.
  files.set('search-texts.js', `globalThis.SEARCH_TEXTS = ${JSON.stringify(searched)};\n`);
  return files;
}

interface Resolved {
  /** For the page. */
  readonly target: string;
  /** In the repository: no page, to be copied. */
  readonly file?: string;
}

function resolved(root: string, sources: ReadonlyMap<string, Source>, from: Source, href: string): Resolved {
  if (/^[a-z]+:/.test(href) || href.startsWith('#')) return { target: href };
  const [name = '', anchor] = href.split('#');
  const file = path.posix.join(from.file.endsWith('/') ? from.file : path.posix.dirname(from.file), name);
  const page = sources.get(file);
  const to = (place: string) => path.posix.relative(path.posix.dirname(from.page), place);
  if (page !== undefined) return { target: `${to(page.page)}${anchor === undefined ? '' : `#${anchor}`}` };
  if (!statSync(path.join(root, file)).isFile()) throw new Error(`${from.file} links to the folder ${file}`);
  return { target: to(`files/${file}`), file };
}

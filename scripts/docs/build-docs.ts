/**
 * The documentation as a site: `npm run docs [FOLDER]` (default `dist-docs`). Plain files with relative links, which a browser opens from the disk
 * as well as from any server, search included.
 *
 *     site-files.ts         every file of the site, in memory: pages, pictures, what the pages link to, the search
 *     sources.ts            the Markdown files, and where each is in the site
 *     navigation.ts         the pages in their order, as doc/README.md groups them
 *     render-markdown.ts    one file as HTML, with its headings and the texts that the search looks through
 *     page-template.ts      the page around it
 *     site.css, site.js     style; theme, menu and search
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { siteFiles } from './site-files.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');

/** @param folder is replaced as a whole. */
function writeSite(folder: string): void {
  const files = siteFiles(ROOT);
  rmSync(folder, { recursive: true, force: true });
  for (const [name, content] of files) {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
  const pages = [...files.keys()].filter(name => name.endsWith('.html')).length;
  console.log(`${pages} pages: open ${path.join(folder, 'index.html')}`);
}

writeSite(path.resolve(process.argv[2] ?? path.join(ROOT, 'dist-docs')));

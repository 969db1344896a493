/**
 * The page: one HTML file, a stylesheet and ES modules from `page/`, served as they are. `/` and everything below `/t/` is
 * the same document; its script reads the address.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Router, static as serveFiles } from 'express';
import type { WebDeps } from './deps.ts';

const PAGE = fileURLToPath(new URL('./page/', import.meta.url));

export function addPageRoutes(router: Router, deps: Pick<WebDeps, 'root'>): void {
  const template = readFileSync(`${PAGE}index.html`, 'utf8');
  router.use(
    '/page',
    serveFiles(PAGE, {
      index: false,
      cacheControl: false,
      setHeaders: response => response.setHeader('Cache-Control', 'no-cache'),
    }),
  );
  router.get(['/', '/t/{*rest}'], (_request, response) => {
    response.setHeader('Cache-Control', 'no-cache');
    response.type('html').send(template.replaceAll('{base}', basePath(deps.root())));
  });
}

/** Path below which the service is published, e.g. `` or `/ci`; only characters that mean nothing in HTML. */
function basePath(root: string): string {
  return new URL(root).pathname.replace(/\/$/, '').replaceAll(/[^\w./~-]/g, '');
}

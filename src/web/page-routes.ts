/**
 * The page: one HTML file, its stylesheets and its modules (`page-files.ts`). `/`, `/auth_callback` and everything below `/t/` is the same
 * document, with status 404 where there is nothing to show (`page-exists.ts`); its script reads the address.
 */

import { readFileSync } from 'node:fs';
import type { Router } from 'express';
import { ownFile } from '../lib/own-file.ts';
import { placeOf } from '../model/page-place.ts';
import type { WebDeps } from './deps.ts';
import { pagePolicy } from './headers.ts';
import { pageExists } from './page-exists.ts';
import { type PageFile, pageFiles } from './page-files.ts';

type PageDeps = Pick<WebDeps, 'root'> & Parameters<typeof pageExists>[0];

const TEMPLATE = ownFile('src/web/page/index.html');

/** Of the process: they are part of the program. Most processes never show the page, whose types take 50 ms of processor time to strip. */
const files = onceAsked(pageFiles);

/** Only on the port: the socket's command line needs no page. @throws an error of the file system when the page is not installed. */
export function addPageRoutes(router: Router, deps: PageDeps): void {
  const template = readFileSync(TEMPLATE, 'utf8');
  router.get('/page/{*path}', async (request, response, next) => {
    const file = (await files()).get(request.path.slice('/page/'.length));
    if (file === undefined) return next();
    response.setHeader('Cache-Control', 'no-cache');
    response.type(file.type).vary('Accept-Encoding');
    if (!request.acceptsEncodings('gzip')) return response.send(file.text);
    response.setHeader('Content-Encoding', 'gzip');
    response.send(file.gzip);
  });
  const issuers = deps.auth.realms.flatMap(({ settings }) =>
    settings.key.kind === 'OpenIDConnect' ? [settings.authority] : [],
  );
  const policy = pagePolicy(issuers);
  router.get(['/', '/t/{*rest}', '/auth_callback'], async (request, response) => {
    response.status((await pageExists(deps, placeOf(request.path))) ? 200 : 404);
    response.setHeader('Content-Security-Policy', policy);
    response.setHeader('Cache-Control', 'no-cache');
    response.type('html').send(template.replaceAll('{base}', basePath(deps.root())));
  });
}

/** A failure is not kept. */
function onceAsked(prepare: typeof pageFiles): () => Promise<ReadonlyMap<string, PageFile>> {
  let prepared: ReturnType<typeof pageFiles> | undefined;
  return () => {
    prepared ??= prepare().catch((error: unknown) => {
      prepared = undefined;
      throw error;
    });
    return prepared;
  };
}

/** Path below which the service is published, e.g. `` or `/ci`, reduced to characters that are safe in HTML. */
function basePath(root: string): string {
  return new URL(root).pathname.replace(/\/$/, '').replaceAll(/[^\w./~-]/g, '');
}

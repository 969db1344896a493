/**
 * The page: one HTML file, and what it loads (`page-files.ts`). `/`, `/auth_callback` and everything below `/t/` is the same
 * document, with status 404 where there is nothing to show (`page-exists.ts`); its script reads the address.
 */

import { readFileSync } from 'node:fs';
import type { Router } from 'express';
import { ownFile } from '../lib/own-file.ts';
import { placeOf } from '../model/page-place.ts';
import type { WebDeps } from './deps.ts';
import { pagePolicy } from './headers.ts';
import { pageExists } from './page-exists.ts';
import { type PageFile, pageFiles, versionOf } from './page-files.ts';

type PageDeps = Pick<WebDeps, 'root'> & Parameters<typeof pageExists>[0];

const TEMPLATE = ownFile('src/web/page/index.html');

/** Of the process: they are part of the program. Most processes never show the page, which takes 0.1 s of processor time to make. */
const page = onceAsked(preparePage);

/** Only on the port: the socket's command line needs no page. @throws an error of the file system when the page is not installed. */
export function addPageRoutes(router: Router, deps: PageDeps): void {
  const template = readFileSync(TEMPLATE, 'utf8');
  router.get('/page/{*path}', async (request, response, next) => {
    const { files, version } = await page();
    const asked = request.path.slice('/page/'.length);
    const file = files.get(asked.replace(VERSIONED, ''));
    if (file === undefined) return next();
    // A document of before an upgrade gets what is there now.
    const isFixed = asked.startsWith(`${version}/`);
    response.setHeader('Cache-Control', isFixed ? 'public, max-age=31536000, immutable' : 'no-cache');
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
    const { version } = await page();
    const base = basePath(deps.root());
    const text = template.replaceAll('{page}', `${base}/page/${version}`).replaceAll('{base}', base);
    response.type('html').send(text);
  });
}

const VERSIONED = /^[0-9a-f]{16}\//;

interface Page {
  readonly files: ReadonlyMap<string, PageFile>;
  readonly version: string;
}

async function preparePage(): Promise<Page> {
  const files = await pageFiles();
  return { files, version: versionOf(files) };
}

/** A failure is not kept. */
function onceAsked(prepare: typeof preparePage): () => Promise<Page> {
  let prepared: Promise<Page> | undefined;
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

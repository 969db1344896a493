/** `/openapi.yaml` and `/openapi.json`: the description of all routes, with the public address of the service. */
import type { Router } from 'express';
import { dump } from 'js-yaml';
import { openApi } from '../api/openapi.ts';
import { answering, jsonAnswer } from './answer.ts';
import type { WebDeps } from './deps.ts';

/** @param router at the root, not below `/api`. The address is read for each request: the port may be known late. */
export function addOpenApiRoutes(router: Router, { version, root }: Pick<WebDeps, 'version' | 'root'>): void {
  router.get('/openapi.yaml', (_request, response) => {
    response.setHeader('Cache-Control', 'no-cache');
    response.type('application/yaml').send(dump(openApi(version, root()), { noRefs: true }));
  });
  router.get(
    '/openapi.json',
    answering(async () => jsonAnswer(openApi(version, root()))),
  );
}

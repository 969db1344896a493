import type { Router } from 'express';
import type { WebDeps } from './deps.ts';

/** `/health/live`: the process answers. `/health/ready`: all components are ready, else 503 with the reasons. */
export function addHealthRoutes(router: Router, deps: Pick<WebDeps, 'health' | 'version'>): void {
  router.get('/health/live', (_request, response) => {
    response.setHeader('Cache-Control', 'no-store');
    response.json({ status: 'alive', version: deps.version });
  });
  router.get('/health/ready', (_request, response) => {
    const components = deps.health();
    const ready = components.every(component => component.ready);
    response.setHeader('Cache-Control', 'no-store');
    response.status(ready ? 200 : 503).json({ status: ready ? 'ready' : 'not ready', components });
  });
}

import type { Router } from 'express';
import type { WebDeps } from './deps.ts';

/** `/metrics`: the metrics of this process, for Prometheus and readers of OpenMetrics. */
export function addMetricsRoute(router: Router, deps: Pick<WebDeps, 'metrics'>): void {
  router.get('/metrics', async (request, response) => {
    const { contentType, body } = await deps.metrics(request.headers.accept);
    response.setHeader('Cache-Control', 'no-store');
    response.setHeader('Content-Type', contentType);
    response.end(body);
  });
}

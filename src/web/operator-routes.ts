/** Routes by which operators act on items and pipelines; each exists where the service can carry it out. */
import type { RequestHandler, Router } from 'express';
import type { Authentication } from './auth/caller.ts';
import type { WebDeps } from './deps.ts';
import { dequeueRoute } from './dequeue-route.ts';
import { enqueueRoute } from './enqueue-route.ts';
import { haltRoute } from './halt-route.ts';
import { promoteRoute } from './promote-route.ts';
import { rerunRoute } from './rerun-route.ts';
import { zuulStateRoute } from './zuul-state-route.ts';

/** @param others answers every other method. */
export function addOperatorRoutes(
  api: Router,
  deps: WebDeps & { readonly auth: Authentication },
  others: RequestHandler,
): void {
  const { enqueue, dequeue, rerun, halt, promote } = deps;
  if (enqueue !== undefined)
    api
      .route('/tenant/:tenant/project/*project/enqueue')
      .post(enqueueRoute({ ...deps, enqueue }))
      .all(others);
  if (dequeue !== undefined)
    api
      .route('/tenant/:tenant/project/*project/dequeue')
      .post(dequeueRoute({ ...deps, dequeue }))
      .all(others);
  if (enqueue !== undefined && rerun !== undefined)
    api
      .route('/tenant/:tenant/item/:uuid/rerun')
      .post(rerunRoute({ ...deps, enqueue, rerun }))
      .all(others);
  if (halt !== undefined)
    api
      .route('/tenant/:tenant/pipeline/:pipeline/state')
      .post(haltRoute({ ...deps, halt }))
      .all(others);
  if (halt !== undefined)
    api
      .route('/tenant/:tenant/state')
      .post(zuulStateRoute({ ...deps, halt }))
      .all(others);
  if (promote !== undefined)
    api
      .route('/tenant/:tenant/promote')
      .post(promoteRoute({ ...deps, promote }))
      .all(others);
}

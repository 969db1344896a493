/**
 * Routes by which operators act on items and pipelines; each exists where the service can carry it out. The same path with `/dry-run`
 * behind it says what the request would do: a path of its own, so that a service that does not know it refuses and does not act.
 */
import type { RequestHandler, Router } from 'express';
import type { Authentication } from './auth/caller.ts';
import type { WebDeps } from './deps.ts';
import { dequeueCostRoute, dequeueRoute } from './dequeue-route.ts';
import { enqueueCostRoute, enqueueRoute } from './enqueue-route.ts';
import { freezePipelineRoute } from './freeze-pipeline-route.ts';
import { haltCostRoute, haltRoute } from './halt-route.ts';
import { deleteHoldRoute, holdRoute } from './hold-routes.ts';
import { promoteCostRoute, promoteRoute } from './promote-route.ts';
import { rerunCostRoute, rerunRoute } from './rerun-route.ts';
import { zuulStateRoute } from './zuul-state-route.ts';

/** @param onlyBy answers every other method. */
export function addOperatorRoutes(
  api: Router,
  deps: WebDeps & { readonly auth: Authentication },
  onlyBy: (method: string) => RequestHandler,
): void {
  const { enqueue, dequeue, rerun, halt, promote, costOf } = deps;
  const others = onlyBy('POST');
  addHoldActs(api, deps, others);
  api.route('/tenant/:tenant/project/*project/freeze-pipeline').post(freezePipelineRoute(deps)).all(others);
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
  if (costOf !== undefined) addCostRoutes(api, { ...deps, costOf }, others);
}

function addHoldActs(
  api: Router,
  { hold, deleteHold, ...deps }: WebDeps & { readonly auth: Authentication },
  others: RequestHandler,
): void {
  if (hold !== undefined)
    api
      .route('/tenant/:tenant/project/*project/autohold')
      .post(holdRoute({ ...deps, hold }))
      .all(others);
  // The same path is read.
  if (deleteHold !== undefined)
    api.route('/tenant/:tenant/autohold/:id').delete(deleteHoldRoute({ ...deps, deleteHold }));
}

function addCostRoutes(
  api: Router,
  deps: Parameters<typeof rerunCostRoute>[0],
  others: RequestHandler,
): void {
  api.route('/tenant/:tenant/project/*project/enqueue/dry-run').post(enqueueCostRoute(deps)).all(others);
  api.route('/tenant/:tenant/project/*project/dequeue/dry-run').post(dequeueCostRoute(deps)).all(others);
  api.route('/tenant/:tenant/item/:uuid/rerun/dry-run').post(rerunCostRoute(deps)).all(others);
  api.route('/tenant/:tenant/pipeline/:pipeline/state/dry-run').post(haltCostRoute(deps)).all(others);
  api.route('/tenant/:tenant/promote/dry-run').post(promoteCostRoute(deps)).all(others);
}

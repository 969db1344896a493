/**
 * Zuul's routes about what Gatehouse does not have: nodes and requests of its own making, and builds that are held. Lists are empty, and nothing is
 * found, in Zuul's words, so that its clients say something sensible.
 */
import type { RequestHandler, Router } from 'express';
import { badRequest, jsonAnswer, notFound, send } from './answer.ts';
import type { WebDeps } from './deps.ts';
import { inTenant } from './tenant-access.ts';

/** @param api before the routes that only read. */
export function addAbsentRoutes(api: Router, others: (method: string) => RequestHandler): void {
  api.route('/tenant/:tenant/nodes/:id').put(absent('Node')).all(others('PUT'));
  api.route('/tenant/:tenant/nodeset-requests/:id').delete(absent('Nodeset request')).all(others('DELETE'));
  api.route('/tenant/:tenant/autohold/:id').all(absent('Hold request'));
  api.route('/tenant/:tenant/project/*project/autohold').all(noHolds);
}

/** @param router of a tenant. */
export function addAbsentLists(router: Router, deps: Pick<WebDeps, 'snapshot' | 'tenants' | 'auth'>): void {
  const nothing = inTenant(deps, async () => jsonAnswer([]));
  router.get('/autohold', nothing);
}

const noHolds: RequestHandler = (_, response) =>
  send(
    response,
    badRequest('no build is held here: what a job leaves in ZUUL_LOG_DIR is kept with its log', 'path'),
  );

function absent(what: string): RequestHandler {
  return (request, response) => {
    const { id } = request.params;
    const name = typeof id === 'string' ? ` ${id.slice(0, 64)}` : '';
    send(response, notFound(`${what}${name} not found.`, 'path'));
  };
}

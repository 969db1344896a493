/**
 * Zuul's routes about what Gatehouse does not have: nodes and requests of its own making. Nothing is found, in Zuul's words, so that its
 * clients say something sensible.
 */
import type { RequestHandler, Router } from 'express';
import { notFound, send } from './answer.ts';

/** @param api before the routes that only read. */
export function addAbsentRoutes(api: Router, others: (method: string) => RequestHandler): void {
  api.route('/tenant/:tenant/nodes/:id').put(absent('Node')).all(others('PUT'));
  api.route('/tenant/:tenant/nodeset-requests/:id').delete(absent('Nodeset request')).all(others('DELETE'));
}

function absent(what: string): RequestHandler {
  return (request, response) => {
    const { id } = request.params;
    const name = typeof id === 'string' ? ` ${id.slice(0, 64)}` : '';
    send(response, notFound(`${what}${name} not found.`, 'path'));
  };
}

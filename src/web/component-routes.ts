/**
 * `/api/components`: every process of the installation, by kind, as Zuul's clients know it, with a `gatehouse` block.
 * `POST /api/components/<id>/pause`, `…/resume`, `…/stop`: what an operator wants of one, by the command line of this machine or with a token
 * for every tenant there is: components work for all of them.
 *
 * A wish is written down (202) and obeyed in the component's own time; its `state` tells.
 */
import type { Request, RequestHandler, Router } from 'express';
import { componentsJson, WISHES } from '../api/components.ts';
import type { RegisteredComponent } from '../store/component-view.ts';
import { COMPONENT_KINDS } from '../store/paths.ts';
import { type Answer, answering, badRequest, jsonAnswer, notFound, send } from './answer.ts';
import type { Authentication } from './auth/caller.ts';
import { operatorOf } from './auth/operator.ts';
import type { WebDeps } from './deps.ts';

export function addComponentRoutes(router: Router, deps: Pick<WebDeps, 'components'>): void {
  router.get(
    '/components',
    answering(async () => jsonAnswer(componentsJson(COMPONENT_KINDS, deps.components()))),
  );
}

type WishDeps = Pick<WebDeps, 'components' | 'log' | 'tenants'> & {
  readonly auth: Authentication;
  readonly askComponent: Exclude<WebDeps['askComponent'], undefined>;
};

export function componentWishRoute(deps: WishDeps): RequestHandler {
  return async (request, response) => {
    const answer = await wish(deps, request);
    if (answer.kind === 'json') response.status(202);
    send(response, answer);
  };
}

async function wish(deps: WishDeps, request: Request): Promise<Answer> {
  const word = String(request.params.wish);
  const operator = await operatorOf(deps.auth, request, `${word.slice(0, 50)} a component`, deps.tenants());
  if (operator.kind === 'refused') return operator;
  if (typeof request.is('application/json') !== 'string')
    return { kind: 'refused', status: 415, error: 'send application/json', place: 'header content-type' };
  const id = String(request.params.id);
  const wanted = WISHES.get(word);
  if (wanted === undefined)
    return notFound(
      `a component can be asked to ${[...WISHES.keys()].join(', ')}, not to ${word.slice(0, 50)}`,
      'path',
    );
  if (id.startsWith('web-') && wanted !== 'stopping')
    return badRequest('a web takes no work it could leave alone; it can only be stopped', 'path: id');
  if ((await deps.askComponent(id, wanted)) === 'gone')
    return notFound(unknown(id, deps.components()), 'path: id');
  deps.log.info({ id, wanted, by: operator.name }, 'a component was asked to change its state');
  return jsonAnswer({ id, wanted });
}

function unknown(id: string, components: readonly RegisteredComponent[]): string {
  const known = components.map(component => component.id).join(', ') || 'none';
  return `there is no component ${JSON.stringify(id.slice(0, 64))}; there are: ${known}`;
}

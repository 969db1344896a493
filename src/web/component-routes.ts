/**
 * `/api/components`: every process of the installation, by kind, as Zuul's clients know it, with a `gatehouse` block.
 * `POST /api/components/<id>/pause`, `…/resume`, `…/stop`: an operator requests a state, over the command line's socket or with a token
 * for every tenant, because components work for all of them.
 *
 * The requested state is stored (202) and the component adopts it in its own time; `state` shows the current one.
 */
import type { Request, RequestHandler, Router } from 'express';
import { componentsJson, STATE_ACTIONS } from '../api/components.ts';
import type { RegisteredComponent } from '../store/component-view.ts';
import { COMPONENT_KINDS } from '../store/paths.ts';
import { type Answer, answering, badRequest, jsonAnswer, notFound, send } from './answer.ts';
import type { Authentication } from './auth/caller.ts';
import { operatorOf } from './auth/operator.ts';
import type { WebDeps } from './deps.ts';

/** Only the list, which needs no token. @param router below `/api`. */
export function addComponentRoutes(router: Router, deps: Pick<WebDeps, 'components'>): void {
  router.get(
    '/components',
    answering(async () => jsonAnswer(componentsJson(COMPONENT_KINDS, deps.components()))),
  );
}

type ActionDeps = Pick<WebDeps, 'components' | 'log' | 'tenants'> & {
  readonly auth: Authentication;
  readonly askComponent: Exclude<WebDeps['askComponent'], undefined>;
};

/** Handles the POST; the caller restricts the method. Without `askComponent` there is no such route. */
export function componentActionRoute(deps: ActionDeps): RequestHandler {
  return async (request, response) => {
    const answer = await requestState(deps, request);
    if (answer.kind === 'json') response.status(202);
    send(response, answer);
  };
}

async function requestState(deps: ActionDeps, request: Request): Promise<Answer> {
  const action = String(request.params.action);
  const operator = await operatorOf(deps.auth, request, `${action.slice(0, 50)} a component`, deps.tenants());
  if (operator.kind === 'refused') return operator;
  if (typeof request.is('application/json') !== 'string')
    return { kind: 'refused', status: 415, error: 'send application/json', place: 'header content-type' };
  const id = String(request.params.id);
  const wanted = STATE_ACTIONS.get(action);
  if (wanted === undefined)
    return notFound(
      `there is no action ${JSON.stringify(action.slice(0, 50))}; there are: ${[...STATE_ACTIONS.keys()].join(', ')}`,
      'path',
    );
  if (id.startsWith('web-') && wanted !== 'stopping')
    return badRequest('a web cannot be paused or resumed, only stopped', 'path: id');
  if ((await deps.askComponent(id, wanted)) === 'gone')
    return notFound(unknown(id, deps.components()), 'path: id');
  deps.log.info({ id, wanted, by: operator.name }, 'an operator requested a state of a component');
  return jsonAnswer({ id, wanted });
}

function unknown(id: string, components: readonly RegisteredComponent[]): string {
  const known = components.map(component => component.id).join(', ') || 'none';
  return `there is no component ${JSON.stringify(id.slice(0, 64))}; there are: ${known}`;
}

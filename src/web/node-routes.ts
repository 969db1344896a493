/**
 * Hosts of jobs, labels, and builds that wait for hosts, below a tenant. `POST /api/nodes/<name>/hold` and `…/release`: an operator takes a
 * host out of service and back, over the command line's socket or with a token for every tenant, because hosts work for all of them.
 */
import type { Request, RequestHandler, Router } from 'express';
import { HOST_ACTIONS, labelsDocument, nodesDocument, nodesetRequestsDocument } from '../api/nodes.ts';
import { isMapping } from '../driver/read-mapping.ts';
import { labelRule } from '../layout/model/label-rule.ts';
import { readBody } from '../lib/read-body.ts';
import type { Json } from '../model/job.ts';
import { type Answer, badRequest, jsonAnswer, notFound, send } from './answer.ts';
import type { Authentication } from './auth/caller.ts';
import { operatorOf } from './auth/operator.ts';
import type { WebDeps } from './deps.ts';
import { inTenant } from './tenant-access.ts';

/** @param router of a tenant. */
export function addNodeRoutes(router: Router, deps: WebDeps): void {
  router.get(
    '/nodes',
    inTenant(deps, async ({ name }) => {
      const [nodes, holds] = await Promise.all([deps.nodes(), deps.holds(name)]);
      return jsonAnswer(nodesDocument(nodes, name, holds));
    }),
  );
  router.get(
    '/labels',
    inTenant(deps, async ({ snapshot }) => {
      const offered = deps.components().flatMap(({ labels }) => labels);
      const rule = snapshot.labels === undefined ? undefined : labelRule(snapshot.labels);
      const mayUse = (label: string) => rule?.([label]) === undefined;
      return jsonAnswer(labelsDocument(await deps.nodes(), offered, mayUse));
    }),
  );
  router.get(
    '/nodeset-requests',
    inTenant(deps, async ({ name }) => jsonAnswer(nodesetRequestsDocument(await deps.nodes(), name))),
  );
}

type HoldDeps = Pick<WebDeps, 'log' | 'tenants'> & {
  readonly auth: Authentication;
  readonly holdNode: Exclude<WebDeps['holdNode'], undefined>;
};

const LONGEST_REASON = 500;

/** Handles the POST; the caller restricts the method. */
export function nodeActionRoute(deps: HoldDeps): RequestHandler {
  return async (request, response) => send(response, await act(deps, request));
}

async function act(deps: HoldDeps, request: Request): Promise<Answer> {
  const [node, action] = [String(request.params.node), String(request.params.deed)];
  const operator = await operatorOf(deps.auth, request, `${action.slice(0, 50)} a node`, deps.tenants());
  if (operator.kind === 'refused') return operator;
  if (typeof request.is('application/json') !== 'string')
    return { kind: 'refused', status: 415, error: 'send application/json', place: 'header content-type' };
  const wanted = HOST_ACTIONS.find(each => each === action);
  if (wanted === undefined)
    return notFound(
      `there is no action ${JSON.stringify(action.slice(0, 50))}; there are: ${HOST_ACTIONS.join(', ')}`,
      'path',
    );
  const reason = await reasonIn(request);
  if (wanted === 'hold' && reason === undefined)
    return badRequest(`expected {"reason": text}, at most ${LONGEST_REASON} characters`, 'body');
  const held = wanted === 'hold' ? (reason ?? '') : undefined;
  if ((await deps.holdNode(node, held)) === 'gone')
    return notFound(`there is no node ${JSON.stringify(node.slice(0, 64))}`, 'path: node');
  deps.log.info({ node, action: wanted, by: operator.name }, 'an operator held or released a node');
  return jsonAnswer(true);
}

/** Undefined: none that can be used. */
async function reasonIn(request: Request): Promise<string | undefined> {
  const body = await readBody(request, 64 * 1024);
  if (body.kind !== 'read') return undefined;
  try {
    const parsed: Json = JSON.parse(body.bytes.toString('utf8'));
    if (!isMapping(parsed) || typeof parsed.reason !== 'string') return undefined;
    const { reason } = parsed;
    return reason.trim() === '' || reason.length > LONGEST_REASON || !reason.isWellFormed()
      ? undefined
      : reason;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

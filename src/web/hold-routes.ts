/**
 * Zuul's `autohold`: `POST /api/tenant/<t>/project/<p>/autohold` asks that the hosts of a job are held when it fails, `GET …/autohold` and
 * `…/autohold/<id>` show the requests, `DELETE …/autohold/<id>` ends one.
 */
import type { Request, RequestHandler, Router } from 'express';
import { holdDocument } from '../api/holds.ts';
import { isMapping } from '../driver/read-mapping.ts';
import { compileRegex } from '../lib/regex.ts';
import type { HoldFilter } from '../model/hold-request.ts';
import type { Json } from '../model/job.ts';
import { type Answer, badRequest, type HttpRefusal, jsonAnswer, notFound, send } from './answer.ts';
import type { WantedHold, WebDeps } from './deps.ts';
import { contextOf, type OperatorDeps, readOperatorRequest } from './operator-request.ts';
import { projectNamed } from './project-named.ts';
import { inTenant } from './tenant-access.ts';

const LONGEST_REASON = 500;
const LONGEST_NAME = 1_000;
const MOST_COUNT = 1_000;
/** Seconds: ten years. */
const LONGEST_EXPIRATION = 315_360_000;

/** @param router of a tenant. */
export function addHoldRoutes(router: Router, deps: WebDeps): void {
  router.get(
    '/autohold',
    inTenant(deps, async ({ name }) =>
      jsonAnswer((await deps.holds(name)).map(({ id, hold }) => holdDocument(id, hold))),
    ),
  );
  router.get(
    '/autohold/:id',
    inTenant(deps, async ({ name }, { parameter }) => {
      const wanted = parameter('id');
      const found = (await deps.holds(name)).find(({ id }) => id === wanted);
      return found === undefined ? noHold(wanted) : jsonAnswer(holdDocument(found.id, found.hold));
    }),
  );
}

type Acting<K extends 'hold' | 'deleteHold'> = OperatorDeps & {
  readonly [key in K]: NonNullable<WebDeps[K]>;
};

/** Handles the POST; the caller restricts the method. */
export function holdRoute(deps: Acting<'hold'>): RequestHandler {
  return async (request, response) => send(response, await hold(deps, request));
}

/** Handles the DELETE, likewise. */
export function deleteHoldRoute(deps: Acting<'deleteHold'>): RequestHandler {
  return async (request, response) => send(response, await deleteHold(deps, request));
}

async function hold(deps: Acting<'hold'>, request: Request): Promise<Answer> {
  const asked = await readOperatorRequest(deps, request, 'hold hosts');
  if (asked.kind === 'refused') return asked;
  const { receivedAt, tenant, snapshot, operator, body } = asked;
  const project = projectNamed([request.params.project].flat().join('/'), { name: tenant, snapshot });
  if (project.kind === 'refused') return project;
  const wanted = wantedOf(body);
  if ('status' in wanted) return wanted;
  const known = snapshot.projects.find(each => each.project === project.project);
  const context = await contextOf(deps, request, operator);
  const { name: by } = operator;
  const outcome = await deps.hold(
    { tenant, by, receivedAt, context },
    { ...wanted, project: known?.canonicalName ?? project.project },
  );
  if (outcome === 'too-many')
    return badRequest('the tenant has as many hold requests as it may have; delete some', 'path: tenant');
  deps.log.info({ tenant, job: wanted.job, reason: wanted.reason, by }, 'an operator asked to hold hosts');
  return jsonAnswer(true);
}

async function deleteHold(deps: Acting<'deleteHold'>, request: Request): Promise<Answer> {
  const asked = await readOperatorRequest(deps, request, 'delete a hold request');
  if (asked.kind === 'refused') return asked;
  const { receivedAt, tenant, operator } = asked;
  const id = String(request.params.id);
  const context = await contextOf(deps, request, operator);
  const { name: by } = operator;
  if ((await deps.deleteHold({ tenant, by, receivedAt, context }, id)) === 'gone') return noHold(id);
  deps.log.info({ tenant, id, by }, 'an operator deleted a hold request');
  return { kind: 'nothing' };
}

function noHold(id: string): HttpRefusal {
  return notFound(`Hold request ${id.slice(0, 64)} not found.`, 'path: id');
}

type Wanted = Omit<WantedHold, 'project'>;

function wantedOf(body: Json | undefined): Wanted | HttpRefusal {
  if (!isMapping(body))
    return badRequest(
      'expected {"job", "reason", "count", "node_hold_expiration", "change" or "ref"}',
      'body',
    );
  const { job, reason, count, node_hold_expiration: expiration = null } = body;
  if (typeof job !== 'string' || job === '' || job.length > LONGEST_NAME)
    return badRequest('expected the name of a job', 'body: job');
  if (typeof reason !== 'string' || reason.trim() === '' || reason.length > LONGEST_REASON)
    return badRequest(`expected a reason of at most ${LONGEST_REASON} characters`, 'body: reason');
  if (!isWhole(count, 1, MOST_COUNT)) return badRequest(`expected 1 to ${MOST_COUNT}`, 'body: count');
  if (expiration !== null && !isWhole(expiration, 0, LONGEST_EXPIRATION))
    return badRequest('expected seconds, or 0 to hold without end', 'body: node_hold_expiration');
  const filter = filterOf(body);
  if ('status' in filter) return filter;
  const line = reason.toWellFormed().replace(/\s+/g, ' ').trim();
  return { job, filter, reason: line, maxCount: count, expiration };
}

function isWhole(value: Json | undefined, min: number, max: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max;
}

function filterOf({
  change = null,
  ref = null,
}: {
  readonly [name: string]: Json;
}): HoldFilter | HttpRefusal {
  if (change !== null && ref !== null && change !== '' && ref !== '')
    return badRequest('change and ref are mutually exclusive', 'body');
  if (change !== null && change !== '') {
    const name = typeof change === 'number' ? String(change) : change;
    return typeof name === 'string' && name.length <= LONGEST_NAME
      ? { on: 'change', change: name }
      : badRequest('expected the name of a change', 'body: change');
  }
  if (ref === null || ref === '') return { on: 'all' };
  if (typeof ref !== 'string' || ref.length > LONGEST_NAME)
    return badRequest('expected an expression for refs', 'body: ref');
  const regex = compileRegex(ref);
  return regex.kind === 'regex'
    ? { on: 'ref', ref }
    : badRequest(`ref is no regular expression: ${regex.reason}`, 'body: ref');
}

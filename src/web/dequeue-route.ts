/**
 * `POST /api/tenant/<t>/project/<p>/dequeue` with `{"pipeline": ..., "change": ...}` or `{"pipeline": ..., "ref": ...}`, as Zuul's.
 *
 * Allowed for the command line of this machine and for users whose token names the tenant: auth/operator.ts. The request has a trace of
 * its own (`ManagementEvent`), linked to the trace of a trusted caller: auth/caller-context.ts.
 */
import type { Request, RequestHandler } from 'express';
import { refId } from '../api/status.ts';
import { readBody } from '../lib/read-body.ts';
import { projectIdOf } from '../model/project.ts';
import type { QueueItem } from '../model/queue-item.ts';
import { itemLogFacts } from '../tracing/log-facts.ts';
import { type Answer, badRequest, jsonAnswer, notFound, send } from './answer.ts';
import type { Authentication } from './auth/caller.ts';
import { callerContext } from './auth/caller-context.ts';
import { operatorOf } from './auth/operator.ts';
import type { DequeueRequest, WebDeps } from './deps.ts';
import { itemsOfTrace, mayActFor, type TraceDeps } from './items-of-trace.ts';

type DequeueDeps = TraceDeps &
  Pick<WebDeps, 'log' | 'clock'> & {
    readonly auth: Authentication;
    readonly dequeue: (request: DequeueRequest) => Promise<void>;
  };

/** Answers `true` when the request is stored; that the item leaves is decided later, by the pipeline's turn. */
export function dequeueRoute(deps: DequeueDeps): RequestHandler {
  return async (request, response) => send(response, await handle(deps, request));
}

async function handle(deps: DequeueDeps, request: Request): Promise<Answer> {
  const receivedAt = deps.clock.now();
  const tenant = String(request.params.tenant);
  const operator = await operatorOf(deps.auth, request, 'dequeue', [tenant]);
  if (operator.kind === 'refused') return operator;
  if (request.is('application/json') === false)
    return { kind: 'refused', status: 415, error: 'send application/json', place: 'header content-type' };
  const body = await readBody(request, 64 * 1024);
  if (body.kind !== 'read') return badRequest('the body is not readable or larger than 64 KiB', 'body');
  const snapshot = deps.snapshot(tenant);
  if (snapshot === undefined) return notFound(`there is no tenant ${JSON.stringify(tenant)}`, 'path: tenant');
  const wanted = parseBody(body.bytes);
  if (wanted === undefined)
    return badRequest(
      'expected {"pipeline": text, "change": text} or {"pipeline": text, "ref": text}',
      'body',
    );
  const live = snapshot.pipelines.find(({ pipeline }) => pipeline.name === wanted.pipeline);
  if (live === undefined)
    return badRequest(`there is no pipeline ${JSON.stringify(wanted.pipeline)}`, 'body: pipeline');
  const project = [request.params.project].flat().join('/');
  const item = findItemOf(live.state.items.values(), project, wanted.what);
  if (item === undefined)
    return notFound(`${wanted.what} of ${project} is not in pipeline ${wanted.pipeline}`, 'body');
  const context = await callerContext(
    operator.caller,
    request,
    async trace => !mayActFor(operator.caller, await itemsOfTrace(deps, trace)),
  );
  const { name: by } = operator;
  await deps.dequeue({ tenant, pipeline: wanted.pipeline, item, by, receivedAt, context });
  const facts = { tenant, pipeline: wanted.pipeline, ...itemLogFacts(item.uuid) };
  deps.log.info({ ...facts, by }, 'an operator requested to dequeue an item');
  return jsonAnswer(true);
}

function findItemOf(items: Iterable<QueueItem>, project: string, what: string): QueueItem | undefined {
  return [...items].find(item =>
    item.changes.some(change => {
      const isProject = change.project === project || projectIdOf(change.project).name === project;
      return (
        isProject &&
        (refId(change) === what || change.ref === what || (change.kind === 'change' && change.id === what))
      );
    }),
  );
}

function parseBody(bytes: Buffer): { readonly pipeline: string; readonly what: string } | undefined {
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    // Not JSON: the refusal names the expected body.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  if (
    typeof value !== 'object' ||
    value === null ||
    !('pipeline' in value) ||
    typeof value.pipeline !== 'string'
  )
    return undefined;
  const what = 'change' in value ? value.change : 'ref' in value ? value.ref : undefined;
  return typeof what === 'string' && what !== '' ? { pipeline: value.pipeline, what } : undefined;
}

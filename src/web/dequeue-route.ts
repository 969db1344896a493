/** `POST /api/tenant/<t>/project/<p>/dequeue` with `{"pipeline": ..., "change": ...}` or `{"pipeline": ..., "ref": ...}`, as Zuul's. */
import type { Request, RequestHandler } from 'express';
import { isMapping } from '../driver/read-mapping.ts';
import type { Json } from '../model/job.ts';
import type { QueueItem } from '../model/queue-item.ts';
import { itemLogFacts } from '../tracing/log-facts.ts';
import { type Answer, badRequest, jsonAnswer, notFound, send } from './answer.ts';
import type { DequeueRequest } from './deps.ts';
import { findPipeline, isNamed } from './named-item.ts';
import { contextOf, type OperatorDeps, readOperatorRequest } from './operator-request.ts';

type DequeueDeps = OperatorDeps & { readonly dequeue: (request: DequeueRequest) => Promise<void> };

/** Answers `true` when the request is stored; that the item leaves is decided later, by the pipeline's turn. */
export function dequeueRoute(deps: DequeueDeps): RequestHandler {
  return async (request, response) => send(response, await handle(deps, request));
}

async function handle(deps: DequeueDeps, request: Request): Promise<Answer> {
  const asked = await readOperatorRequest(deps, request, 'dequeue');
  if (asked.kind === 'refused') return asked;
  const { receivedAt, tenant, snapshot, operator } = asked;
  const wanted = wantedOf(asked.body);
  if (wanted === undefined)
    return badRequest(
      'expected {"pipeline": text, "change": text} or {"pipeline": text, "ref": text}',
      'body',
    );
  const found = findPipeline(snapshot, wanted.pipeline);
  if (found.kind === 'refused') return found;
  const { live } = found;
  const project = [request.params.project].flat().join('/');
  const item = findItemOf(live.state.items.values(), project, wanted.what);
  if (item === undefined)
    return notFound(`${wanted.what} of ${project} is not in pipeline ${wanted.pipeline}`, 'body');
  const context = await contextOf(deps, request, operator);
  const { name: by } = operator;
  await deps.dequeue({ tenant, pipeline: wanted.pipeline, item, by, receivedAt, context });
  const facts = { tenant, pipeline: wanted.pipeline, ...itemLogFacts(item.uuid) };
  deps.log.info({ ...facts, by }, 'an operator requested to dequeue an item');
  return jsonAnswer(true);
}

function findItemOf(items: Iterable<QueueItem>, project: string, what: string): QueueItem | undefined {
  return [...items].find(item => item.changes.some(change => isNamed(change, what, project)));
}

function wantedOf(body: Json | undefined): { readonly pipeline: string; readonly what: string } | undefined {
  if (!isMapping(body) || typeof body.pipeline !== 'string') return undefined;
  const what = 'change' in body ? body.change : body.ref;
  return typeof what === 'string' && what !== '' ? { pipeline: body.pipeline, what } : undefined;
}

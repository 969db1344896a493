/** `POST /api/tenant/<t>/project/<p>/dequeue` with `{"pipeline": ..., "change": ...}` or `{"pipeline": ..., "ref": ...}`, as Zuul's. */
import type { Request, RequestHandler } from 'express';
import { isMapping } from '../driver/read-mapping.ts';
import type { Json } from '../model/job.ts';
import type { QueueItem } from '../model/queue-item.ts';
import { itemLogFacts } from '../tracing/log-facts.ts';
import { type Answer, badRequest, jsonAnswer, notFound, send } from './answer.ts';
import { type CostDeps, costAnswer } from './cost-answer.ts';
import type { DequeueRequest } from './deps.ts';
import { findPipeline, isNamed } from './named-item.ts';
import { contextOf, type OperatorDeps, readOperatorRequest } from './operator-request.ts';

type Act = (request: DequeueRequest) => Promise<Answer>;

/** Answers `true` when the request is stored; that the item leaves is decided later, by the pipeline's turn. */
export function dequeueRoute(
  deps: OperatorDeps & { readonly dequeue: (request: DequeueRequest) => Promise<void> },
): RequestHandler {
  const act: Act = async asked => {
    await deps.dequeue(asked);
    const { tenant, pipeline, by } = asked;
    const facts = { tenant, pipeline, ...itemLogFacts(asked.item.uuid), by };
    deps.log.info(facts, 'an operator requested to dequeue an item');
    return jsonAnswer(true);
  };
  return async (request, response) => send(response, await handle(deps, request, act));
}

/** The same, asked beforehand: nothing is stored. */
export function dequeueCostRoute(deps: OperatorDeps & CostDeps): RequestHandler {
  const act: Act = asked => costAnswer(deps, { kind: 'dequeue', ...asked });
  return async (request, response) => send(response, await handle(deps, request, act));
}

async function handle(deps: OperatorDeps, request: Request, act: Act): Promise<Answer> {
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
  return act({ tenant, pipeline: wanted.pipeline, item, by, receivedAt, context });
}

function findItemOf(items: Iterable<QueueItem>, project: string, what: string): QueueItem | undefined {
  return [...items].find(item => item.changes.some(change => isNamed(change, what, project)));
}

function wantedOf(body: Json | undefined): { readonly pipeline: string; readonly what: string } | undefined {
  if (!isMapping(body) || typeof body.pipeline !== 'string') return undefined;
  const what = 'change' in body ? body.change : body.ref;
  return typeof what === 'string' && what !== '' ? { pipeline: body.pipeline, what } : undefined;
}

/**
 * `POST /api/tenant/<t>/pipeline/<p>/state` with `{"state": "paused" | "draining" | "normal", "reason": text, "queue": text}`: a pipeline, or
 * one of its queues, starts nothing, takes nothing, or goes on. A route of our own.
 */
import type { Request, RequestHandler } from 'express';
import type { PipelineSnapshot } from '../api/tenant-snapshot.ts';
import { isMapping } from '../driver/read-mapping.ts';
import { type HaltMode, LONGEST_REASON, MOST_HALTS } from '../model/halt.ts';
import type { Json } from '../model/job.ts';
import { type Answer, badRequest, type HttpRefusal, jsonAnswer, notFound, send } from './answer.ts';
import { type CostDeps, costAnswer } from './cost-answer.ts';
import type { HaltRequest } from './deps.ts';
import { findPipeline } from './named-item.ts';
import { contextOf, type OperatorDeps, readOperatorRequest } from './operator-request.ts';

type Act = (request: HaltRequest) => Promise<Answer>;

const STATES: ReadonlyMap<unknown, HaltMode | 'resume'> = new Map([
  ['paused', 'pause'],
  ['draining', 'drain'],
  ['normal', 'resume'],
]);

/** Answers `true` when the request is stored; the pipeline's next turn obeys. */
export function haltRoute(
  deps: OperatorDeps & { readonly halt: (request: HaltRequest) => Promise<void> },
): RequestHandler {
  const act: Act = async asked => {
    await deps.halt(asked);
    const { receivedAt: _at, context: _context, ...facts } = asked;
    deps.log.info(facts, 'an operator requested a state of a pipeline');
    return jsonAnswer(true);
  };
  return async (request, response) => send(response, await handle(deps, request, act));
}

/** The same, asked beforehand: nothing is stored. */
export function haltCostRoute(deps: OperatorDeps & CostDeps): RequestHandler {
  const act: Act = asked => costAnswer(deps, { kind: 'halt', ...asked });
  return async (request, response) => send(response, await handle(deps, request, act));
}

async function handle(deps: OperatorDeps, request: Request, act: Act): Promise<Answer> {
  const asked = await readOperatorRequest(deps, request, 'pause pipelines');
  if (asked.kind === 'refused') return asked;
  const { receivedAt, tenant, snapshot, operator } = asked;
  const found = findPipeline(snapshot, String(request.params.pipeline));
  if (found.kind === 'refused') return notFound(found.error, 'path: pipeline');
  const wanted = wantedOf(asked.body);
  if ('status' in wanted) return wanted;
  const misfit = misfitOf(wanted, found.live);
  if (misfit !== undefined) return misfit;
  const context = await contextOf(deps, request, operator);
  const { name: by } = operator;
  const pipeline = found.live.pipeline.name;
  return act({ tenant, pipeline, ...wanted, by, receivedAt, context });
}

type Wanted = Pick<HaltRequest, 'queue' | 'wanted' | 'reason'>;

function wantedOf(body: Json | undefined): Wanted | HttpRefusal {
  const expected = `expected {"state": "paused", "draining" or "normal", "reason": text, at most ${LONGEST_REASON} characters}, perhaps with "queue": text`;
  if (!isMapping(body)) return badRequest(expected, 'body');
  const { state, queue = null, reason = '' } = body;
  const wanted = STATES.get(state);
  if (wanted === undefined || typeof reason !== 'string' || reason.length > LONGEST_REASON)
    return badRequest(expected, 'body');
  if (queue !== null && (typeof queue !== 'string' || queue === ''))
    return badRequest(expected, 'body: queue');
  const line = reason.replace(/\s+/g, ' ').trim();
  if (wanted !== 'resume' && line === '')
    return badRequest('give the reason: it is shown to all who wait', 'body: reason');
  return { queue, wanted, reason: wanted === 'resume' ? '' : line };
}

function misfitOf({ queue, wanted }: Wanted, { pipeline, state }: PipelineSnapshot): HttpRefusal | undefined {
  const halts = state.halts ?? [];
  const isKnown = halts.some(halt => halt.queue === queue);
  if (wanted === 'resume' && !isKnown) {
    const where = halts.map(halt => (halt.queue === null ? 'the pipeline' : `queue ${halt.queue}`));
    return badRequest(`nothing halts that; halted: ${where.join(', ') || 'nothing'}`, 'body: queue');
  }
  if (!isKnown && halts.length >= MOST_HALTS)
    return badRequest(`${MOST_HALTS} queues are halted already: halt the pipeline`, 'body: queue');
  const names = state.queues.map(({ name }) => name);
  if (queue === null || isKnown || names.includes(queue)) return undefined;
  return notFound(
    `no queue ${JSON.stringify(queue)} of pipeline ${pipeline.name} holds anything; there are: ${names.slice(0, 20).join(', ') || 'none'}`,
    'body: queue',
  );
}

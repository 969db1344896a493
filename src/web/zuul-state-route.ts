/**
 * `POST /api/tenant/<t>/state`, Zuul's route of `zuul-client manage-events`: pausing the trigger events of a tenant drains each of its
 * pipelines, and the normal state ends that. What Zuul can do besides would lose events or hold results back, and is refused.
 */
import type { Request, RequestHandler } from 'express';
import type { TenantSnapshot } from '../api/tenant-snapshot.ts';
import { isMapping } from '../driver/read-mapping.ts';
import { LONGEST_REASON } from '../model/halt.ts';
import type { Json } from '../model/job.ts';
import { type Answer, badRequest, type HttpRefusal, jsonAnswer, send } from './answer.ts';
import type { HaltRequest } from './deps.ts';
import { contextOf, type OperatorDeps, readOperatorRequest } from './operator-request.ts';

type StateDeps = OperatorDeps & { readonly halt: (request: HaltRequest) => Promise<void> };

/** Answers `true` when the requests are stored, one for each pipeline. */
export function zuulStateRoute(deps: StateDeps): RequestHandler {
  return async (request, response) => send(response, await handle(deps, request));
}

async function handle(deps: StateDeps, request: Request): Promise<Answer> {
  const asked = await readOperatorRequest(deps, request, 'manage events');
  if (asked.kind === 'refused') return asked;
  const { receivedAt, tenant, snapshot, operator } = asked;
  const wanted = wantedOf(asked.body);
  if ('status' in wanted) return wanted;
  const context = await contextOf(deps, request, operator);
  const { name: by } = operator;
  for (const pipeline of pipelinesFor(wanted.wanted, snapshot))
    await deps.halt({ tenant, pipeline, queue: null, ...wanted, by, receivedAt, context });
  deps.log.info({ tenant, ...wanted, by }, 'an operator requested a state of all pipelines of a tenant');
  return jsonAnswer(true);
}

type Wanted = Pick<HaltRequest, 'wanted' | 'reason'>;

function wantedOf(body: Json | undefined): Wanted | HttpRefusal {
  if (!isMapping(body)) return badRequest('Invalid request body', 'body');
  if (body.trigger_queue_discarding === true)
    return badRequest('events are never discarded here: pause them', 'body: trigger_queue_discarding');
  if (body.result_queue_paused === true)
    return badRequest(
      'results of builds are never held back here: "gatehouse pipeline pause" starts no builds',
      'body: result_queue_paused',
    );
  if (body.trigger_queue_paused !== true) return { wanted: 'resume', reason: '' };
  const given = typeof body.reason === 'string' ? body.reason.replace(/\s+/g, ' ').trim() : '';
  return { wanted: 'drain', reason: given === '' ? 'no reason was given' : given.slice(0, LONGEST_REASON) };
}

/** A pipeline that is paused stays so: Zuul's normal state is about events. */
function pipelinesFor(wanted: Wanted['wanted'], { pipelines }: TenantSnapshot): readonly string[] {
  return pipelines.flatMap(({ pipeline, state: { halts = [] } }) => {
    const isDrained = halts.some(({ queue, mode }) => queue === null && mode === 'drain');
    return isDrained === (wanted === 'resume') ? [pipeline.name] : [];
  });
}

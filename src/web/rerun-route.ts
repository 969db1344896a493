/** `POST /api/tenant/<t>/item/<uuid>/rerun`: failed jobs of an item run again; one that has left enters its pipeline again. A route of our own. */
import type { Request, RequestHandler } from 'express';
import { leadChange } from '../model/about-item.ts';
import type { Change } from '../model/change.ts';
import type { RequestedChange } from '../model/management-event.ts';
import type { QueueItem } from '../model/queue-item.ts';
import { itemLogFacts } from '../tracing/log-facts.ts';
import { type Answer, badRequest, jsonAnswer, notFound, send } from './answer.ts';
import { type CostDeps, costAnswer } from './cost-answer.ts';
import type { EnqueueRequest, OperatorRequest, RerunRequest, WebDeps } from './deps.ts';
import { findPipeline } from './named-item.ts';
import { contextOf, type OperatorDeps, readOperatorRequest } from './operator-request.ts';
import { findItemOfTenant } from './tenant-access.ts';

type RerunDeps = OperatorDeps & Pick<WebDeps, 'history' | 'leavingItems'>;

/** The item is live, or its change enters again. */
interface Acts {
  readonly rerun: (request: RerunRequest) => Promise<Answer>;
  readonly enqueue: (request: EnqueueRequest, left: QueueItem) => Promise<Answer>;
}

/** Answers when the request is stored; which jobs run again is decided later, by the pipeline's turn. */
export function rerunRoute(
  deps: RerunDeps & {
    readonly rerun: (request: RerunRequest) => Promise<void>;
    readonly enqueue: NonNullable<WebDeps['enqueue']>;
  },
): RequestHandler {
  const inform = ({ tenant, pipeline, by }: OperatorRequest & { pipeline: string }, { uuid }: QueueItem) =>
    deps.log.info(
      { tenant, pipeline, ...itemLogFacts(uuid), by },
      'an operator requested to run the failed jobs of an item again',
    );
  const acts: Acts = {
    rerun: async asked => {
      await deps.rerun(asked);
      inform(asked, asked.item);
      return jsonAnswer({ outcome: 'runs-again' });
    },
    enqueue: async (asked, left) => {
      const outcome = await deps.enqueue(asked);
      inform(asked, left);
      return outcome === 'stored'
        ? jsonAnswer({ outcome: 'enters-again' })
        : notFound('the code host does not have its change any more', 'path: item');
    },
  };
  return async (request, response) => send(response, await handle(deps, request, acts));
}

/** The same, asked beforehand: nothing is stored. */
export function rerunCostRoute(deps: RerunDeps & CostDeps): RequestHandler {
  const acts: Acts = {
    rerun: asked => costAnswer(deps, { kind: 'rerun', ...asked }),
    enqueue: asked => costAnswer(deps, { kind: 'enqueue', ...asked }),
  };
  return async (request, response) => send(response, await handle(deps, request, acts));
}

async function handle(deps: RerunDeps, request: Request, acts: Acts): Promise<Answer> {
  const asked = await readOperatorRequest(deps, request, 'run jobs again');
  if (asked.kind === 'refused') return asked;
  const { receivedAt, tenant, snapshot, operator } = asked;
  const uuid = String(request.params.uuid).toLowerCase();
  const found = await findItemOfTenant(deps, { kind: 'found', name: tenant, snapshot }, uuid);
  if (found.kind === 'refused') return found;
  const { item } = found;
  if (item.role === 'dependency')
    return badRequest('this item only holds a place for those behind it: no job of it runs', 'path: item');
  const pipeline = findPipeline(snapshot, item.pipeline);
  if (pipeline.kind === 'refused')
    return notFound(`pipeline ${item.pipeline} is not there any more`, 'path: item');
  const context = await contextOf(deps, request, operator);
  const common = { tenant, pipeline: item.pipeline, by: operator.name, receivedAt, context };
  return pipeline.live.state.items.has(item.uuid)
    ? acts.rerun({ ...common, item })
    : acts.enqueue({ ...common, wanted: wantedOf(leadChange(item)) }, item);
}

/** As it is at the host now. */
function wantedOf(change: Change): RequestedChange {
  if (change.kind === 'change') return { kind: 'change', key: change.key };
  const { project, ref, oldCommit, newCommit } = change;
  return { kind: 'ref', project, ref, from: oldCommit, to: newCommit };
}

/**
 * `POST /api/tenant/<t>/promote` with `{"pipeline": ..., "changes": [...]}`, as Zuul's. A change is named by its id, with its patchset or
 * without, as in `login,3f2a91c0`; where projects of the tenant have changes of that id, after its project, as in `acme/app login`.
 */
import type { Request, RequestHandler } from 'express';
import { isMapping } from '../driver/read-mapping.ts';
import { changesText } from '../model/about-item.ts';
import type { Json } from '../model/job.ts';
import { projectIdOf } from '../model/project.ts';
import type { QueueItem } from '../model/queue-item.ts';
import { type Answer, badRequest, type HttpRefusal, jsonAnswer, notFound, send } from './answer.ts';
import { type CostDeps, costAnswer } from './cost-answer.ts';
import type { PromoteRequest } from './deps.ts';
import { findPipeline, isNamed } from './named-item.ts';
import { contextOf, type OperatorDeps, readOperatorRequest } from './operator-request.ts';

/** Changes of one request. */
const MOST_CHANGES = 100;

type Act = (request: PromoteRequest) => Promise<Answer>;

/** Answers `true` when the request is stored; where the items go is decided later, by the pipeline's turn. */
export function promoteRoute(
  deps: OperatorDeps & { readonly promote: (request: PromoteRequest) => Promise<boolean> },
): RequestHandler {
  const act: Act = async asked => {
    const { tenant, pipeline, items, by } = asked;
    if (!(await deps.promote(asked)))
      return badRequest(
        `changes are promoted in dependent pipelines only, and ${pipeline.name} is ${pipeline.manager}: nothing there waits for another change`,
        'body: pipeline',
      );
    deps.log.info(
      { tenant, pipeline: pipeline.name, changes: items.map(changesText), by },
      'an operator requested to promote items',
    );
    return jsonAnswer(true);
  };
  return async (request, response) => send(response, await handle(deps, request, act));
}

/** The same, asked beforehand: nothing is stored. */
export function promoteCostRoute(deps: OperatorDeps & CostDeps): RequestHandler {
  const act: Act = asked => costAnswer(deps, { kind: 'promote', ...asked });
  return async (request, response) => send(response, await handle(deps, request, act));
}

async function handle(deps: OperatorDeps, request: Request, act: Act): Promise<Answer> {
  const asked = await readOperatorRequest(deps, request, 'promote');
  if (asked.kind === 'refused') return asked;
  const { receivedAt, tenant, snapshot, operator } = asked;
  const wanted = wantedOf(asked.body);
  if (wanted === undefined)
    return badRequest(
      `expected {"pipeline": text, "changes": [text, ...]}, at most ${MOST_CHANGES} changes`,
      'body',
    );
  const found = findPipeline(snapshot, wanted.pipeline);
  if (found.kind === 'refused') return found;
  const { live } = found;
  const items: QueueItem[] = [];
  for (const text of wanted.changes) {
    const item = findItem([...live.state.items.values()], text, wanted.pipeline);
    if ('status' in item) return item;
    items.push(item);
  }
  const context = await contextOf(deps, request, operator);
  const { name: by } = operator;
  return act({ tenant, pipeline: live.pipeline, items, by, receivedAt, context });
}

function findItem(items: readonly QueueItem[], text: string, pipeline: string): QueueItem | HttpRefusal {
  const found = items.filter(item => item.role === 'live' && holds(item, text));
  const [item, ...others] = found;
  if (item === undefined) return notFound(`${text} is not in pipeline ${pipeline}`, 'body: changes');
  const projects = [...new Set(found.map(({ changes: [{ project }] }) => projectIdOf(project).name))];
  if (others.length > 0 && projects.length > 1)
    return badRequest(
      `several projects have a change ${text} in pipeline ${pipeline} (${projects.join(', ')}): write "${projects[0]} ${text}"`,
      'body: changes',
    );
  return item;
}

function holds({ changes }: QueueItem, text: string): boolean {
  const [id, project, ...more] = text.split(/\s+/).toReversed();
  if (more.length > 0) return false;
  return id !== undefined && changes.some(change => isNamed(change, id, project));
}

function wantedOf(
  body: Json | undefined,
): { readonly pipeline: string; readonly changes: readonly string[] } | undefined {
  if (!isMapping(body) || typeof body.pipeline !== 'string' || !Array.isArray(body.changes)) return undefined;
  const changes = body.changes.filter(each => typeof each === 'string' && each.trim() !== '');
  const isWhole = changes.length === body.changes.length && changes.length > 0;
  if (!isWhole || changes.length > MOST_CHANGES) return undefined;
  return { pipeline: body.pipeline, changes: changes.map(each => String(each).trim()) };
}

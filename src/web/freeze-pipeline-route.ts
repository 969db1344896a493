/**
 * `POST /api/tenant/<t>/project/<p>/freeze-pipeline` with `{"pipeline": ..., "ref": ...}`, as Zuul's: which parameters its form "Enqueue"
 * asks a person for. Pipelines have none here.
 */
import type { Request, RequestHandler } from 'express';
import { isMapping } from '../driver/read-mapping.ts';
import { type Answer, badRequest, jsonAnswer, send } from './answer.ts';
import { findPipeline } from './named-item.ts';
import { type OperatorDeps, readOperatorRequest } from './operator-request.ts';
import { projectNamed } from './project-named.ts';

/** Changes nothing. For operators, who alone see that form. */
export function freezePipelineRoute(deps: OperatorDeps): RequestHandler {
  return async (request, response) => send(response, await handle(deps, request));
}

async function handle(deps: OperatorDeps, request: Request): Promise<Answer> {
  const asked = await readOperatorRequest(deps, request, 'enqueue');
  if (asked.kind === 'refused') return asked;
  const { tenant: name, snapshot, body } = asked;
  const project = projectNamed([request.params.project].flat().join('/'), { name, snapshot });
  if (project.kind === 'refused') return project;
  if (!isMapping(body) || typeof body.pipeline !== 'string' || typeof body.ref !== 'string')
    return badRequest('expected {"pipeline": text, "ref": text}', 'body');
  const found = findPipeline(snapshot, body.pipeline);
  return found.kind === 'refused' ? found : jsonAnswer({ parameters: [] });
}

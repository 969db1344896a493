/**
 * `POST /api/tenant/<t>/project/<p>/enqueue` with `{"pipeline": ..., "change": ...}`, or with `ref`, `oldrev` and `newrev` in place of the
 * change, as Zuul's. A revision of zeros is one that is not known: without `newrev` a branch is taken where it is now.
 */
import type { Request, RequestHandler } from 'express';
import { isMapping } from '../driver/read-mapping.ts';
import { changeKey } from '../model/change.ts';
import type { Json } from '../model/job.ts';
import type { RequestedChange } from '../model/management-event.ts';
import { type CommitId, type ProjectKey, parseCommitId } from '../model/project.ts';
import { type Answer, badRequest, type HttpRefusal, jsonAnswer, notFound, send } from './answer.ts';
import { type CostDeps, costAnswer } from './cost-answer.ts';
import type { EnqueueRequest } from './deps.ts';
import { findPipeline } from './named-item.ts';
import { contextOf, type OperatorDeps, readOperatorRequest } from './operator-request.ts';
import { projectNamed } from './project-named.ts';

type Act = (request: EnqueueRequest) => Promise<Answer>;

/** Characters of the name of a change or ref. */
const LONGEST_NAME = 1_000;

/** Answers `true` when the request is stored; whether the change enters is decided later, by the pipeline's turn. */
export function enqueueRoute(
  deps: OperatorDeps & {
    readonly enqueue: (request: EnqueueRequest) => Promise<'stored' | 'no-such-change'>;
  },
): RequestHandler {
  const act: Act = async asked => {
    const { tenant, pipeline, wanted, by } = asked;
    const outcome = await deps.enqueue(asked);
    const what = wanted.kind === 'change' ? wanted.key : wanted.ref;
    deps.log.info({ tenant, pipeline, what, by }, 'an operator requested to enqueue a change');
    return outcome === 'stored'
      ? jsonAnswer(true)
      : notFound(`the code host has no change ${nameOf(wanted)} of that project`, 'body: change');
  };
  return async (request, response) => send(response, await handle(deps, request, act));
}

/** The same, asked beforehand: nothing is stored, and the code host is not asked. */
export function enqueueCostRoute(deps: OperatorDeps & CostDeps): RequestHandler {
  const act: Act = asked => costAnswer(deps, { kind: 'enqueue', ...asked });
  return async (request, response) => send(response, await handle(deps, request, act));
}

async function handle(deps: OperatorDeps, request: Request, act: Act): Promise<Answer> {
  const asked = await readOperatorRequest(deps, request, 'enqueue');
  if (asked.kind === 'refused') return asked;
  const { receivedAt, tenant, snapshot, operator, body } = asked;
  const project = projectNamed([request.params.project].flat().join('/'), { name: tenant, snapshot });
  if (project.kind === 'refused') return project;
  if (!isMapping(body) || typeof body.pipeline !== 'string') return notUnderstood();
  if (isMapping(body.parameters) && Object.keys(body.parameters).length > 0)
    return badRequest('pipelines have no parameters here', 'body: parameters');
  const wanted =
    'change' in body ? wantedChange(project.project, body.change) : wantedRef(project.project, body);
  if ('status' in wanted) return wanted;
  const found = findPipeline(snapshot, body.pipeline);
  if (found.kind === 'refused') return found;
  const { pipeline } = found.live;
  const context = await contextOf(deps, request, operator);
  const { name: by } = operator;
  return act({ tenant, pipeline: pipeline.name, wanted, by, receivedAt, context });
}

/** In quotes, as it was written but for its patchset. */
function nameOf(wanted: RequestedChange): string {
  return JSON.stringify(wanted.kind === 'ref' ? wanted.ref : wanted.key.slice(wanted.key.indexOf('#') + 1));
}

function notUnderstood(): HttpRefusal {
  return badRequest(
    'expected {"pipeline": text, "change": text} or {"pipeline": text, "ref": text, "oldrev": text, "newrev": text}',
    'body',
  );
}

/** @param named `12`, or with its patchset `12,3`; a commit as patchset may be shortened to 8 digits. */
function wantedChange(project: ProjectKey, named: Json | undefined): RequestedChange | HttpRefusal {
  const text = typeof named === 'number' ? String(named) : named;
  if (typeof text !== 'string' || !isName(text)) return notUnderstood();
  const [, id = text, patchset] = /^(.+),(\d+|[0-9a-f]{8,64})$/.exec(text) ?? [];
  const key = changeKey(project, id);
  return { kind: 'change', key, ...(patchset === undefined ? {} : { patchset }) };
}

function wantedRef(
  project: ProjectKey,
  { ref, oldrev, newrev }: { readonly [name: string]: Json },
): RequestedChange | HttpRefusal {
  if (typeof ref !== 'string' || !isName(ref)) return notUnderstood();
  if (!ref.startsWith('refs/'))
    return badRequest('a ref begins with refs/, e.g. refs/heads/master', 'body: ref');
  const [from, to] = [revision(oldrev), revision(newrev)];
  if (from === undefined || to === undefined)
    return badRequest(
      'a revision is the full id of a commit',
      `body: ${to === undefined ? 'newrev' : 'oldrev'}`,
    );
  if (to === null && !ref.startsWith('refs/heads/'))
    return badRequest('the revision of a ref that is no branch has to be named', 'body: newrev');
  return { kind: 'ref', project, ref, from, to };
}

/** Undefined: it is none. Null: it is not known. */
function revision(value: Json | undefined): CommitId | null | undefined {
  if (value === undefined || value === null || value === '') return null;
  if (typeof value !== 'string' || !/^([0-9a-f]{40}|[0-9a-f]{64})$/.test(value)) return undefined;
  return /^0+$/.test(value) ? null : parseCommitId(value);
}

function isName(text: string): boolean {
  return text !== '' && text.length <= LONGEST_NAME && text.isWellFormed();
}

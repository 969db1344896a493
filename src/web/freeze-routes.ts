/**
 * `/pipeline/<p>/project/<project>/branch/<b>/freeze-jobs` and `…/freeze-job/<job>`, at Zuul's paths: which jobs a branch would run, and
 * what one of them comes to. Who may read the tenant may ask. One question is computed at a time, equal ones share an answer, and few may wait
 * (shared-answers.ts).
 */
import type { Router } from 'express';
import { frozenJobDocument, jobGraphDocument } from '../api/frozen-jobs.ts';
import { didYouMean } from '../lib/nearest-name.ts';
import type { FrozenJob } from '../model/job.ts';
import { type Answer, type HttpRefusal, jsonAnswer, notFound, type ReadRequest } from './answer.ts';
import type { FrozenBranch, WebDeps } from './deps.ts';
import { projectNamed } from './project-named.ts';
import { askLater, type SharedAnswers, sharedAnswers, tooManyWait } from './shared-answers.ts';
import { type FoundTenant, inTenant } from './tenant-access.ts';

type FreezeDeps = Pick<WebDeps, 'snapshot' | 'tenants' | 'auth' | 'clock' | 'freezeBranch'>;

/** @param router of a tenant. */
export function addFreezeRoutes(router: Router, deps: FreezeDeps): void {
  const shared = sharedAnswers<FrozenBranch>(deps.clock);
  const route = (show: (jobs: readonly FrozenJob[], tenant: FoundTenant, request: ReadRequest) => Answer) =>
    inTenant(deps, async (tenant, request) => {
      const jobs = await jobsOf(deps, shared, tenant, request);
      return 'kind' in jobs ? jobs : show(jobs, tenant, request);
    });
  router.get(
    '/pipeline/:pipeline/project/*project/branch/*branch/freeze-jobs',
    route(jobs => jsonAnswer(jobGraphDocument(jobs))),
  );
  router.get(
    '/pipeline/:pipeline/project/*project/branch/*branch/freeze-job/:job',
    route((jobs, tenant, { parameter }) => oneJob(jobs, tenant, parameter('job'))),
  );
}

function oneJob(jobs: readonly FrozenJob[], { snapshot }: FoundTenant, name: string): Answer {
  const found = jobs.find(job => job.name === name);
  if (found === undefined) {
    const hint = didYouMean(
      name,
      jobs.map(job => job.name),
    );
    return notFound(`${JSON.stringify(name.slice(0, 200))} does not run on the branch${hint}`, 'path: job');
  }
  const names = new Map(snapshot.projects.map(({ project, canonicalName }) => [project, canonicalName]));
  return jsonAnswer(frozenJobDocument(found, project => names.get(project) ?? project));
}

async function jobsOf(
  { freezeBranch }: FreezeDeps,
  shared: SharedAnswers<FrozenBranch>,
  tenant: FoundTenant,
  { parameter }: ReadRequest,
): Promise<readonly FrozenJob[] | HttpRefusal> {
  const found = projectNamed(parameter('project'), tenant);
  if (found.kind === 'refused') return found;
  const question = {
    tenant: tenant.name,
    pipeline: parameter('pipeline'),
    project: found.project,
    branch: parameter('branch'),
  };
  const answer = await shared(JSON.stringify(question), () => freezeBranch(question));
  if (answer === undefined) return tooManyWait('frozen jobs');
  switch (answer.kind) {
    case 'frozen':
      return answer.jobs;
    case 'absent':
      return notFound(answer.text, answer.place);
    case 'unusable':
      return notFound(`the jobs cannot be frozen: ${answer.text}`, 'configuration');
    case 'costly':
      return askLater(answer.text);
  }
}

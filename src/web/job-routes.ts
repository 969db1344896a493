/**
 * One job and one project as they are configured, at Zuul's paths, and statistics of jobs. Equal questions share an answer, one is computed
 * at a time, and of the history a bounded number of builds is read.
 */
import type { Router } from 'express';
import { type JobsDocument, jobDocument, jobsDocument, projectDocument } from '../api/described.ts';
import { jobStatistics, jobsStatistics } from '../api/job-statistics.ts';
import type { DescribedThing, LayoutDescription } from '../model/layout-description.ts';
import { type Answer, type HttpRefusal, jsonAnswer, notFound } from './answer.ts';
import type { WebDeps } from './deps.ts';
import { projectNamed } from './project-named.ts';
import { askLater, sharedAnswers, tooManyWait } from './shared-answers.ts';
import { type FoundTenant, inTenant } from './tenant-access.ts';

/** Builds that are read of one job, and of all jobs together. */
const OF_ONE = 2000;
const OF_ALL = 5000;

/** @param router of a tenant. */
export function addJobRoutes(router: Router, deps: WebDeps): void {
  const shared = sharedAnswers<Answer>(deps.clock);
  const answer = async (key: readonly string[], make: () => Promise<Answer>) =>
    (await shared(JSON.stringify(key), make)) ?? tooManyWait('statistics');
  const described = (
    tenant: FoundTenant,
    thing: DescribedThing,
    show: (description: LayoutDescription) => Answer,
  ) =>
    answer([tenant.name, JSON.stringify(thing)], async () => {
      const found = await deps.describe(tenant.name, thing);
      return found.kind === 'costly' ? askLater(found.text) : show(found);
    });
  router.get(
    '/jobs',
    inTenant(deps, async tenant =>
      answer([tenant.name, 'jobs'], async () => {
        const found = await deps.describe(tenant.name, { kind: 'jobs' });
        // Their names are always there.
        const all = found.kind === 'jobs' ? jobsDocument(found.jobs) : namesOf(tenant);
        return jsonAnswer(all);
      }),
    ),
  );
  router.get(
    '/job/:job',
    inTenant(deps, async (tenant, { parameter }) => {
      const name = parameter('job');
      return described(tenant, { kind: 'job', name }, found =>
        found.kind === 'job' ? jsonAnswer(jobDocument(found.variants)) : noJob(name),
      );
    }),
  );
  router.get(
    '/project/*project',
    inTenant(deps, async (tenant, { parameter }) => {
      const named = projectNamed(parameter('project'), tenant);
      if (named.kind === 'refused') return named;
      const { project } = named;
      const known = tenant.snapshot.projects.find(each => each.project === project);
      return described(tenant, { kind: 'project', project }, found =>
        found.kind === 'project'
          ? jsonAnswer(projectDocument(project, known?.canonicalName ?? project, found.project))
          : notFound('the configuration in force has no such project', 'path: project'),
      );
    }),
  );
  router.get(
    '/jobs/statistics',
    inTenant(deps, ({ name: tenant }) =>
      answer([tenant], async () => {
        const runs = await deps.history.recentRuns({ tenant, limit: OF_ALL });
        return jsonAnswer(jobsStatistics(runs, OF_ALL));
      }),
    ),
  );
  router.get(
    '/job/:job/statistics',
    inTenant(deps, ({ name: tenant, snapshot }, { parameter }) => {
      const job = parameter('job');
      return answer([tenant, job], async () => {
        const runs = await deps.history.recentRuns({ tenant, job, limit: OF_ONE });
        const isKnown = runs.length > 0 || snapshot.jobs.some(({ name }) => name === job);
        if (!isKnown) return noJob(job);
        return jsonAnswer(jobStatistics(job, runs, OF_ONE));
      });
    }),
  );
}

function namesOf({ snapshot: { jobs } }: FoundTenant): JobsDocument {
  return jobs.map(({ name }) => ({ name })).toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function noJob(name: string): HttpRefusal {
  return notFound(`there is no job ${JSON.stringify(name.slice(0, 200))}`, 'path: job');
}

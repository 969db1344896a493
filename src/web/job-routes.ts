/** Statistics of jobs. Equal questions share an answer, one is computed at a time, and each reads a bounded number of builds. */
import type { Router } from 'express';
import { jobStatistics, jobsStatistics } from '../api/job-statistics.ts';
import { type Answer, jsonAnswer, notFound } from './answer.ts';
import type { WebDeps } from './deps.ts';
import { sharedAnswers, tooManyWait } from './shared-answers.ts';
import { inTenant } from './tenant-access.ts';

/** Builds that are read of one job, and of all jobs together. */
const OF_ONE = 2000;
const OF_ALL = 5000;

/** @param router of a tenant. */
export function addJobRoutes(router: Router, deps: WebDeps): void {
  const shared = sharedAnswers<Answer>(deps.clock);
  const answer = async (key: readonly string[], make: () => Promise<Answer>) =>
    (await shared(JSON.stringify(key), make)) ?? tooManyWait('statistics');
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
        if (!isKnown) return notFound(`there is no job ${JSON.stringify(job.slice(0, 200))}`, 'path: job');
        return jsonAnswer(jobStatistics(job, runs, OF_ONE));
      });
    }),
  );
}

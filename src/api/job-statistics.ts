/**
 * How often jobs pass, how long they take and how flaky they are, from the newest finished builds.
 *
 * Only what a job says of a change is a verdict: `passed` and `failed` count those, `other` the rest (cancelled, skipped, lost machines).
 * A build is flaky when it failed and another build of the job passed with the same state of the same change.
 */
import type { Run } from '../history/recent-runs.ts';
import { millisecondsBetween, parseNanoseconds, toMilliseconds } from '../lib/clock.ts';
import { percentile } from '../lib/percentile.ts';
import { projectIdOf } from '../model/project.ts';
import { type Document, document, flag, list, nullable, number, text, together, whole } from './schema.ts';

const numbersSchema = document({
  builds: whole(),
  passed: whole(),
  failed: whole(),
  flaky: whole('Of the failed ones'),
  other: whole('Without a verdict: cancelled, skipped, lost'),
  p50_ms: nullable(number(), 'Median duration of those that passed'),
  p95_ms: nullable(number(), '95th percentile of the same'),
});
type Numbers = Document<typeof numbersSchema>;

const countedSchema = document({
  counted: whole('Newest finished builds that were read'),
  whole: flag('They are all that there are'),
});

/** `GET …/jobs/statistics`. */
export const jobsStatisticsSchema = together(
  countedSchema,
  document({ jobs: list(together(document({ job: text() }), numbersSchema), 'By name') }),
);
/** Read by the list of jobs. */
export type JobsStatisticsDocument = Document<typeof jobsStatisticsSchema>;

/** `GET …/job/<job>/statistics`. */
export const jobStatisticsSchema = together(
  countedSchema,
  document({
    job: text(),
    total: numbersSchema,
    days: list(together(document({ day: text('In UTC: 2026-11-20') }), numbersSchema), 'Newest first'),
    projects: list(together(document({ project: text() }), numbersSchema), 'By name'),
  }),
);
/** Read by the page of a job. */
export type JobStatisticsDocument = Document<typeof jobStatisticsSchema>;

/** Results that say something about the change. */
const FAILED = new Set(['FAILURE', 'TIMED_OUT', 'POST_FAILURE']);

/** @param runs newest first. @param limit how many were asked for. */
export function jobsStatistics(runs: readonly Run[], limit: number): JobsStatisticsDocument {
  const flaky = flakyRuns(runs);
  const jobs = Map.groupBy(runs, ({ job }) => job);
  return {
    ...counted(runs, limit),
    jobs: [...jobs]
      .map(([job, own]) => ({ job, ...numbersOf(own, flaky) }))
      .toSorted((a, b) => (a.job < b.job ? -1 : 1)),
  };
}

/** @param runs of the job, newest first. @param limit how many were asked for. */
export function jobStatistics(job: string, runs: readonly Run[], limit: number): JobStatisticsDocument {
  const flaky = flakyRuns(runs);
  const days = Map.groupBy(runs, dayOf);
  const projects = Map.groupBy(runs, run => projectIdOf(run.project_key).name);
  return {
    ...counted(runs, limit),
    job,
    total: numbersOf(runs, flaky),
    days: [...days]
      .flatMap(([day, own]) => (day === undefined ? [] : [{ day, ...numbersOf(own, flaky) }]))
      .toSorted((a, b) => (a.day > b.day ? -1 : 1)),
    projects: [...projects]
      .map(([project, own]) => ({ project, ...numbersOf(own, flaky) }))
      .toSorted((a, b) => (a.project < b.project ? -1 : 1)),
  };
}

function counted(runs: readonly Run[], limit: number): Document<typeof countedSchema> {
  return { counted: runs.length, whole: runs.length < limit };
}

/** Undefined: it never ended. */
function dayOf({ end_time: end }: Run): string | undefined {
  return end === null
    ? undefined
    : new Date(toMilliseconds(parseNanoseconds(end))).toISOString().slice(0, 10);
}

function flakyRuns(runs: readonly Run[]): ReadonlySet<Run> {
  const passed = new Set(runs.filter(({ result }) => result === 'SUCCESS').map(testedState));
  return new Set(runs.filter(run => hasFailed(run) && passed.has(testedState(run))));
}

/** The same for builds of a job that tested the same state of the same change. */
function testedState({ job, project_key, change, patchset, ref, newrev }: Run): string {
  return JSON.stringify([job, project_key, change, patchset, ref, newrev]);
}

function hasFailed({ result }: Run): boolean {
  return result !== null && FAILED.has(result);
}

function numbersOf(runs: readonly Run[], flaky: ReadonlySet<Run>): Numbers {
  const good = runs.filter(({ result }) => result === 'SUCCESS');
  const failed = runs.filter(hasFailed);
  const durations = good.flatMap(durationOf).toSorted((a, b) => a - b);
  return {
    builds: runs.length,
    passed: good.length,
    failed: failed.length,
    flaky: failed.filter(run => flaky.has(run)).length,
    other: runs.length - good.length - failed.length,
    p50_ms: percentile(durations, 0.5),
    p95_ms: percentile(durations, 0.95),
  };
}

function durationOf({ start_time: from, end_time: to }: Run): readonly number[] {
  return from === null || to === null
    ? []
    : [millisecondsBetween(parseNanoseconds(from), parseNanoseconds(to))];
}

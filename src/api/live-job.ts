/** The jobs of an item's present buildset, in its document: each at its last attempt. */
import { toMilliseconds } from '../lib/clock.ts';
import { type Build, isPaused, resultOf, returnedBy, skipText } from '../model/build.ts';
import { currentBuild, graphOf } from '../model/build-set.ts';
import { culpritText, removalText } from '../model/cause.ts';
import type { JobNode } from '../model/job.ts';
import { type JobStanding, jobStandings, waitText } from '../model/job-standing.ts';
import type { QueueItem } from '../model/queue-item.ts';
import {
  type Document,
  document,
  flag,
  list,
  milliseconds,
  nullable,
  number,
  oneOf,
  text,
  uuid,
  whole,
} from './schema.ts';

/** Each of `jobs` in an item's document. */
export const liveJobSchema = document({
  name: text(),
  voting: flag(),
  attempts: whole('Maximum number of attempts'),
  dependencies: list(text('Name of a job')),
  expectedMs: nullable(number('Usual duration in milliseconds')),
  waitingFor: nullable(text("As Zuul's waiting_status")),
  build: nullable(uuid('Of the last attempt')),
  state: oneOf(['waiting', 'requested', 'started', 'completed', 'cancelled', 'skipped']),
  attempt: whole('From 1'),
  result: nullable(
    text(
      'Result of the build; FAILING: its run phase has failed, post-run is running; PAUSED: it waits for those that depend on it',
    ),
  ),
  requestedAt: nullable(milliseconds()),
  startedAt: nullable(milliseconds()),
  endedAt: nullable(milliseconds()),
  worker: nullable(text('The executor')),
  detail: nullable(text('Reason of the result, for people')),
  warnings: list(text(), 'Left by the job, or about what it returned'),
});
/** One job of the present buildset, at its last attempt; before the job graph is frozen there is none. */
export type LiveJob = Document<typeof liveJobSchema>;

/** Of the job graph in its order; before it is frozen there is none. @param expected usual durations by job name, in milliseconds. */
export function liveJobs(item: QueueItem, expected: ReadonlyMap<string, number>): readonly LiveJob[] {
  const jobs = graphOf(item.buildset)?.jobs ?? [];
  const standings = jobStandings(item.buildset);
  return jobs.map(job => shownJob(item, job, standings.get(job.name), expected.get(job.name) ?? null));
}

function shownJob(
  item: QueueItem,
  job: JobNode,
  standing: JobStanding | undefined,
  expectedMs: number | null,
): LiveJob {
  const build = currentBuild(item.buildset, job.name);
  return {
    name: job.name,
    voting: job.voting,
    attempts: job.attempts,
    dependencies: job.dependencies.map(dependency => dependency.name),
    expectedMs,
    waitingFor: standing === undefined ? null : waitText(standing),
    ...(build === undefined
      ? {
          build: null,
          state: 'waiting' as const,
          attempt: 1,
          result: null,
          startedAt: null,
          endedAt: null,
          requestedAt: null,
          worker: null,
          detail: null,
          warnings: [],
        }
      : shownBuild(build)),
  };
}

function shownBuild(build: Build) {
  const { state } = build;
  const startedAt =
    state.state === 'started'
      ? state.at
      : state.state === 'completed' || state.state === 'cancelled'
        ? state.startedAt
        : null;
  const ended = state.state === 'completed' || state.state === 'cancelled' || state.state === 'skipped';
  return {
    build: build.uuid,
    state: state.state,
    attempt: build.attempt,
    result: resultOf(build) ?? standIn(build),
    requestedAt: toMilliseconds(build.requestedAt),
    startedAt: startedAt === null ? null : toMilliseconds(startedAt),
    endedAt: ended ? toMilliseconds(state.at) : null,
    worker: 'worker' in state ? state.worker : null,
    detail: detailOfBuild(build),
    warnings: returnedBy(build)?.warnings ?? [],
  };
}

/** In place of the result while there is none. */
function standIn(build: Build): 'FAILING' | 'PAUSED' | null {
  if (isPaused(build)) return 'PAUSED';
  return build.state.state === 'started' && build.state.failingSince !== undefined ? 'FAILING' : null;
}

/** Reason of the result in one line, for people; null: there is none. */
export function detailOfBuild({ state }: Build): string | null {
  switch (state.state) {
    case 'started':
      return state.earlyFailure ?? null;
    case 'completed':
      return state.detail ?? null;
    case 'skipped':
      return skipText(state);
    case 'cancelled':
      if (state.cause.left !== undefined) return removalText(state.cause.left, state.cause.remover);
      return state.cause.culprit === null ? null : culpritText(state.cause.culprit);
    default:
      return null;
  }
}

/**
 * What finished items of a pipeline say about those to come: how long each job takes, how often it fails, and how long everything
 * around jobs takes. Pure.
 */
import { earlierOf, millisecondsBetween } from '../lib/clock.ts';
import type { Uuid } from '../lib/ids.ts';
import { leadChange } from '../model/about-item.ts';
import { type Build, endOfBuild, isRetried, resultOf, startOfBuild } from '../model/build.ts';
import { type BuildSet, graphOf } from '../model/build-set.ts';
import type { JobName, ProjectKey } from '../model/project.ts';
import { buildsetsOf, endOfItem, type QueueItem } from '../model/queue-item.ts';
import { isGood } from '../model/results.ts';
import { type JobWork, jobToRun } from './item-work.ts';

/** Newest values that count, of each kind. */
const MOST_SAMPLES = 60;

/** What one finished item says: small, since many are kept in memory. Durations are milliseconds. */
export interface FinishedWork {
  readonly uuid: Uuid;
  readonly project: ProjectKey;
  /** The jobs of its last buildset, none of them begun. */
  readonly listed: readonly JobWork[];
  /** Of all its buildsets, the newest first: the time from the start of a job's first try to the end of its last. */
  readonly jobs: readonly {
    readonly name: JobName;
    readonly ms: number;
    readonly good: boolean;
    readonly voting: boolean;
  }[];
  /** From the first request to a merger to the first request for a build. */
  readonly preparations: readonly number[];
  /** From the request for a build to its start. */
  readonly waits: readonly number[];
  /** Of jobs for their semaphores, until they had them. */
  readonly semaphoreWaits: readonly { readonly names: readonly string[]; readonly ms: number }[];
  /** From the request for the last report to the end of the item. */
  readonly reports: readonly number[];
}

/** @param item has left. */
export function finishedWork(item: QueueItem): FinishedWork {
  const buildsets = buildsetsOf(item).toReversed();
  return {
    uuid: item.uuid,
    project: leadChange(item).project,
    listed: (graphOf(item.buildset)?.jobs ?? []).map(jobToRun),
    jobs: buildsets.flatMap(({ builds }) =>
      [...Map.groupBy(builds, ({ job }) => job)].flatMap(([name, tries]) => tookOf(name, tries)),
    ),
    preparations: buildsets.flatMap(preparationOf),
    waits: buildsets.flatMap(({ builds }) => builds.flatMap(waitOf)),
    semaphoreWaits: buildsets.flatMap(semaphoreWaitsOf),
    reports: reportOf(item),
  };
}

/** @param tries of one job, oldest first. @returns nothing unless it ran to its end. */
function tookOf(name: JobName, tries: readonly Build[]): FinishedWork['jobs'] {
  const last = tries.at(-1);
  if (last === undefined || isRetried(last)) return [];
  const { state, voting } = last;
  // That a job which passed left it out is no failure, and costs nothing.
  if (state.state === 'skipped' && state.filtered === true) return [{ name, ms: 0, good: true, voting }];
  if (state.state !== 'completed') return [];
  const start = tries.map(startOfBuild).find(each => each !== null);
  const [end, result] = [endOfBuild(last), resultOf(last)];
  if (start === undefined || start === null || end === null || result === undefined) return [];
  const ms = Math.max(0, millisecondsBetween(start, end));
  return [{ name, ms, good: isGood(result), voting }];
}

function preparationOf({ createdAt, mergerWork, builds }: BuildSet): readonly number[] {
  const requests = builds.flatMap(({ state, requestedAt }) => (state.state === 'skipped' ? [] : requestedAt));
  if (requests.length === 0) return [];
  const ms = millisecondsBetween(mergerWork[0]?.requestedAt ?? createdAt, requests.reduce(earlierOf));
  return [Math.max(0, ms)];
}

function waitOf(build: Build): readonly number[] {
  const start = startOfBuild(build);
  return start === null ? [] : [Math.max(0, millisecondsBetween(build.requestedAt, start))];
}

function semaphoreWaitsOf({ semaphoreWaits = [] }: BuildSet): FinishedWork['semaphoreWaits'] {
  return semaphoreWaits.flatMap(({ semaphores, since, ended }) =>
    ended?.outcome === 'taken' ? [{ names: semaphores, ms: millisecondsBetween(since, ended.at) }] : [],
  );
}

function reportOf(item: QueueItem): readonly number[] {
  const [end, last] = [endOfItem(item), item.reports.at(-1)];
  const isReported = item.phase.phase === 'left' && item.phase.reason === 'reported';
  if (end === null || last === undefined || !isReported) return [];
  return [Math.max(0, millisecondsBetween(last.requestedAt, end))];
}

/** Milliseconds, newest first. */
interface JobRecord {
  readonly good: readonly number[];
  /** Of those that failed. */
  readonly bad: readonly number[];
}

/** Times are those of {@link FinishedWork}, newest first. */
export interface RecentWork extends Pick<FinishedWork, 'preparations' | 'waits' | 'reports'> {
  /** Undefined: it has not ended for the project lately. */
  job(project: ProjectKey, name: JobName): JobRecord | undefined;
  /** Of all jobs that vote, 0 to 1. */
  readonly failureShare: number;
  /** How long jobs waited for it lately, those that got it at once left out. */
  semaphoreWaits(name: string): readonly number[];
  /** Those that the newest item of the project had; undefined: none of it ended lately. */
  usualJobs(project: ProjectKey): readonly JobWork[] | undefined;
}

/** With the usual duration of jobs that have not passed in the pipeline lately, but elsewhere. @param usual milliseconds. */
export function withUsual(
  recent: RecentWork,
  usual: (project: ProjectKey, name: JobName) => number | undefined,
): RecentWork {
  return {
    ...recent,
    job(project, name) {
      const own = recent.job(project, name);
      const ms = own === undefined || own.good.length === 0 ? usual(project, name) : undefined;
      return ms === undefined ? own : { good: [ms], bad: own?.bad ?? [] };
    },
  };
}

/** @param finished newest first. */
export function recentWork(finished: readonly FinishedWork[]): RecentWork {
  const jobs = new Map<string, { readonly good: number[]; readonly bad: number[] }>();
  const usual = new Map<ProjectKey, readonly JobWork[]>();
  const voted = { ended: 0, failed: 0 };
  for (const { project, listed, ...item } of finished) {
    if (listed.length > 0 && !usual.has(project)) usual.set(project, listed);
    for (const { name, ms, good, voting } of item.jobs) {
      const record = jobs.get(keyOf(project, name)) ?? { good: [], bad: [] };
      jobs.set(keyOf(project, name), record);
      const samples = good ? record.good : record.bad;
      if (samples.length < MOST_SAMPLES) samples.push(ms);
      if (!voting) continue;
      voted.ended += 1;
      if (!good) voted.failed += 1;
    }
  }
  const newest = (of: (item: FinishedWork) => readonly number[]) =>
    finished.flatMap(of).slice(0, MOST_SAMPLES);
  const semaphoreWaits = finished.flatMap(item => item.semaphoreWaits).slice(0, MOST_SAMPLES);
  return {
    semaphoreWaits: name => semaphoreWaits.flatMap(({ names, ms }) => (names.includes(name) ? [ms] : [])),
    job: (project, name) => jobs.get(keyOf(project, name)),
    failureShare: voted.failed / (voted.ended + 1),
    preparations: newest(item => item.preparations),
    waits: newest(item => item.waits),
    reports: newest(item => item.reports),
    usualJobs: project => usual.get(project),
  };
}

function keyOf(project: ProjectKey, name: JobName): string {
  return `${project}\n${name}`;
}

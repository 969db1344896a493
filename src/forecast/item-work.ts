/** What a forecast reads of an item: its jobs, and how far they were at one moment. Times are milliseconds since the epoch. */
import { type Nanoseconds, toMilliseconds } from '../lib/clock.ts';
import type { Uuid } from '../lib/ids.ts';
import { leadChange } from '../model/about-item.ts';
import { type Build, endOfBuild, isRetried, resultOf, startOfBuild } from '../model/build.ts';
import { type BuildSet, graphOf } from '../model/build-set.ts';
import type { JobNode } from '../model/job.ts';
import type { JobName, ProjectKey } from '../model/project.ts';
import { buildsetsOf, type QueueItem } from '../model/queue-item.ts';
import { isGood } from '../model/results.ts';

/** Retries are part of the job: it has started when its first try did. */
export type JobProgress =
  | { readonly state: 'waiting' }
  /** No executor has taken it. */
  | { readonly state: 'requested'; readonly since: number }
  /** `failing`: certain to fail, although it still runs. */
  | { readonly state: 'started'; readonly since: number; readonly failing: boolean }
  | { readonly state: 'ended'; readonly at: number; readonly good: boolean };

/** One job of {@link ItemWork}. */
export interface JobWork {
  readonly name: JobName;
  readonly voting: boolean;
  /** Names of jobs; those that are not of the item are of no effect. */
  readonly after: readonly JobName[];
  /** Names; empty: none. */
  readonly semaphores: readonly string[];
  /** Since when it could run if it had these; absent: it does not wait for them. */
  readonly awaitsSince?: number;
  readonly progress: JobProgress;
}

/** An item at one moment. */
export interface ItemWork {
  readonly uuid: Uuid;
  /** Of its change; of a cycle, of the first one. */
  readonly project: ProjectKey;
  /** Runs no jobs, and is of no effect on when others leave. */
  readonly isDependency: boolean;
  /** Of the code host, which fails for an unknown time. */
  readonly waitsForHost: boolean;
  /** Its buildset has ended, and not with success: also without jobs, as with a merge conflict. */
  readonly hasFailed: boolean;
  /** In configuration order; null: not known yet. */
  readonly jobs: readonly JobWork[] | null;
}

/** An item in its queue, of which the rest is read only if it is planned. */
export interface QueuedWork extends Pick<ItemWork, 'uuid' | 'isDependency'> {
  readonly work: () => ItemWork;
}

/** See {@link workAt}. */
export function queuedWork(item: QueueItem, at: Nanoseconds): QueuedWork {
  return { uuid: item.uuid, isDependency: item.role === 'dependency', work: () => workAt(item, at) };
}

/** @param at not before it entered; what happened later is not seen. */
export function workAt(item: QueueItem, at: Nanoseconds): ItemWork {
  const now = toMilliseconds(at);
  const buildset = buildsetsOf(item).findLast(({ createdAt }) => toMilliseconds(createdAt) <= now);
  return {
    uuid: item.uuid,
    project: leadChange(item).project,
    isDependency: item.role === 'dependency',
    waitsForHost: item.hostWait !== undefined && toMilliseconds(item.hostWait.since) <= now,
    hasFailed: buildset !== undefined && hasFailedAt(buildset, now),
    jobs: buildset === undefined ? null : jobsAt(buildset, now, item.phase.phase === 'left'),
  };
}

function hasFailedAt({ stage }: BuildSet, now: number): boolean {
  return stage.state === 'complete' && stage.result !== 'SUCCESS' && toMilliseconds(stage.at) <= now;
}

/** @param isOver the jobs of finished items are on record, and were known at the time if one of them had begun. */
function jobsAt(buildset: BuildSet, now: number, isOver: boolean): readonly JobWork[] | null {
  const graph = graphOf(buildset);
  if (graph === null) return null;
  if (isOver && !buildset.builds.some(({ requestedAt }) => toMilliseconds(requestedAt) <= now)) return null;
  const builds = Map.groupBy(buildset.builds, ({ job }) => job);
  return graph.jobs.map(job => ({
    ...jobToRun(job),
    ...awaitedAt(buildset, job.name, now),
    progress: progressAt(builds.get(job.name) ?? [], now),
  }));
}

function awaitedAt(
  { semaphoreWaits = [] }: BuildSet,
  name: JobName,
  now: number,
): Pick<JobWork, 'awaitsSince'> {
  const open = semaphoreWaits.find(
    ({ job, since, ended }) =>
      job === name && toMilliseconds(since) <= now && (ended === null || toMilliseconds(ended.at) > now),
  );
  return open === undefined ? {} : { awaitsSince: toMilliseconds(open.since) };
}

/** A job that has not begun. */
export function jobToRun({ name, voting, dependencies, semaphores = [] }: JobNode): JobWork {
  return {
    name,
    voting,
    after: dependencies.map(dependency => dependency.name),
    semaphores: semaphores.map(semaphore => semaphore.name),
    progress: { state: 'waiting' },
  };
}

/** @param tries of one job, oldest first. */
function progressAt(tries: readonly Build[], now: number): JobProgress {
  const made = tries.filter(build => toMilliseconds(build.requestedAt) <= now);
  const last = made.at(-1);
  if (last === undefined) return { state: 'waiting' };
  const end = timeOf(endOfBuild(last));
  const result = resultOf(last);
  if (end !== null && end <= now && result !== undefined && !isRetried(last))
    return { state: 'ended', at: end, good: isGood(result) };
  const since = made.map(build => timeOf(startOfBuild(build))).find(start => start !== null && start <= now);
  if (since === undefined || since === null)
    return { state: 'requested', since: toMilliseconds(last.requestedAt) };
  return { state: 'started', since, failing: isFailingAt(last, now) };
}

function isFailingAt({ state }: Build, now: number): boolean {
  return (
    state.state === 'started' && state.failingSince !== undefined && toMilliseconds(state.failingSince) <= now
  );
}

function timeOf(time: Nanoseconds | null): number | null {
  return time === null ? null : toMilliseconds(time);
}

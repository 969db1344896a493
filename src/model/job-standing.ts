/**
 * Where each job of a buildset stands, and what exactly a job that has not started waits for. A turn acts on this, and page,
 * API and command line show it: what is shown cannot differ from what was decided.
 *
 * A job starts when nothing holds the starts of its buildset (`BuildSet.startHold`), and all its parents (hard and soft)
 * have ended well or are paused. One failed parent skips it at once, even while other parents still run, and all that depend on it in
 * turn, soft or not. A parent that returned `zuul.child_jobs` skips those it left out, an empty list only the hard ones; a parent that was
 * skipped for that skips a job only if the dependency is hard. Soft dependencies on jobs that do not run for this change were dropped when
 * the graph was frozen. After a fail-fast failure nothing starts any more: what has not started is skipped.
 *
 *     merge SUCCESS, unit running, lint RETRY, docs (needs unit), deploy (needs a failed job)
 *     → ended, open, startable, waits for dependencies (unit), skip
 */
import { assertNever } from '../lib/assert-never.ts';
import { type Build, isOpen, isPaused, isRetried, resultOf, returnedBy } from './build.ts';
import { type BuildSet, currentBuild, type StartHold } from './build-set.ts';
import type { JobNode } from './job.ts';
import { awaitsNodes, labelsText } from './node-wait.ts';
import type { JobName } from './project.ts';
import { isGood } from './results.ts';

/** Where one job stands. */
export type JobStanding =
  | { readonly kind: 'ended'; readonly build: Build }
  | { readonly kind: 'open'; readonly build: Build }
  /** Nothing is in its way. */
  | { readonly kind: 'startable'; readonly attempt: number }
  | { readonly kind: 'waits'; readonly for: JobWait }
  /** It will never start, because of that job. `filtered`: it left this one out. */
  | { readonly kind: 'skip'; readonly because: JobName; readonly filtered?: true };

/** What a job that has not started waits for. */
export type JobWait =
  | { readonly on: 'dependencies'; readonly jobs: readonly JobName[] }
  /** The heads of other projects are still read. */
  | { readonly on: 'repo-state' }
  /** Other builds hold them. */
  | { readonly on: 'semaphores'; readonly names: readonly string[] }
  /** Builds of changes ahead have not provided them. */
  | { readonly on: 'requirements'; readonly names: readonly string[] }
  | StartHold;

/** The last attempt of every job that has one. */
export function currentBuilds(buildset: BuildSet): Map<JobName, Build> {
  const builds = new Map<JobName, Build>();
  for (const build of buildset.builds) builds.set(build.job, build);
  return builds;
}

/** Ended for good: not open and not to be tried again. */
export function isFinal(build: Build): boolean {
  return !isOpen(build) && !isRetried(build);
}

/** A verdict against the change: ended otherwise than well, or certain to. A cancelled build is no verdict. */
export function isFailed(build: Build): boolean {
  if (build.outdatedBy !== undefined) return false;
  if (build.state.state === 'started') return build.state.failingSince !== undefined;
  return build.state.state === 'completed' && build.state.result !== 'RETRY' && !isGood(build.state.result);
}

/** The build of a voting fail-fast job that has failed for good, or undefined. */
export function failFastCulprit(jobs: readonly JobNode[], buildset: BuildSet): Build | undefined {
  for (const job of jobs) {
    if (!job.failFast || !job.voting) continue;
    const build = currentBuild(buildset, job.name);
    if (build?.state.state === 'completed' && isFailed(build)) return build;
  }
  return undefined;
}

/**
 * Where one job stands.
 *
 * @param builds the last attempt of every job that has one.
 * @param stopped the build whose fail-fast failure keeps other jobs from starting.
 * @param hold what holds all jobs of the buildset; undefined: nothing.
 */
export function jobStanding(
  job: JobNode,
  builds: ReadonlyMap<JobName, Build>,
  stopped: Build | undefined,
  hold: Exclude<JobWait, { on: 'dependencies' | 'semaphores' | 'requirements' }> | undefined,
): JobStanding {
  const build = builds.get(job.name);
  if (build !== undefined && isOpen(build)) return { kind: 'open', build };
  if (build !== undefined && isFinal(build)) return { kind: 'ended', build };
  if (stopped !== undefined) return { kind: 'skip', because: stopped.job };
  const waiting: JobName[] = [];
  for (const dependency of job.dependencies) {
    const parent = builds.get(dependency.name);
    if (parent === undefined || !(isFinal(parent) || isPaused(parent))) waiting.push(dependency.name);
    else if (blocks(parent, dependency.soft, builds)) return { kind: 'skip', because: dependency.name };
    else if (leavesOut(parent, job, dependency.soft))
      return { kind: 'skip', because: dependency.name, filtered: true };
  }
  if (waiting.length > 0) return { kind: 'waits', for: { on: 'dependencies', jobs: waiting } };
  if (hold !== undefined) return { kind: 'waits', for: hold };
  return { kind: 'startable', attempt: (build?.attempt ?? 0) + 1 };
}

function blocks(parent: Build, soft: boolean, builds: ReadonlyMap<JobName, Build>): boolean {
  if (isPaused(parent)) return false;
  const result = resultOf(parent);
  return result === 'SKIPPED' ? !(soft && wasLeftOut(parent, builds)) : result !== 'SUCCESS';
}

/** It was skipped because a `zuul.child_jobs`, of whichever job above it, left it or those between out: nothing failed. */
function wasLeftOut(skipped: Build, builds: ReadonlyMap<JobName, Build>): boolean {
  let { state } = skipped;
  for (let left = builds.size; state.state === 'skipped' && left > 0; left -= 1) {
    if (state.filtered === true) return true;
    const above = builds.get(state.because);
    if (above === undefined) return false;
    state = above.state;
  }
  return false;
}

/** As in Zuul an empty list leaves only those out that cannot do without it. */
function leavesOut(parent: Build, { name, plainName = name }: JobNode, soft: boolean): boolean {
  const children = returnedBy(parent)?.childJobs;
  if (children === undefined) return false;
  return children.length === 0 ? !soft : !children.includes(plainName);
}

/** Of every job, by the record alone; empty before the jobs are frozen and after the buildset has ended. */
export function jobStandings(buildset: BuildSet): ReadonlyMap<JobName, JobStanding> {
  const { stage } = buildset;
  if (stage.state !== 'repo-state' && stage.state !== 'running') return new Map();
  const { jobs } = stage.graph;
  const builds = currentBuilds(buildset);
  const failed = failFastCulprit(jobs, buildset);
  const hold = stage.state === 'repo-state' ? ({ on: 'repo-state' } as const) : buildset.startHold;
  return new Map(
    jobs.map(job => {
      const standing = jobStanding(job, builds, failed, hold);
      const wait = standing.kind === 'startable' ? openWait(buildset, job.name) : undefined;
      return [job.name, wait === undefined ? standing : { kind: 'waits', for: wait }];
    }),
  );
}

/** What a job waits for that could start otherwise, as of the last turn; undefined: nothing. */
function openWait({ semaphoreWaits, requirementWaits }: BuildSet, job: JobName): JobWait | undefined {
  const lacks = requirementWaits?.find(wait => wait.job === job && wait.ended === null);
  if (lacks !== undefined) return { on: 'requirements', names: lacks.requires };
  const full = semaphoreWaits?.find(wait => wait.job === job && wait.ended === null);
  return full === undefined ? undefined : { on: 'semaphores', names: full.semaphores };
}

function openText(build: Build): string | null {
  if (build.nodes !== undefined && awaitsNodes(build)) return `nodes: ${labelsText(build.nodes.labels)}`;
  return build.state.state === 'requested' ? 'executor' : null;
}

/** What a job waits for, in the words operators of Zuul know; null: nothing. */
export function waitText(standing: JobStanding): string | null {
  if (standing.kind === 'open') return openText(standing.build);
  if (standing.kind !== 'waits') return null;
  const { for: wait } = standing;
  switch (wait.on) {
    case 'dependencies':
      return `dependencies: ${wait.jobs.join(', ')}`;
    case 'window':
      return 'window';
    case 'paused':
      return `paused: ${wait.reason}`;
    case 'repo-state':
      return 'repo state';
    case 'semaphores':
      return `semaphores: ${wait.names.join(', ')}`;
    case 'requirements':
      return `requirements: ${wait.names.join(', ')}`;
    case 'hold-following':
      return `hold-following: ${wait.item}`;
    case 'host':
      return `code host: ${wait.project}`;
    default:
      return assertNever(wait, 'what a job waits for');
  }
}

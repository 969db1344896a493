/**
 * Where each job of a buildset stands, and what exactly a job that has not started waits for. `start-jobs.ts` acts on
 * this and an explanation prints it: the explanation cannot differ from the decision.
 *
 * A job starts when the item is active, no item ahead holds it, and all its parents (hard and soft) have ended well. One
 * failed parent skips it at once, even while other parents still run; a skipped parent skips it only if the dependency is
 * hard. Soft dependencies on jobs that do not run for this change were dropped when the graph was frozen. After a
 * fail-fast failure nothing starts any more: what has not started is skipped.
 *
 *     merge SUCCESS, unit running, lint RETRY, docs (needs unit), deploy (needs a failed job)
 *     → ended, open, startable, waits `dependencies: unit`, skip
 */
import { type Build, isOpen, isRetried, resultOf } from '../model/build.ts';
import { type BuildSet, currentBuild } from '../model/build-set.ts';
import type { JobNode } from '../model/job.ts';
import type { JobName } from '../model/project.ts';
import { isGood } from '../model/results.ts';

export type JobStanding =
  | { readonly kind: 'ended'; readonly build: Build }
  | { readonly kind: 'open'; readonly build: Build }
  /** Nothing is in its way. */
  | { readonly kind: 'startable'; readonly attempt: number }
  /** `dependencies: a, b`, `hold following: acme/app 7,1`, `window`. */
  | { readonly kind: 'waits'; readonly for: string }
  /** It will never start, because of that job. */
  | { readonly kind: 'skip'; readonly because: JobName };

/** What the item's surroundings say about starting jobs now. */
export interface StartGate {
  readonly active: boolean;
  /** The item ahead whose job must succeed first, as people read it. */
  readonly heldBy: string | null;
  /** The code host that builds of the item wait for. */
  readonly host: string | null;
}

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

export function jobStanding(
  job: JobNode,
  builds: ReadonlyMap<JobName, Build>,
  stopped: Build | undefined,
  gate: StartGate,
): JobStanding {
  const build = builds.get(job.name);
  if (build !== undefined && isOpen(build)) return { kind: 'open', build };
  if (build !== undefined && isFinal(build)) return { kind: 'ended', build };
  if (stopped !== undefined) return { kind: 'skip', because: stopped.job };
  const waiting: JobName[] = [];
  for (const dependency of job.dependencies) {
    const parent = builds.get(dependency.name);
    if (parent === undefined || !isFinal(parent)) waiting.push(dependency.name);
    else if (blocks(parent, dependency.soft)) return { kind: 'skip', because: dependency.name };
  }
  if (waiting.length > 0) return { kind: 'waits', for: `dependencies: ${waiting.join(', ')}` };
  if (!gate.active) return { kind: 'waits', for: 'window' };
  if (gate.heldBy !== null) return { kind: 'waits', for: `hold following: ${gate.heldBy}` };
  if (gate.host !== null) return { kind: 'waits', for: `code host: ${gate.host}` };
  return { kind: 'startable', attempt: (build?.attempt ?? 0) + 1 };
}

function blocks(parent: Build, soft: boolean): boolean {
  const result = resultOf(parent);
  return result === 'SKIPPED' ? !soft : result !== 'SUCCESS';
}

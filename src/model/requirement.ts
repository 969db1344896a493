/**
 * `provides` and `requires` of jobs: a job that requires what a job of a change ahead provides waits for its build, and gets its artifacts.
 *
 *     A: job image {provides: image} ◄─ B: job deploy {requires: image}      deploy waits for image of A
 */
import type { Nanoseconds } from '../lib/clock.ts';
import type { Uuid } from '../lib/ids.ts';
import type { ChangeKey } from './change.ts';
import type { JobName } from './project.ts';
import type { BuildResult } from './results.ts';
import type { Artifact } from './returned.ts';

/** A job's wait for builds of changes ahead, from the turn that could have started it. Part of the record `queue-item`. */
export interface RequirementWait {
  /** Its span. */
  readonly uuid: Uuid;
  readonly job: JobName;
  readonly since: Nanoseconds;
  /** What the job requires. */
  readonly requires: readonly string[];
  /** The item, with the text of its changes, whose build it waited for first. */
  readonly item: Uuid;
  readonly change: string;
  /** `met`: the builds have succeeded. `given-up`: it was reset, dequeued or skipped, or one of them failed. */
  readonly ended: null | { readonly at: Nanoseconds; readonly outcome: 'met' | 'given-up' };
}

/** A build of a job with `provides`, when its item has left. */
export interface ProvidedBuild {
  readonly uuid: Uuid;
  readonly job: JobName;
  readonly provides: readonly string[];
  readonly result: BuildResult;
  readonly artifacts: readonly Artifact[];
}

/** What the builds of one revision of a change provided. Part of the record `pipeline`. */
export interface ProvidedByChange {
  readonly change: ChangeKey;
  readonly patchset: string;
  readonly builds: readonly ProvidedBuild[];
}

/** For people: `image, which app A,1 provides`. */
export function requirementWaitText({
  requires,
  change,
}: Pick<RequirementWait, 'requires' | 'change'>): string {
  return `${requires.join(', ')}, which ${change} provides`;
}

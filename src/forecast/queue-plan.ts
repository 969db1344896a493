/** A queue made ready for many rollouts: names are indices, and each job has its samples. Pure. */
import type { ProjectKey } from '../model/project.ts';
import type { ItemWork, JobProgress, JobWork } from './item-work.ts';
import type { RecentWork } from './recent-work.ts';

/** Why there is no forecast of an item. */
export type Unknown =
  | { readonly code: 'host' }
  /** Nothing is known of its jobs, or of this one. */
  | { readonly code: 'no-record'; readonly job?: string }
  /** An operator paused its queue, and jobs of it have not begun. */
  | { readonly code: 'paused'; readonly reason: string }
  /** So of one ahead of it. */
  | { readonly code: 'ahead'; readonly place: number };

/** A job in a rollout. */
export interface PlannedJob {
  /** Indices of jobs of the same item, all of them before this one. */
  readonly after: readonly number[];
  readonly voting: boolean;
  readonly progress: JobProgress;
  /** As in {@link JobWork}. */
  readonly semaphores: readonly string[];
  readonly awaitsSince: number | undefined;
  /** Milliseconds, at least one. */
  readonly good: readonly number[];
  /** Milliseconds; none: it fails after as long as it passes. */
  readonly bad: readonly number[];
  /** How likely it fails, 0 to 1. */
  readonly risk: number;
}

/** An item in a rollout. */
export interface PlannedItem {
  /** Makes its random numbers its own, regardless of those ahead of it. */
  readonly seed: number;
  readonly jobs: readonly PlannedJob[];
  /** A job that votes has failed, or it could not run any. */
  readonly failing: boolean;
}

/** How many builds the failure share of the pipeline weighs, against those of a job. */
const PRIOR = 5;

/** @returns what is planned of each item, in the same order. */
export function planItem(item: ItemWork, recent: RecentWork): PlannedItem | Unknown {
  if (item.waitsForHost) return { code: 'host' };
  const jobs = item.jobs ?? (item.hasFailed ? [] : recent.usualJobs(item.project));
  if (jobs === undefined) return { code: 'no-record' };
  const planned: PlannedJob[] = [];
  const places = new Map<string, number>();
  for (const job of inOrder(jobs)) {
    const after = job.after.flatMap(name => places.get(name) ?? []);
    const made = planJob(job, after, item.project, recent);
    if ('code' in made) return made;
    places.set(job.name, planned.length);
    planned.push(made);
  }
  return {
    seed: seedOf(item.uuid),
    jobs: planned,
    failing:
      item.hasFailed ||
      planned.some(
        ({ voting, progress }) =>
          voting &&
          ((progress.state === 'ended' && !progress.good) ||
            (progress.state === 'started' && progress.failing)),
      ),
  };
}

function planJob(
  { name, voting, progress, semaphores, awaitsSince }: JobWork,
  after: readonly number[],
  project: ProjectKey,
  recent: RecentWork,
): PlannedJob | Unknown {
  const record = recent.job(project, name);
  // What it took does not matter any more, unless it has to run again.
  const good = record?.good ?? [];
  const bad = record?.bad ?? [];
  if (good.length === 0 && progress.state !== 'ended') return { code: 'no-record', job: name };
  const ended = good.length + bad.length;
  const risk = voting ? (bad.length + PRIOR * recent.failureShare) / (ended + PRIOR) : 0;
  const held = { semaphores, awaitsSince };
  return { after, voting, progress, ...held, good: good.length === 0 ? [0] : good, bad, risk };
}

/** Each behind those that it depends on. A name that is not there is no dependency. */
function inOrder(jobs: readonly JobWork[]): readonly JobWork[] {
  const byName = new Map(jobs.map(job => [job.name, job]));
  const ordered = new Set<JobWork>();
  const begun = new Set<JobWork>();
  const visit = (job: JobWork) => {
    if (begun.has(job)) return;
    begun.add(job);
    for (const name of job.after) {
      const parent = byName.get(name);
      if (parent !== undefined) visit(parent);
    }
    ordered.add(job);
  };
  jobs.forEach(visit);
  return [...ordered];
}

/** FNV-1a, 32 bits. */
function seedOf(text: string): number {
  let hash = 0x81_1c_9d_c5;
  for (let index = 0; index < text.length; index++)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01_00_01_93);
  return hash >>> 0;
}

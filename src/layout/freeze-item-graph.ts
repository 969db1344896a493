/**
 * The job graph of an item: that of its change or, of changes that depend on each other, the jobs of all of them together.
 *
 *     acme/app 1 runs unit and lint, acme/lib 7 runs unit    →    unit, lint, unit (acme/lib 7)
 *
 * A job that two changes run is one job where it would do the same work twice: its definition is equal, and it checks out the same
 * branches, because both changes are for one branch or the job names both projects in `required-projects` (Zuul's `deduplicate: auto`).
 */
import { assertNever } from '../lib/assert-never.ts';
import type { ConfigError } from '../model/config-error.ts';
import type { FrozenJob } from '../model/job.ts';
import type { FreezeOutcome, JobVerdict } from '../model/layout.ts';
import { type JobName, projectIdOf } from '../model/project.ts';
import { freezeJobGraph } from './freeze-job-graph.ts';
import type { FreezeChange, FreezeRequest } from './freeze-request.ts';

/** One change of an item. */
export interface ItemChange {
  /** As the host names it, for people: `7`. */
  readonly name: string;
  readonly change: FreezeChange;
}

type ItemFreezeRequest = Omit<FreezeRequest, 'change'> & {
  readonly changes: readonly [ItemChange, ...ItemChange[]];
};

/** A job of one of the changes, with the name it has in the item. */
interface NamedJob {
  readonly job: FrozenJob;
  readonly of: ItemChange;
}

/** `not-in-pipeline` when none of the changes' projects takes part; errors of any change are those of the item. */
export function freezeItemGraph({ changes, ...request }: ItemFreezeRequest): FreezeOutcome {
  const [first, ...others] = changes;
  const outcome = freezeJobGraph({ ...request, change: first.change });
  if (others.length === 0) return outcome;
  const outcomes = [
    { of: first, place: 0, outcome },
    ...others.map((of, index) => ({
      of,
      place: index + 1,
      outcome: freezeJobGraph({ ...request, change: of.change }),
    })),
  ];
  const errors = new Map<string, ConfigError>();
  const jobs: NamedJob[] = [];
  const verdicts: JobVerdict[] = [];
  let takesPart = false;
  for (const { of, place, outcome: own } of outcomes) {
    switch (own.kind) {
      case 'not-in-pipeline':
        break;
      case 'misconfigured':
        for (const error of own.errors) errors.set(JSON.stringify(error), error);
        break;
      case 'frozen':
        takesPart = true;
        add(of, place, own, jobs, verdicts);
        break;
      default:
        assertNever(own);
    }
  }
  const [error, ...more] = errors.values();
  if (error !== undefined) return { kind: 'misconfigured', errors: [error, ...more] };
  return takesPart
    ? { kind: 'frozen', jobs: jobs.map(({ job }) => job), verdicts }
    : { kind: 'not-in-pipeline' };
}

type Frozen = Extract<FreezeOutcome, { readonly kind: 'frozen' }>;

/** Adds the jobs and verdicts of one change to those of the changes before it. @param place of the change among the item's. */
function add(of: ItemChange, place: number, own: Frozen, jobs: NamedJob[], verdicts: JobVerdict[]): void {
  const before = [...jobs];
  const names = new Map<JobName, JobName>();
  const shared = new Set<JobName>();
  for (const job of own.jobs) {
    const twin = before.find(each => isSameWork(each, { job, of }));
    if (twin !== undefined) {
      shared.add(job.name);
      names.set(job.name, twin.job.name);
    } else
      names.set(
        job.name,
        before.some(each => each.job.name === job.name) ? nameWith(job.name, of) : job.name,
      );
  }
  const named = (job: FrozenJob): FrozenJob => {
    const name = names.get(job.name) ?? job.name;
    return {
      ...job,
      name,
      ...(name === job.name ? {} : { plainName: job.name }),
      ...(place === 0 ? {} : { change: place }),
      dependencies: job.dependencies.map(each => ({ ...each, name: names.get(each.name) ?? each.name })),
    };
  };
  for (const job of own.jobs) if (!shared.has(job.name)) jobs.push({ job: named(job), of });
  for (const verdict of own.verdicts) {
    if (verdict.kind === 'does-not-run') {
      const isListed = verdicts.some(each => nameOf(each) === verdict.name);
      verdicts.push(isListed ? { ...verdict, name: nameWith(verdict.name, of) } : verdict);
    } else if (!shared.has(verdict.job.name)) verdicts.push({ ...verdict, job: named(verdict.job) });
  }
}

function nameOf(verdict: JobVerdict): JobName {
  return verdict.kind === 'runs' ? verdict.job.name : verdict.name;
}

function nameWith(job: JobName, { name, change: { project } }: ItemChange): JobName {
  return `${job} (${projectIdOf(project).name} ${name})`;
}

function isSameWork(one: NamedJob, other: NamedJob): boolean {
  if (one.job.name !== other.job.name) return false;
  if (definition(one.job) !== definition(other.job)) return false;
  const [a, b] = [one.of.change, other.of.change];
  if (a.project === b.project && a.branch === b.branch) return true;
  if (a.branch !== b.branch) return false;
  const required = one.job.requiredProjects.map(({ project }) => project);
  return required.includes(a.project) && required.includes(b.project);
}

/** What it does, without where that is written and for which change it was frozen. */
function definition({ change: _, definedAt: __, ...job }: FrozenJob): string {
  return JSON.stringify(job);
}

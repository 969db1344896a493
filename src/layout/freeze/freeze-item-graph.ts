/**
 * The job graph of an item: that of its change or, of changes that depend on each other, the jobs of all of them together.
 *
 *     acme/app 1 runs unit and lint, acme/lib 7 runs unit    →    unit, lint, unit (acme/lib 7)
 *
 * A job that two changes run is one job where it would do the same work twice: its definition is equal, and it checks out the same
 * branches, because both changes are for one branch or the job names both projects in `required-projects`. With `deduplicate: true` an
 * equal definition is enough, and with `false` it runs for each change.
 */
import { assertNever } from '../../lib/assert-never.ts';
import type { ConfigError } from '../../model/config-error.ts';
import type { FrozenJob } from '../../model/job.ts';
import type { FreezeOutcome, JobVerdict } from '../../model/layout.ts';
import { type JobName, projectIdOf } from '../../model/project.ts';
import type { FreezeChange, FreezeRequest } from '../model/freeze-request.ts';
import { NOOP_JOB } from '../model/noop-job.ts';
import { freezeJobGraph } from './freeze-job-graph.ts';

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
  /** Its dependencies grow when it runs for other changes as well. */
  readonly job: FrozenJob;
  /** What it does, to compare. */
  readonly definition: string;
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
  const twins = new Map<JobName, NamedJob>();
  const names = new Map<JobName, JobName>();
  for (const job of own.jobs) {
    const twin = before.find(each => isSameWork(each, { job, of }));
    const isTaken = before.some(each => each.job.name === job.name);
    if (twin !== undefined) twins.set(job.name, twin);
    names.set(job.name, twin?.job.name ?? (isTaken ? nameWith(job.name, of) : job.name));
  }
  const dependenciesOf = (job: FrozenJob) =>
    job.dependencies.map(each => ({ ...each, name: names.get(each.name) ?? each.name }));
  const named = (job: FrozenJob): FrozenJob => {
    const name = names.get(job.name) ?? job.name;
    return {
      ...job,
      name,
      ...(name === job.name ? {} : { plainName: job.name }),
      ...(place === 0 ? {} : { change: place }),
      dependencies: dependenciesOf(job),
    };
  };
  for (const job of own.jobs) {
    const twin = twins.get(job.name);
    if (twin === undefined) jobs.push({ job: named(job), definition: definitionOf(job), of });
    else waitForBoth(twin, dependenciesOf(job), jobs, verdicts);
  }
  for (const verdict of own.verdicts) {
    if (verdict.kind === 'does-not-run') {
      const isListed = verdicts.some(each => nameOf(each) === verdict.name);
      verdicts.push(isListed ? { ...verdict, name: nameWith(verdict.name, of) } : verdict);
    } else if (!twins.has(verdict.job.name)) verdicts.push({ ...verdict, job: named(verdict.job) });
  }
}

/** A job that runs for several changes waits for the jobs that it depends on for each, where those run apart. */
function waitForBoth(
  twin: NamedJob,
  dependencies: FrozenJob['dependencies'],
  jobs: NamedJob[],
  verdicts: JobVerdict[],
): void {
  const at = jobs.findIndex(({ job }) => job.name === twin.job.name);
  const known = jobs[at] ?? twin;
  const more = dependencies.filter(({ name }) => known.job.dependencies.every(each => each.name !== name));
  if (more.length === 0) return;
  const job = { ...known.job, dependencies: [...known.job.dependencies, ...more] };
  jobs[at] = { ...known, job };
  const verdict = verdicts.findIndex(each => each.kind === 'runs' && each.job.name === job.name);
  const said = verdicts[verdict];
  if (said?.kind === 'runs') verdicts[verdict] = { ...said, job };
}

function nameOf(verdict: JobVerdict): JobName {
  return verdict.kind === 'runs' ? verdict.job.name : verdict.name;
}

function nameWith(job: JobName, { name, change: { project } }: ItemChange): JobName {
  return `${job} (${projectIdOf(project).name} ${name})`;
}

/** @param other of a later change, as it is configured. */
function isSameWork(one: NamedJob, other: Pick<NamedJob, 'job' | 'of'>): boolean {
  const { job } = other;
  if ((one.job.plainName ?? one.job.name) !== job.name || one.definition !== definitionOf(job)) return false;
  if (job.deduplicate !== undefined || isNoop(job)) return job.deduplicate ?? true;
  const [a, b] = [one.of.change, other.of.change];
  if (a.project === b.project && a.branch === b.branch) return true;
  if (a.branch !== b.branch) return false;
  const required = job.requiredProjects.map(({ project }) => project);
  return required.includes(a.project) && required.includes(b.project);
}

/** The built-in one, which does nothing for any change. */
function isNoop({ name, run }: FrozenJob): boolean {
  return name === NOOP_JOB && run.length === 0;
}

/** What it does, without where that is written and for which change it was frozen. */
function definitionOf({ change: _, definedAt: __, ...job }: FrozenJob): string {
  return JSON.stringify(job);
}

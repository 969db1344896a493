/**
 * A change in a pipeline → the jobs that run for it, in the order of the configuration, immutable from then on; and for
 * every listed job why it runs or not. `gatehouse why` shows the same verdicts.
 *
 *     const outcome = freezeJobGraph({ layout, pipeline: 'gate', change: { project, branch: 'master', files: ['docs/a.md'] } });
 *     if (outcome.kind === 'frozen') outcome.verdicts;
 *       // [{ kind: 'does-not-run', name: 'unit-tests',
 *       //    because: 'the only changed file (docs/a.md) matches irrelevant-files "^docs/"' }, …]
 */
import { didYouMean, type HintBudget, hintBudget } from '../../lib/nearest-name.ts';
import { stronglyConnected } from '../../lib/tarjan.ts';
import type { ConfigError } from '../../model/config-error.ts';
import type { FrozenJob, JobDependency } from '../../model/job.ts';
import type { FreezeOutcome, JobVerdict } from '../../model/layout.ts';
import { type JobName, projectIdOf } from '../../model/project.ts';
import { errorAt } from '../model/config-place.ts';
import type { FreezeRequest } from '../model/freeze-request.ts';
import { shortList } from '../model/short-list.ts';
import { fileJudge } from './file-verdict.ts';
import { freezeJob, frozenJob, type JobOutcome } from './freeze-job.ts';
import { projectJobs } from './project-jobs.ts';

/**
 * `misconfigured` has all errors of the project and its jobs, and then nothing runs; a job that only does not match is no error.
 *
 * @returns `frozen` with a verdict for each job that the project lists.
 */
export function freezeJobGraph(request: FreezeRequest): FreezeOutcome {
  const { layout, pipeline, change } = request;
  const listed = projectJobs(layout, pipeline, change);
  if (listed.kind === 'not-in-pipeline') return listed;
  if (listed.kind === 'broken') return { kind: 'misconfigured', errors: listed.errors };

  const outcomes = new Map<JobName, JobOutcome>();
  const judgeFiles = fileJudge(change.files);
  const timed = request.timed ?? ((_job, freeze) => freeze());
  for (const [name, listings] of listed.jobs)
    outcomes.set(
      name,
      timed(name, () => freezeJob(request, name, listings, judgeFiles)),
    );
  const graph = checkDependencies(outcomes, request);
  const [first, ...rest] = graph.errors;
  if (first !== undefined) return { kind: 'misconfigured', errors: [first, ...rest] };

  const jobs: FrozenJob[] = [];
  const verdicts: JobVerdict[] = [];
  for (const [name, outcome] of outcomes) {
    if (outcome.kind === 'runs') {
      const dependencies = graph.dependencies.get(name) ?? [];
      const job = frozenJob(outcome.draft, layout, dependencies, listed.vars, listed.failFast);
      jobs.push(job);
      verdicts.push({ kind: 'runs', job, because: outcome.because || 'no matcher limits it' });
    } else if (outcome.kind === 'does-not-run') {
      verdicts.push({ kind: 'does-not-run', name, because: outcome.because });
    }
  }
  return { kind: 'frozen', jobs, verdicts };
}

interface CheckedGraph {
  readonly errors: readonly ConfigError[];
  /** What each running job waits for; soft dependencies on jobs that do not run are left out. */
  readonly dependencies: ReadonlyMap<JobName, readonly JobDependency[]>;
}

function checkDependencies(outcomes: ReadonlyMap<JobName, JobOutcome>, request: FreezeRequest): CheckedGraph {
  const errors: ConfigError[] = [];
  const hints = hintBudget();
  const dependencies = new Map<JobName, readonly JobDependency[]>();
  for (const [name, outcome] of outcomes) {
    if (outcome.kind === 'error') errors.push(outcome.error);
    if (outcome.kind !== 'runs') continue;
    const { draft, listing } = outcome;
    const kept: JobDependency[] = [];
    for (const { name: needed, soft, offset } of draft.dependencies) {
      const other = outcomes.get(needed);
      if (other?.kind === 'runs') kept.push({ name: needed, soft });
      else if (!soft && other?.kind !== 'error') {
        const text = missingDependency(name, needed, other, outcomes, request, hints);
        errors.push(errorAt(draft.dependenciesFile ?? listing.file, offset, 'dependency-not-run', text));
      }
    }
    dependencies.set(name, kept);
  }
  errors.push(...dependencyCycles(outcomes, dependencies));
  return { errors, dependencies };
}

function missingDependency(
  name: JobName,
  needed: JobName,
  other: JobOutcome | undefined,
  outcomes: ReadonlyMap<JobName, JobOutcome>,
  { change, pipeline }: FreezeRequest,
  hints: HintBudget,
): string {
  const depends = `job ${name} depends on job ${needed}, which`;
  if (other?.kind === 'does-not-run') {
    return `${depends} does not run for this change: ${other.because}; make the dependency soft or give both jobs the same matchers`;
  }
  const project = projectIdOf(change.project).name;
  const hint = didYouMean(needed, outcomes.keys(), hints) || '; list it there or make the dependency soft';
  return `${depends} project ${project} does not list in pipeline ${pipeline}${hint}`;
}

function dependencyCycles(
  outcomes: ReadonlyMap<JobName, JobOutcome>,
  dependencies: ReadonlyMap<JobName, readonly JobDependency[]>,
): readonly ConfigError[] {
  const needs = (name: JobName) => (dependencies.get(name) ?? []).map(dependency => dependency.name);
  return stronglyConnected(dependencies.keys(), needs).flatMap(cycle => {
    const [first] = cycle;
    if (first === undefined || (cycle.length === 1 && !needs(first).includes(first))) return [];
    const inCycle = new Set(cycle);
    const members = cycle.length === 1 ? cycle : [...outcomes.keys()].filter(name => inCycle.has(name));
    const outcome = outcomes.get(members[0] ?? first);
    if (outcome?.kind !== 'runs') return [];
    const { draft, listing } = outcome;
    const subject =
      members.length === 1
        ? `job ${members[0]} depends on itself`
        : `jobs ${shortList(members)} depend on each other in a cycle`;
    const text = `${subject}; remove a dependency`;
    const offset = draft.dependencies.find(({ name }) => inCycle.has(name))?.offset ?? listing.stanza.offset;
    return [errorAt(draft.dependenciesFile ?? listing.file, offset, 'dependency-cycle', text)];
  });
}

/** The jobs a project lists in a pipeline for one change, before the jobs' own matchers are tried. */

import { append } from '../../lib/append.ts';
import type { ConfigError } from '../../model/config-error.ts';
import type { Json } from '../../model/job.ts';
import { mergeVars } from '../../model/merge-vars.ts';
import type { BranchName, JobName, PipelineName } from '../../model/project.ts';
import { isInScope } from '../model/branch-scope.ts';
import type { FreezeChange } from '../model/freeze-request.ts';
import type { BranchScope, Layout, LayoutFile, ProjectVariant } from '../model/layout.ts';
import type { JobStanza, ProjectPipelineEntry } from '../stanzas/stanzas.ts';

/** One place that lists a job. `stanza` holds the overrides written there; without any, its attributes are empty. */
export interface JobListing {
  readonly stanza: JobStanza;
  readonly file: LayoutFile;
}

/**
 * `broken`: a stanza that applies to the change has errors, so no job may run. `vars` are those of all stanzas, a later one wins.
 */
export type ProjectJobs =
  | {
      readonly kind: 'jobs';
      /** In the order of the configuration; each with every place that lists it. */
      readonly jobs: ReadonlyMap<JobName, readonly JobListing[]>;
      readonly vars: { readonly [name: string]: Json };
      readonly failFast: boolean;
    }
  | { readonly kind: 'not-in-pipeline' }
  | { readonly kind: 'broken'; readonly errors: readonly [ConfigError, ...ConfigError[]] };

/** Templates count before the stanza that names them. `not-in-pipeline` also when the tenant lacks the project. */
export function projectJobs(layout: Layout, pipeline: PipelineName, change: FreezeChange): ProjectJobs {
  const project = layout.projects.get(change.project);
  if (project === undefined) return { kind: 'not-in-pipeline' };
  const variants = project.variants
    .filter(variant => isInProjectScope(variant.scope, change))
    .flatMap(variant => [...templatesOf(variant, layout, change), variant]);
  const errors = [
    ...project.broken.filter(({ branch }) => counts(branch, change)).map(({ error }) => error),
    ...variants.flatMap(({ broken }) => broken ?? []),
  ];
  const [first, ...rest] = errors;
  if (first !== undefined) return { kind: 'broken', errors: [first, ...rest] };

  const entries = variants.flatMap(({ stanza, file }) => {
    const inPipeline = stanza.pipelines.filter(entry => entry.pipeline.name === pipeline);
    return inPipeline.map(entry => ({ entry, file }));
  });
  if (entries.length === 0) return { kind: 'not-in-pipeline' };
  return {
    kind: 'jobs',
    jobs: listings(entries),
    vars: variants.reduce((vars, { stanza }) => mergeVars(vars, stanza.vars), {}),
    // The first definition wins, so that a config-project can force it.
    failFast: entries.find(({ entry }) => entry.failFast !== undefined)?.entry.failFast ?? false,
  };
}

/** A stanza of a branch counts for changes of that branch, and for refs without a branch. */
function isInProjectScope(scope: BranchScope | undefined, change: FreezeChange): boolean {
  return (scope?.kind === 'branch' && change.branch === null) || isInScope(scope, change);
}

function counts(branch: BranchName | undefined, { branch: changed }: FreezeChange): boolean {
  return branch === undefined || changed === null || changed === branch;
}

function templatesOf(
  { stanza }: ProjectVariant,
  layout: Layout,
  change: FreezeChange,
): readonly ProjectVariant[] {
  if (stanza.kind !== 'project') return [];
  return stanza.templates.flatMap(({ name }) =>
    (layout.templates.get(name) ?? []).filter(template => isInProjectScope(template.scope, change)),
  );
}

function listings(
  entries: readonly { readonly entry: ProjectPipelineEntry; readonly file: LayoutFile }[],
): ReadonlyMap<JobName, readonly JobListing[]> {
  const jobs = new Map<JobName, JobListing[]>();
  for (const { entry, file } of entries) {
    for (const stanza of entry.jobs) append(jobs, stanza.name, { stanza, file });
  }
  return jobs;
}

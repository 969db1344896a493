/** One job and one project as they are configured, in the form of Zuul's `/job/<name>` and `/project/<name>`. Pure. */
import type {
  JobSummary,
  JobVariantDescription,
  NodesetDescription,
  PlaybookDescription,
  ProjectConfigDescription,
  ProjectDescription,
  StanzaPlace,
} from '../model/layout-description.ts';
import { type ProjectKey, projectIdOf } from '../model/project.ts';
import {
  type Document,
  document,
  flag,
  json,
  list,
  nullable,
  oneOf,
  optional,
  text,
  whole,
} from './schema.ts';

const sourceContext = document({ project: text(), branch: text(), path: text() });
const names = () => list(text());

const playbooks = () =>
  list(
    document({
      path: text(),
      cleanup: flag('It runs also where the build was cancelled'),
      source_context: sourceContext,
      secrets: list(document({ name: text(), alias: text('Name of the variable') })),
      semaphores: list(document({ name: text() })),
    }),
  );
const nodeset = () => ({
  name: text('Empty: written within the job'),
  nodes: list(document({ name: names(), label: text() })),
  groups: list(document({ name: text(), nodes: names() })),
});
const nodesetSchema = document({
  ...nodeset(),
  alternatives: list(document(nodeset()), 'In the order in which they are tried'),
});

const variantSchema = document({
  name: text(),
  parent: nullable(text(), 'Null: a base job'),
  description: nullable(text()),
  source_context: sourceContext,
  branches: names(),
  files: names(),
  irrelevant_files: names(),
  abstract: flag(),
  final: flag(),
  protected: nullable(flag()),
  intermediate: flag(),
  voting: flag(),
  post_review: nullable(flag()),
  timeout: nullable(whole('Seconds')),
  attempts: whole(),
  override_checkout: nullable(text()),
  dependencies: list(document({ name: text(), soft: flag() })),
  required_projects: list(document({ project_name: text(), override_checkout: nullable(text()) })),
  semaphores: list(document({ name: text(), resources_first: flag() })),
  tags: names(),
  provides: names(),
  requires: names(),
  roles: list(
    document({
      target_name: text(),
      type: oneOf(['zuul']),
      project_canonical_name: text(),
      implicit: flag('False: those that the stanza names are listed'),
    }),
  ),
  pre_run: playbooks(),
  run: playbooks(),
  post_run: playbooks(),
  cleanup_run: playbooks(),
  variables: json(),
  extra_variables: json(),
  host_variables: json(),
  group_variables: json(),
  include_vars: list(
    document({
      name: text('Path'),
      project_canonical_name: nullable(text(), 'Null: the project of the change'),
      required: flag(),
      use_ref: flag(),
    }),
  ),
  failure_output: list(text('Regular expression')),
  match_on_config_updates: flag(),
  deduplicate: json('true, false or auto'),
  ansible_version: nullable(text()),
  ansible_split_streams: flag('Always true here'),
  workspace_scheme: text(),
  workspace_checkout: json('true, false or auto'),
  nodeset: optional(nodesetSchema),
});

/** `GET …/job/<job>`: its variants, in the order in which they apply, each with what it sets itself. */
export const jobSchema = list(variantSchema);
/** Read by the page of a job. */
export type JobDocument = Document<typeof jobSchema>;

/** `GET …/jobs`, by name. */
export const jobsSchema = list(
  document({
    name: text(),
    description: optional(text('First line of its first description')),
    tags: optional(list(text(), 'Of all its definitions')),
    variants: optional(
      list(
        document({ parent: optional(text('Absent: a base job')), branches: optional(names()) }),
        'Its definitions that have one of the two; absent while the configuration is being read',
      ),
    ),
  }),
);
/** Read by the list of jobs. */
export type JobsDocument = Document<typeof jobsSchema>;

const projectConfigSchema = document({
  source_context: sourceContext,
  default_branch: nullable(text()),
  merge_mode: nullable(text()),
  is_template: flag(),
  templates: names(),
  queue_name: nullable(text()),
  pipelines: list(document({ name: text(), jobs: list(jobSchema, 'What each place that lists a job sets') })),
});

/** `GET …/project/<project>`. */
export const projectSchema = document({
  name: text(),
  connection_name: text(),
  canonical_name: text(),
  configs: list(projectConfigSchema, 'Its stanzas, each followed by the templates that it names'),
  metadata: document({
    merge_mode: nullable(text(), 'Null: as each change has it'),
    default_branch: text(),
    is_template: flag(),
    queue_name: nullable(text()),
  }),
});
/** Read by the page of a project. */
export type ProjectDocument = Document<typeof projectSchema>;

/** Encodes the variants of a job. */
export function jobDocument(variants: readonly JobVariantDescription[]): JobDocument {
  return variants.map(variantDocument);
}

/** Encodes the list of all jobs, by name. */
export function jobsDocument(jobs: readonly JobSummary[]): JobsDocument {
  return jobs
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, description, tags, variants }) => ({
      name,
      ...(description === undefined ? {} : { description }),
      ...(tags.length === 0 ? {} : { tags }),
      variants: variants.flatMap(({ parent, branches }) =>
        parent === null && branches.length === 0
          ? []
          : [{ ...(parent === null ? {} : { parent }), ...(branches.length === 0 ? {} : { branches }) }],
      ),
    }));
}

/** Encodes a project. @param canonicalName with its host. */
export function projectDocument(
  project: ProjectKey,
  canonicalName: string,
  { queue, mergeMode, defaultBranch, configs }: ProjectDescription,
): ProjectDocument {
  const { name, connection } = projectIdOf(project);
  return {
    name,
    connection_name: connection,
    canonical_name: canonicalName,
    configs: configs.map(configDocument),
    metadata: {
      merge_mode: mergeMode ?? null,
      default_branch: defaultBranch,
      is_template: false,
      queue_name: queue ?? null,
    },
  };
}

function configDocument(config: ProjectConfigDescription): Document<typeof projectConfigSchema> {
  return {
    source_context: placeDocument(config.place),
    default_branch: config.defaultBranch ?? null,
    merge_mode: config.mergeMode ?? null,
    is_template: config.isTemplate,
    templates: config.templates,
    queue_name: config.queue ?? null,
    pipelines: config.pipelines.map(({ name, jobs }) => ({
      name,
      jobs: jobs.map(job => [variantDocument(job)]),
    })),
  };
}

function variantDocument(job: JobVariantDescription): Document<typeof variantSchema> {
  const { flags, nodeset } = job;
  const source = placeDocument(job.place);
  const playbooksOf = (all: readonly PlaybookDescription[]) =>
    all.map(each => playbookDocument(each, source));
  return {
    name: job.name,
    parent: job.parent,
    description: job.description ?? null,
    source_context: source,
    branches: job.branches,
    files: job.files,
    irrelevant_files: job.irrelevantFiles,
    abstract: flags.abstract ?? false,
    final: flags.final ?? false,
    protected: flags.protected ?? null,
    intermediate: flags.intermediate ?? false,
    voting: flags.voting ?? true,
    post_review: flags.postReview ?? null,
    timeout: job.timeout ?? null,
    attempts: job.attempts ?? 3,
    override_checkout: job.overrideCheckout ?? null,
    dependencies: job.dependencies,
    required_projects: job.requiredProjects.map(each => ({
      project_name: each.name,
      override_checkout: each.overrideCheckout ?? null,
    })),
    semaphores: job.semaphores.map(({ name, resourcesFirst = false }) => ({
      name,
      resources_first: resourcesFirst,
    })),
    tags: job.tags,
    provides: job.provides,
    requires: job.requires,
    roles: job.roles.map(({ name, canonicalName }) => ({
      ...{ target_name: name, type: 'zuul' as const },
      ...{ project_canonical_name: canonicalName, implicit: false },
    })),
    pre_run: playbooksOf(job.preRun),
    run: playbooksOf(job.run),
    post_run: playbooksOf(job.postRun),
    cleanup_run: playbooksOf(job.cleanupRun),
    variables: job.vars,
    extra_variables: job.extraVars,
    host_variables: job.hostVars,
    group_variables: job.groupVars,
    include_vars: job.includeVars.map(({ path, project, required, useRef }) => ({
      ...{ name: path, project_canonical_name: project, required, use_ref: useRef },
    })),
    failure_output: job.failureOutput,
    match_on_config_updates: job.matchOnConfigUpdates ?? true,
    deduplicate: job.deduplicate ?? 'auto',
    ansible_version: job.ansibleVersion ?? null,
    ansible_split_streams: true,
    workspace_scheme: job.workspaceScheme ?? 'golang',
    workspace_checkout: job.workspaceCheckout ?? true,
    ...(nodeset === undefined ? {} : { nodeset: nodesetDocument(nodeset) }),
  };
}

function playbookDocument(
  { path, cleanup, secrets, semaphores }: PlaybookDescription,
  source: Document<typeof sourceContext>,
) {
  return { path, cleanup, source_context: source, secrets, semaphores: semaphores.map(name => ({ name })) };
}

function nodesetDocument(all: NodesetDescription): Document<typeof nodesetSchema> {
  const one = ({ name, nodes, groups }: NodesetDescription) => ({
    name,
    nodes: nodes.map(node => ({ name: [node.name, ...(node.aliases ?? [])], label: node.label })),
    groups,
  });
  return { ...one(all), alternatives: all.alternatives.map(one) };
}

function placeDocument({ project, branch, path }: StanzaPlace): Document<typeof sourceContext> {
  return { project: projectIdOf(project).name, branch, path };
}

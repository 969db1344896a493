/** One job and one project as they are configured, in the form of Zuul's `/job/<name>` and `/project/<name>`. Pure. */
import type {
  JobVariantDescription,
  ProjectConfigDescription,
  ProjectDescription,
  StanzaPlace,
} from '../model/layout-description.ts';
import { type ProjectKey, projectIdOf } from '../model/project.ts';
import { type Document, document, flag, json, list, nullable, optional, text, whole } from './schema.ts';

const sourceContext = document({ project: text(), branch: text(), path: text() });
const names = () => list(text());

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
  required_projects: list(document({ project_name: text() })),
  semaphores: list(document({ name: text() })),
  tags: names(),
  provides: names(),
  requires: names(),
  pre_run: list(document({ path: text() })),
  run: list(document({ path: text() })),
  post_run: list(document({ path: text() })),
  variables: json(),
  nodeset: optional(document({ name: text(), nodes: list(document({ name: names(), label: text() })) })),
});

/** `GET …/job/<job>`: its variants, in the order in which they apply, each with what it sets itself. */
export const jobSchema = list(variantSchema);
/** Read by the page of a job. */
export type JobDocument = Document<typeof jobSchema>;

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
  const paths = (all: readonly string[]) => all.map(path => ({ path }));
  return {
    name: job.name,
    parent: job.parent,
    description: job.description ?? null,
    source_context: placeDocument(job.place),
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
    required_projects: job.requiredProjects.map(name => ({ project_name: name })),
    semaphores: job.semaphores.map(name => ({ name })),
    tags: job.tags,
    provides: job.provides,
    requires: job.requires,
    pre_run: paths(job.preRun),
    run: paths(job.run),
    post_run: paths(job.postRun),
    variables: job.vars,
    ...(nodeset === undefined ? {} : { nodeset: nodesetDocument(nodeset) }),
  };
}

function nodesetDocument({ name, nodes }: NonNullable<JobVariantDescription['nodeset']>) {
  return {
    name,
    nodes: nodes.map(node => ({ name: [node.name, ...(node.aliases ?? [])], label: node.label })),
  };
}

function placeDocument({ project, branch, path }: StanzaPlace): Document<typeof sourceContext> {
  return { project: projectIdOf(project).name, branch, path };
}

/**
 * A tenant's layout: every pipeline, job, project, queue and nodeset of its configuration, checked against each other.
 *
 * Immutable. What is broken stays visible where it would have counted: a broken job variant makes the jobs that would use
 * it fail with its error instead of running without it, a broken project stanza does the same for its project and branch,
 * and everything else works on.
 */
import type { ConfigError } from '../model/config-error.ts';
import type { Tenant } from '../model/layout.ts';
import type { Pipeline } from '../model/pipeline.ts';
import type { BranchName, JobName, PipelineName, ProjectKey } from '../model/project.ts';
import type { Matcher } from './matcher.ts';
import type { ProjectResolver } from './resolve-project.ts';
import type {
  JobStanza,
  NodesetStanza,
  ParsedFile,
  ProjectStanza,
  QueueStanza,
  TemplateStanza,
} from './stanzas.ts';

/** A file of one project's branch, parsed. */
export interface LayoutFile {
  readonly project: ProjectKey;
  readonly branch: BranchName;
  /** From a config-project. */
  readonly trusted: boolean;
  readonly path: string;
  /** Definitions without `branches` count for this branch only: an untrusted project with several branches. */
  readonly impliedBranch: BranchName | undefined;
  readonly parsed: ParsedFile;
}

export interface JobVariant {
  readonly name: JobName;
  readonly file: LayoutFile;
  readonly stanza: JobStanza;
  /** Null: a base job. */
  readonly parent: JobName | null;
  readonly branches: readonly Matcher[] | undefined;
  /** Using this variant is an error. */
  readonly broken: ConfigError | undefined;
}

export interface ProjectVariant {
  readonly file: LayoutFile;
  readonly stanza: ProjectStanza | TemplateStanza;
  /** Counts for changes of this branch only; undefined: for all. */
  readonly branch: BranchName | undefined;
  readonly broken: ConfigError | undefined;
}

export interface BrokenProject {
  readonly branch: BranchName | undefined;
  readonly error: ConfigError;
}

export interface ProjectConfig {
  readonly project: ProjectKey;
  readonly trusted: boolean;
  /** Name of its change queue; the first one written counts. */
  readonly queue: string | undefined;
  /** The first one written counts. Default `master`. */
  readonly defaultBranch: BranchName;
  /** Config-projects' first. */
  readonly variants: readonly ProjectVariant[];
  readonly broken: readonly BrokenProject[];
}

export interface Layout {
  readonly tenant: Tenant;
  /** In the order of the configuration. */
  readonly pipelines: ReadonlyMap<PipelineName, Pipeline>;
  /** Definitions in the order in which they apply. */
  readonly jobs: ReadonlyMap<JobName, readonly JobVariant[]>;
  readonly nodesets: ReadonlyMap<string, NodesetStanza>;
  readonly queues: ReadonlyMap<string, QueueStanza>;
  readonly templates: ReadonlyMap<string, readonly ProjectVariant[]>;
  /** Every project of the tenant, with or without stanzas. */
  readonly projects: ReadonlyMap<ProjectKey, ProjectConfig>;
  readonly resolveProject: ProjectResolver;
  readonly errors: readonly ConfigError[];
}

/**
 * A tenant's layout: every pipeline, job, project, queue and nodeset of its configuration, checked against each other.
 *
 * Immutable. A broken stanza keeps its place: a job that needs a broken variant fails with the error of that variant instead of
 * running without it, a broken project stanza does the same for its project and branch, and everything else works.
 */
import type { ConfigError } from '../../model/config-error.ts';
import type { Tenant } from '../../model/layout.ts';
import type { MergeMode } from '../../model/merge-mode.ts';
import type { Pipeline } from '../../model/pipeline.ts';
import type { BranchName, JobName, PipelineName, ProjectKey } from '../../model/project.ts';
import type { PlacedSecret } from '../../model/secret.ts';
import type { Matcher } from '../reading/matcher.ts';
import type {
  JobStanza,
  NodesetStanza,
  ParsedFile,
  ProjectStanza,
  QueueStanza,
  SemaphoreStanza,
  TemplateStanza,
} from '../stanzas/stanzas.ts';
import type { ProjectResolver } from '../tenant/resolve-project.ts';

/** For changes of which branches something counts (`branch-scope.ts`). `unknown`: the pragma of the file has this mistake; what has this scope is broken. */
export type BranchScope =
  | { readonly kind: 'branch'; readonly branch: BranchName }
  /** One of them must match; there is at least one. */
  | { readonly kind: 'matchers'; readonly matchers: readonly Matcher[] }
  | { readonly kind: 'unknown'; readonly error: ConfigError };

/** A file of one project's branch, parsed. */
export interface LayoutFile {
  readonly project: ProjectKey;
  readonly branch: BranchName;
  /** From a config-project. */
  readonly trusted: boolean;
  readonly path: string;
  /** For which branches definitions without `branches` count. */
  readonly implied: BranchScope | undefined;
  readonly parsed: ParsedFile;
}

/** A `job:` stanza with its file; several of one name make up a job. */
export interface JobVariant {
  readonly name: JobName;
  readonly file: LayoutFile;
  readonly stanza: JobStanza;
  /**
   * Null: a base job. A variant that names none inherits from the default one, unless a variant or parent that applies before it does
   * already.
   */
  readonly parent: JobName | null;
  readonly branches: readonly Matcher[] | undefined;
  /** Using this variant is an error. */
  readonly broken: ConfigError | undefined;
}

/** A `project:` or `project-template:` stanza with its file; several may configure one project. */
export interface ProjectVariant {
  readonly file: LayoutFile;
  readonly stanza: ProjectStanza | TemplateStanza;
  /** Undefined: counts for all changes. */
  readonly scope: BranchScope | undefined;
  readonly broken: ConfigError | undefined;
}

/** A stanza or file of a project that could not be read: changes of the project and branch fail with the error. */
export interface BrokenProject {
  readonly branch: BranchName | undefined;
  readonly error: ConfigError;
}

/** Everything configured for one project of the tenant. */
export interface ProjectConfig {
  readonly project: ProjectKey;
  readonly trusted: boolean;
  /** Name of its change queue; the first definition wins. */
  readonly queue: string | undefined;
  /** The first definition wins. Default `master`. */
  readonly defaultBranch: BranchName;
  /** The first definition wins; undefined: as each change has it. */
  readonly mergeMode: MergeMode | undefined;
  /** Config-projects' first. */
  readonly variants: readonly ProjectVariant[];
  readonly broken: readonly BrokenProject[];
}

/**
 * Holds compiled expressions and parsed files, so it stays in the thread that built it; others get {@link
 * import('../layout-facts.ts').LayoutFacts}.
 */
export interface Layout {
  readonly tenant: Tenant;
  /** In the order of the configuration. */
  readonly pipelines: ReadonlyMap<PipelineName, Pipeline>;
  /** Variants in the order in which they apply. */
  readonly jobs: ReadonlyMap<JobName, readonly JobVariant[]>;
  /** By name, and so the three below. */
  readonly nodesets: ReadonlyMap<string, NodesetStanza>;
  readonly secrets: ReadonlyMap<string, PlacedSecret>;
  readonly queues: ReadonlyMap<string, QueueStanza>;
  readonly semaphores: ReadonlyMap<string, SemaphoreStanza>;
  readonly templates: ReadonlyMap<string, readonly ProjectVariant[]>;
  /** Every project of the tenant, with or without stanzas. */
  readonly projects: ReadonlyMap<ProjectKey, ProjectConfig>;
  readonly resolveProject: ProjectResolver;
  /** Of every project, as the tenant includes them. */
  readonly branches: ReadonlyMap<ProjectKey, ReadonlySet<BranchName>>;
  /** In reading order, warnings included. */
  readonly errors: readonly ConfigError[];
}

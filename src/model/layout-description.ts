/** What the configuration of a tenant says of one job or project, stanza by stanza, before anything is inherited. Plain data: it is sent between threads. */
import type { NodeGroup, NodeRequirement, Variables } from './job.ts';
import type { MergeMode } from './merge-mode.ts';
import type { BranchName, JobName, PipelineName, ProjectKey } from './project.ts';
import type { JobSemaphore } from './semaphore.ts';
import type { WorkspaceScheme } from './workspace-place.ts';

/** Where a stanza is. */
export interface StanzaPlace {
  readonly project: ProjectKey;
  readonly branch: BranchName;
  readonly path: string;
}

/** One definition of a job, or what a project sets for it. Undefined: not written. Matchers are texts, `not …` where they are negated. */
export interface JobVariantDescription {
  readonly name: JobName;
  /** Null: a base job. */
  readonly parent: JobName | null;
  readonly place: StanzaPlace;
  readonly branches: readonly string[];
  readonly files: readonly string[];
  readonly irrelevantFiles: readonly string[];
  readonly description: string | undefined;
  readonly flags: {
    readonly [flag in 'abstract' | 'final' | 'protected' | 'intermediate' | 'voting' | 'postReview']:
      | boolean
      | undefined;
  };
  readonly timeout: number | undefined;
  readonly attempts: number | undefined;
  readonly overrideCheckout: string | undefined;
  readonly dependencies: readonly { readonly name: string; readonly soft: boolean }[];
  readonly requiredProjects: readonly { readonly name: string; readonly overrideCheckout?: string }[];
  readonly semaphores: readonly JobSemaphore[];
  readonly tags: readonly string[];
  readonly provides: readonly string[];
  readonly requires: readonly string[];
  readonly preRun: readonly PlaybookDescription[];
  readonly run: readonly PlaybookDescription[];
  readonly postRun: readonly PlaybookDescription[];
  readonly cleanupRun: readonly PlaybookDescription[];
  /** Those that the stanza names, with the canonical name of their project. */
  readonly roles: readonly { readonly name: string; readonly canonicalName: string }[];
  readonly nodeset: NodesetDescription | undefined;
  readonly vars: Variables;
  readonly extraVars: Variables;
  readonly hostVars: { readonly [node: string]: Variables };
  readonly groupVars: { readonly [group: string]: Variables };
  readonly includeVars: readonly VarsFileDescription[];
  readonly failureOutput: readonly string[];
  readonly matchOnConfigUpdates: boolean | undefined;
  readonly deduplicate: boolean | 'auto' | undefined;
  readonly ansibleVersion: string | undefined;
  readonly workspaceScheme: WorkspaceScheme | undefined;
  readonly workspaceCheckout: boolean | 'auto' | undefined;
}

/** As its job names it. */
export interface PlaybookDescription {
  readonly path: string;
  readonly cleanup: boolean;
  readonly semaphores: readonly string[];
  /** Names of secrets, which all playbooks of the stanza get, and of their variables. */
  readonly secrets: readonly { readonly name: string; readonly alias: string }[];
}

/** Of a nodeset, or of one of its alternatives. `name` is empty where it is written within the job. */
export interface NodesetDescription {
  readonly name: string;
  readonly nodes: readonly NodeRequirement[];
  readonly groups: readonly NodeGroup[];
  readonly alternatives: readonly NodesetDescription[];
}

/** A file with variables. */
export interface VarsFileDescription {
  readonly path: string;
  /** Canonical name. Null: that of the change. */
  readonly project: string | null;
  readonly required: boolean;
  readonly useRef: boolean;
}

/** A job in the list of all, from all of its definitions. */
export interface JobSummary {
  readonly name: JobName;
  /** The first line of the first one. */
  readonly description: string | undefined;
  readonly tags: readonly string[];
  readonly variants: readonly { readonly parent: JobName | null; readonly branches: readonly string[] }[];
}

/** One stanza of a project, or a template that it names. */
export interface ProjectConfigDescription {
  readonly place: StanzaPlace;
  readonly isTemplate: boolean;
  readonly templates: readonly string[];
  readonly queue: string | undefined;
  readonly mergeMode: MergeMode | undefined;
  readonly defaultBranch: BranchName | undefined;
  /** Jobs in the order of the configuration. */
  readonly pipelines: readonly {
    readonly name: PipelineName;
    readonly jobs: readonly JobVariantDescription[];
  }[];
}

/** Everything configured for a project. */
export interface ProjectDescription {
  readonly queue: string | undefined;
  /** Undefined: as each change has it. */
  readonly mergeMode: MergeMode | undefined;
  readonly defaultBranch: BranchName;
  readonly configs: readonly ProjectConfigDescription[];
}

/** Of what a description is wanted. */
export type DescribedThing =
  | { readonly kind: 'jobs' }
  | { readonly kind: 'job'; readonly name: JobName }
  | { readonly kind: 'project'; readonly project: ProjectKey };

/** `absent`: the configuration has no such thing. */
export type LayoutDescription =
  | { readonly kind: 'jobs'; readonly jobs: readonly JobSummary[] }
  | { readonly kind: 'job'; readonly variants: readonly JobVariantDescription[] }
  | { readonly kind: 'project'; readonly project: ProjectDescription }
  | { readonly kind: 'absent' };

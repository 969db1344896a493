/** What the configuration of a tenant says of one job or project, stanza by stanza, before anything is inherited. Plain data: it is sent between threads. */
import type { Json, NodeRequirement } from './job.ts';
import type { MergeMode } from './merge-mode.ts';
import type { BranchName, JobName, PipelineName, ProjectKey } from './project.ts';

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
  readonly requiredProjects: readonly string[];
  readonly semaphores: readonly string[];
  readonly tags: readonly string[];
  readonly provides: readonly string[];
  readonly requires: readonly string[];
  /** Paths of playbooks. */
  readonly preRun: readonly string[];
  readonly run: readonly string[];
  readonly postRun: readonly string[];
  readonly nodeset: { readonly name: string; readonly nodes: readonly NodeRequirement[] } | undefined;
  readonly vars: { readonly [name: string]: Json };
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
  | { readonly kind: 'job'; readonly name: JobName }
  | { readonly kind: 'project'; readonly project: ProjectKey };

/** `absent`: the configuration has no such thing. */
export type LayoutDescription =
  | { readonly kind: 'job'; readonly variants: readonly JobVariantDescription[] }
  | { readonly kind: 'project'; readonly project: ProjectDescription }
  | { readonly kind: 'absent' };

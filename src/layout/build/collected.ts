import { type HintBudget, hintBudget } from '../../lib/nearest-name.ts';
import type { ConfigError } from '../../model/config-error.ts';
import type { Tenant } from '../../model/layout.ts';
import type { Pipeline } from '../../model/pipeline.ts';
import type { ProjectKey } from '../../model/project.ts';
import type { LabelRule } from '../model/label-rule.ts';
import type { BrokenProject, JobVariant, LayoutFile, ProjectVariant } from '../model/layout.ts';
import type { ConfigurePermission } from '../model/may-configure.ts';
import type { PlacedName } from '../reading/mapping-reader.ts';
import type { NodesetStanza, QueueStanza, SecretStanza, SemaphoreStanza } from '../stanzas/stanzas.ts';
import type { ProjectResolver } from '../tenant/resolve-project.ts';
import type { Languages } from './build-pipeline.ts';

/** The parts of a layout under construction. */
export interface Collected {
  readonly pipelines: Map<string, Pipeline>;
  /** Also of broken pipelines: a reference to one is no mistake. */
  readonly pipelineNames: Map<
    string,
    { readonly place: string; readonly file: LayoutFile; readonly supercedes: readonly PlacedName[] }
  >;
  readonly jobs: Map<string, JobVariant[]>;
  readonly nodesets: Map<string, { readonly stanza: NodesetStanza; readonly file: LayoutFile }>;
  readonly secrets: Map<string, { readonly stanza: SecretStanza; readonly file: LayoutFile }>;
  readonly queues: Map<string, { readonly stanza: QueueStanza; readonly file: LayoutFile }>;
  readonly semaphores: Map<string, { readonly stanza: SemaphoreStanza; readonly file: LayoutFile }>;
  readonly templates: Map<string, ProjectVariant[]>;
  readonly projects: Map<ProjectKey, ProjectVariant[]>;
  /** By expression, in the order in which they first appear: stanzas for the projects that it matches, see `project-patterns.ts`. */
  readonly patterns: Map<
    string,
    { readonly projects: readonly ProjectKey[]; readonly variant: ProjectVariant }[]
  >;
  /** Names of projects tried against expressions so far. */
  patternTries: number;
  readonly brokenProjects: Map<ProjectKey, BrokenProject[]>;
  /** Named in the error of a job that uses one. */
  readonly brokenNodesets: Set<string>;
  /** Likewise. */
  readonly brokenSecrets: Set<string>;
  readonly errors: ConfigError[];
  /** Files of which nothing is known but that they are no configuration. */
  readonly unreadable: LayoutFile[];
  /** For all hints of the layout. */
  readonly hints: HintBudget;
}

/** What collecting a file depends on besides the file; the same for all files of a layout. */
export interface CollectContext {
  readonly tenant: Tenant;
  readonly languages: Languages;
  readonly resolve: ProjectResolver;
  readonly mayConfigure: ConfigurePermission;
  readonly labels: LabelRule;
}

/** The beginning of each build of a layout; `collect-stanzas.ts` fills it. */
export function emptyCollection(): Collected {
  return {
    pipelines: new Map(),
    pipelineNames: new Map(),
    jobs: new Map(),
    nodesets: new Map(),
    secrets: new Map(),
    queues: new Map(),
    semaphores: new Map(),
    templates: new Map(),
    projects: new Map(),
    patterns: new Map(),
    patternTries: 0,
    brokenProjects: new Map(),
    brokenNodesets: new Set(),
    brokenSecrets: new Set(),
    errors: [],
    unreadable: [],
    hints: hintBudget(),
  };
}

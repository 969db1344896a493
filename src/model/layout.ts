/**
 * A tenant's configuration, put together from its file and the configuration of its projects' branches.
 *
 * A layout is immutable; a change that edits configuration is tested with a layout of its own, built from the tenant's
 * files with the changed ones in place (`src/layout/build/build-layout.ts`).
 */
import type { Nanoseconds } from '../lib/clock.ts';
import type { TenantAccess } from './authorization.ts';
import type { ConfigError } from './config-error.ts';
import type { FrozenJob } from './job.ts';
import type { Pipeline } from './pipeline.ts';
import type { BranchName, ConnectionName, JobName, ProjectKey, TenantName } from './project.ts';
import type { SemaphoreRule } from './semaphore.ts';

/** A project as its tenant lists it, with the tenant file's options. */
export interface TenantProject {
  readonly project: ProjectKey;
  /** A config-project: may define pipelines; its proposed configuration is validated, never used. */
  readonly trusted: boolean;
  /** Branches read for configuration; empty: all. RE2 texts as in `include-branches`. */
  readonly includeBranches: readonly string[];
  readonly excludeBranches: readonly string[];
  /**
   * Branches whose configuration counts for changes of them only: read with each such change, and in no other layout. RE2 texts that match the whole
   * name. Absent: none.
   */
  readonly alwaysDynamicBranches?: readonly string[];
  /** Branches that the code host does not protect do not count: neither their configuration nor their events. */
  readonly excludeUnprotected?: true;
  /** The same for branches that the host holds read-only. */
  readonly excludeLocked?: true;
  /** A config-project is read from this branch only. Default `master` or, where that is absent, `main`. */
  readonly loadBranch?: BranchName;
  /**
   * Further places of configuration, all of them read after the usual one: files, and directories that end in `/`. Paths from the root of the
   * repository. Absent: none.
   */
  readonly extraConfigPaths?: readonly string[];
  /** Kinds of stanzas read from it (`include`, `exclude`; the name is the stored one), e.g. `['job', 'project']`. Absent: all. */
  readonly itemKinds?: readonly string[];
  /** Its jobs count for nothing where one of these projects, before it in the tenant, has a job of the name. Absent: none. */
  readonly shadows?: readonly ProjectKey[];
  /** Whether its jobs and templates without `branches` count for their own branch only. Absent: where it is untrusted and several branches are read. */
  readonly impliedBranchMatchers?: boolean;
  /** A config-project that may not define jobs without a parent. Absent: a config-project may. */
  readonly noBaseJobs?: true;
  /** Untrusted projects that it may configure besides itself: RE2 texts that match the whole name. Absent: none. */
  readonly configures?: readonly string[];
}

/** One tenant of the tenant file. */
export interface Tenant {
  readonly name: TenantName;
  /** Config-projects first, in the file's order. */
  readonly projects: readonly TenantProject[];
  /** Host part of canonical project names, by connection; absent: configuration does not use such names. */
  readonly hosts?: { readonly [connection: ConnectionName]: string };
  /** Undefined: no limit. */
  readonly maxDependencies?: number;
  readonly maxChangesPerPipeline?: number;
  /** Seconds. Default 10 800. */
  readonly maxJobTimeout: number;
  /** Absent: no limit. */
  readonly maxNodesPerJob?: number;
  /** The parent of jobs that name none. Absent: `base`. */
  readonly defaultParent?: JobName;
  /** Connections by which its pipelines may be triggered. Absent: all. */
  readonly allowedTriggers?: readonly ConnectionName[];
  /** Those to which they may report. */
  readonly allowedReporters?: readonly ConnectionName[];
  /** RE2 texts that must match from the start. Absent: any label. */
  readonly allowedLabels?: readonly string[];
  /** Of the allowed ones, those that are not after all. */
  readonly disallowedLabels?: readonly string[];
  /** `max` of each semaphore of the whole installation that its jobs may use, by name. Absent: none. */
  readonly globalSemaphores?: { readonly [name: string]: number };
  /** Who may read and operate it. Absent: all read, and only the claim `zuul.admin` lets a user operate. */
  readonly access?: TenantAccess;
  /** What `ansible-version` of its jobs may name. Absent: it has no effect, there is one Ansible. */
  readonly ansible?: AnsibleChoice;
  /** Everything runs and nothing is written at a host, see src/scheduler/report/right-to-act.ts. Absent: results are reported. */
  readonly shadowMode?: true;
}

/** The versions of Ansible that a site has, under the names that jobs use. */
export interface AnsibleChoice {
  /** At least one. */
  readonly versions: readonly string[];
  /** One of them, for jobs that name none. Absent: the `ansible-playbook` on the PATH of jobs. */
  readonly usual?: string;
}

/** A frozen job or why there is none, per job the project-pipeline lists. */
export type JobVerdict =
  | { readonly kind: 'runs'; readonly job: FrozenJob; readonly because: string }
  | { readonly kind: 'does-not-run'; readonly name: JobName; readonly because: string };

/** Answer of freezing a job graph for one item. */
export type FreezeOutcome =
  | { readonly kind: 'frozen'; readonly jobs: readonly FrozenJob[]; readonly verdicts: readonly JobVerdict[] }
  /** The project has no entry for this pipeline. */
  | { readonly kind: 'not-in-pipeline' }
  | { readonly kind: 'misconfigured'; readonly errors: readonly [ConfigError, ...ConfigError[]] };

/** Which labels its jobs may ask for. */
export type LabelNames = Pick<Tenant, 'name' | 'allowedLabels' | 'disallowedLabels'>;

/** The stored summary of a tenant's current layout, for every process: its pipelines and its errors. */
export interface LayoutSummary {
  readonly tenant: TenantName;
  /** Grows with each change of the tenant's layout. */
  readonly version: number;
  readonly reconfiguredAt: Nanoseconds;
  readonly projects: readonly TenantProject[];
  readonly pipelines: readonly Pipeline[];
  /** Gone from the configuration, still finishing what they hold. */
  readonly retired: readonly Pipeline[];
  readonly jobs: readonly JobName[];
  /** Defined semaphores, by name. */
  readonly semaphores: readonly ({ readonly name: string } & SemaphoreRule)[];
  /** Connections with projects whose queue lets changes that depend on each other land together. */
  readonly cycleConnections: readonly ConnectionName[];
  /** The first ones; `errorCount` says how many there are. */
  readonly errors: readonly ConfigError[];
  readonly errorCount: number;
  /** null: not recorded; only the tenant's next holder can build this layout again. */
  readonly builtFrom: LayoutSources | null;
}

/** Everything a layout depends on: schedulers of the same version build the same layout from it. */
export interface LayoutSources {
  /** From the tenant file of the scheduler that built it: during an upgrade other schedulers may have another one. */
  readonly tenant: Tenant;
  /** Branches whose configuration was read; a project that could not be read is absent. */
  readonly projects: readonly {
    readonly project: ProjectKey;
    /** What the branch's files hash to; names the node of the configuration cache, which is never changed. */
    readonly branches: readonly { readonly branch: BranchName; readonly digest: string }[];
  }[];
}

/**
 * A job as it will run: inheritance, variants and overrides are resolved, matchers have decided. Frozen jobs never change;
 * the whole graph of a buildset is one content-addressed blob (`blobs/<sha256>`), and the queue item keeps only the
 * {@link JobNode}s the pipeline decides with.
 */
import type { BranchName, JobName, ProjectKey } from './project.ts';
import type { JobSemaphore } from './semaphore.ts';
import type { WorkspaceScheme } from './workspace-place.ts';

/** Any value of JSON. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** Variables of a job, by name. */
export type Variables = { readonly [name: string]: Json };

/** One encrypted value of a secret; see `secret.ts`. */
export interface EncryptedValue {
  /** Keys and indices that lead to its place in `plain`, which is null there. */
  readonly at: readonly (string | number)[];
  /** Base64; decrypted one by one and joined. */
  readonly chunks: readonly string[];
}

/** What a secret holds. */
export interface SecretData {
  /** With null in the places of encrypted values. */
  readonly plain: { readonly [name: string]: Json };
  readonly encrypted: readonly EncryptedValue[];
}

/** A secret as jobs need it. Named by the SHA-256 of its JSON wherever it is used. */
export interface FrozenSecret extends SecretData {
  readonly name: string;
  /** Whose key decrypts it. */
  readonly project: ProjectKey;
}

/** A secret that one playbook gets. */
export interface PlaybookSecret {
  /** Of the variable. */
  readonly name: string;
  /** SHA-256 of the {@link FrozenSecret}, in hexadecimal. */
  readonly secret: string;
}

/** Secrets by their SHA-256. */
export type SecretsByHash = { readonly [sha256: string]: FrozenSecret };

/** A file with variables of a job, in a repository. */
export interface JobVarsFile {
  /** Absent: that of the change. */
  readonly project?: ProjectKey;
  /** Below its root. */
  readonly path: string;
  /** The build goes on without it. Absent: it does not. */
  readonly optional?: true;
  /** Taken from a branch, also where the change is a tag of that project. */
  readonly branchOnly?: true;
}

/** Ansible roles of a project, for some playbooks of a job. */
export interface JobRole {
  readonly project: ProjectKey;
  /** Of the role, where the repository is one role itself. */
  readonly name: string;
  /** The project that defines the job: it need not have roles. */
  readonly implicit?: true;
  /** Branch of a config-project, which is read from one. Absent: found as for required projects. */
  readonly branch?: BranchName;
}

/** One script of a job, run in the order of its phase. */
export interface Playbook {
  /** Project that holds it: as the buildset tests it, or, of a trusted playbook, as it has landed. */
  readonly project: ProjectKey;
  /** Branch the defining configuration was read from. */
  readonly branch: BranchName;
  /** Path below the root of the project, e.g. `playbooks/test.sh`. */
  readonly path: string;
  /** Defined by a config-project. */
  readonly trusted: boolean;
  /** Names of semaphores that are held while it runs. Absent: none. */
  readonly semaphores?: readonly string[];
  /** What it alone gets decrypted. Absent: none. */
  readonly secrets?: readonly PlaybookSecret[];
  /** How many definitions of the job and its parents came before the one that names it. Absent: none. */
  readonly level?: number;
  /** Of post-run: it runs also where the build was ended early. `unjudged`: and its end is not part of the result. Absent: neither. */
  readonly cleanup?: 'judged' | 'unjudged';
  /** Places in {@link FrozenJob.roles}, the first one to be searched first. Absent: none, or it is not one of Ansible. */
  readonly roles?: readonly number[];
}

/** A job of the same buildset that must end well first. */
export interface JobDependency {
  readonly name: JobName;
  /** A soft dependency is ignored when that job does not run for this change. */
  readonly soft: boolean;
}

/** A project that is checked out besides the change's own. */
export interface RequiredProject {
  readonly project: ProjectKey;
  /** Branch or tag to check out instead of the change's branch. */
  readonly overrideCheckout?: string;
}

/** A host of the job's inventory. Every one of them is the executor itself. */
export interface NodeRequirement {
  /** Name of the node within the job. */
  readonly name: string;
  /** Label an executor must offer. */
  readonly label: string;
  /** Further names of the same node. Absent: none. */
  readonly aliases?: readonly string[];
}

/** Some nodes of a nodeset under a name of their own. */
export interface NodeGroup {
  readonly name: string;
  /** Names or aliases of nodes of the same nodeset. */
  readonly nodes: readonly string[];
}

/** What a job runs on. */
export interface FrozenNodeset {
  /** Absent: written within the job. */
  readonly nodesetName?: string;
  /** Empty: the job runs on the executor itself. */
  readonly nodes: readonly NodeRequirement[];
  /** Absent: none. */
  readonly groups?: readonly NodeGroup[];
}

/** One job of a buildset, complete: executors need no configuration. Made by `src/layout/freeze/freeze-job.ts`. */
export interface FrozenJob extends FrozenNodeset {
  /** Unique in its graph. */
  readonly name: JobName;
  /** As it is configured, where another change of the item runs a job of that name, too. Absent: its name. */
  readonly plainName?: JobName;
  /** Place, among the item's changes, of the one whose job it is. Absent: the first, 0. */
  readonly change?: number;
  readonly description?: string;
  readonly preRun: readonly Playbook[];
  readonly run: readonly Playbook[];
  readonly postRun: readonly Playbook[];
  /** What its playbooks name. Absent: none. */
  readonly roles?: readonly JobRole[];
  /** Seconds for pre-run and run together; undefined: the executor's default. */
  readonly timeout?: number;
  /** Seconds within those, for pre-run. Absent: no others. */
  readonly preTimeout?: number;
  /** Seconds for post-run. */
  readonly postTimeout?: number;
  /** Times it is tried in all before an infrastructure failure becomes RETRY_LIMIT. Default 3. */
  readonly attempts: number;
  readonly voting: boolean;
  readonly dependencies: readonly JobDependency[];
  readonly requiredProjects: readonly RequiredProject[];
  readonly overrideCheckout?: string;
  readonly vars: Variables;
  /** Below `vars`, of several the last one wins. Absent: none. */
  readonly includeVars?: readonly JobVarsFile[];
  /** They win over `vars` and those of nodes and groups. Absent: none, and so below. */
  readonly extraVars?: Variables;
  /** By name of a node; names that the nodeset lacks do nothing. */
  readonly hostVars?: { readonly [node: string]: Variables };
  /** By name of a group, or `all`. */
  readonly groupVars?: { readonly [group: string]: Variables };
  /** Nodesets to use instead, in this order, where no executor offers the labels of the job's own. Absent: none. */
  readonly alternatives?: readonly FrozenNodeset[];
  readonly holdFollowingChanges: boolean;
  /** The first voting failure of the buildset cancels the other jobs. */
  readonly failFast: boolean;
  readonly network: boolean;
  /** `own`: its work is a trace of its own, however short. Absent: by the time it is expected to take. */
  readonly trace?: 'own';
  /** Whether equal jobs of several changes of the item are one. Absent: where they would check out the same branches. */
  readonly deduplicate?: boolean;
  /** Each of its builds holds one slot of all of them while it is open; by name. Absent: none. */
  readonly semaphores?: readonly JobSemaphore[];
  /** Absent: golang. */
  readonly workspaceScheme?: Exclude<WorkspaceScheme, 'golang'>;
  /** Whether its projects are checked out, not only cloned; `auto`: where it has no nodes. Absent: they are. */
  readonly workspaceCheckout?: false | 'auto';
  readonly successMessage?: string;
  readonly failureMessage?: string;
  readonly tags: readonly string[];
  /** Names of what its builds make for jobs of changes that depend on this one. Absent: nothing, and so below. */
  readonly provides?: readonly string[];
  /** Names of what jobs of changes ahead must have made before it starts. */
  readonly requires?: readonly string[];
  /** Expressions of RE2: the build has failed as soon as one matches the beginning of a line that run prints. Absent: none. */
  readonly failureOutput?: readonly string[];
  /** Of Ansible, one that the site has. Absent: it has no playbooks of Ansible, or takes the one on the PATH of jobs. */
  readonly ansibleVersion?: string;
  /** Where its variants were defined, `project@branch:file:line`, parent first. */
  readonly definedAt: readonly string[];
}

/** What deciding needs of a frozen job. */
export interface JobNode {
  readonly name: JobName;
  readonly voting: boolean;
  readonly attempts: number;
  readonly dependencies: readonly JobDependency[];
  readonly holdFollowingChanges: boolean;
  readonly failFast: boolean;
  /** Labels it needs; empty when any executor will do, or when it has alternatives, of which one is chosen later. */
  readonly labels: readonly string[];
  readonly trace?: 'own';
  readonly semaphores?: readonly JobSemaphore[];
  /** These as in {@link FrozenJob}. */
  readonly plainName?: JobName;
  readonly change?: number;
  readonly provides?: readonly string[];
  readonly requires?: readonly string[];
}

/** All jobs of one buildset. Stored as the record `job-graph`. */
export interface JobGraph {
  /** In configuration order; dependencies name jobs of this list (soft ones to absent jobs are dropped). */
  readonly jobs: readonly FrozenJob[];
  /** All that playbooks of the jobs name. Absent: none. */
  readonly secrets?: SecretsByHash;
}

/** The part of a frozen job that its item keeps. */
export function jobNodeOf(job: FrozenJob): JobNode {
  return {
    name: job.name,
    voting: job.voting,
    attempts: job.attempts,
    dependencies: job.dependencies,
    holdFollowingChanges: job.holdFollowingChanges,
    failFast: job.failFast,
    labels: job.alternatives === undefined ? job.nodes.map(node => node.label) : [],
    ...(job.trace === undefined ? {} : { trace: job.trace }),
    ...(job.semaphores === undefined ? {} : { semaphores: job.semaphores }),
    ...requirementsOfJob(job),
  };
}

/** A job is named as it is configured, a provider with its change. */
function requirementsOfJob({
  plainName,
  change,
  provides,
  requires,
}: FrozenJob): Pick<JobNode, 'plainName' | 'change' | 'provides' | 'requires'> {
  return {
    ...(plainName === undefined ? {} : { plainName }),
    ...(provides === undefined || change === undefined ? {} : { change }),
    ...(provides === undefined ? {} : { provides }),
    ...(requires === undefined ? {} : { requires }),
  };
}

/** Requests of the scheduler to executors: everything a build needs, so that its executor makes no other request. */
import type { Nanoseconds } from '../lib/clock.ts';
import type { SpanId, TraceId, Uuid } from '../lib/ids.ts';
import type { FrozenJob, JobRole, JobVarsFile, Json, Playbook, SecretsByHash, Variables } from './job.ts';
import type { BranchName, CommitId, JobName, PipelineName, ProjectKey, TenantName } from './project.ts';
import type { SealedData } from './returned.ts';
import type { WantedSemaphore } from './semaphore.ts';

/** One checkout of the workspace: `src/<host>/<project>` at `commit`. */
export interface BuildProject {
  readonly project: ProjectKey;
  /** `<canonical hostname>/<project name>`. */
  readonly canonicalName: string;
  /** Its place below `src/`. Absent: its canonical name. */
  readonly place?: string;
  readonly branch: BranchName | null;
  readonly commit: CommitId;
  /** The change's own project, or of an item ahead, or listed by the job. */
  readonly required: boolean;
}

/** A playbook with the exact commit of its project. */
export interface BuildPlaybook extends Omit<Playbook, 'roles'> {
  readonly commit: CommitId;
  readonly canonicalName: string;
  /** Places in {@link BuildRequest.roles}, the first one to be searched first. Absent: none. */
  readonly roles?: readonly number[];
  /** Its semaphores, with what the configuration said of them. Absent: none. */
  readonly holds?: readonly WantedSemaphore[];
}

/** Roles with the exact commit of their project. */
export interface BuildRole extends Omit<JobRole, 'branch'> {
  readonly canonicalName: string;
  readonly branch: BranchName | null;
  readonly commit: CommitId;
}

/** A file with variables, at the exact commit of its project. */
export interface BuildVarsFile extends Pick<JobVarsFile, 'path' | 'optional'> {
  readonly project: ProjectKey;
  readonly canonicalName: string;
  readonly branch: BranchName | null;
  readonly commit: CommitId;
}

/** The trace of the item, for the executor and the job. */
export interface BuildTrace {
  /** Of the item: where the Build span is. */
  readonly traceId: TraceId;
  readonly buildSpan: SpanId;
  readonly sampled: boolean;
  /** The event that enqueued its item, an attribute of every span of the item; null: not recorded. */
  readonly event: Uuid | null;
  /** `tracestate` of the item; absent: none. */
  readonly traceState?: string;
  /** As {@link Build.ownTrace}: the job's trace is that of the build's uuid. */
  readonly own?: true;
  /** Milliseconds of run time after which the next playbook begins the continuation trace; absent: never. */
  readonly splitAfterMs?: number;
}

/** One build to run, in the `build` queue. Stored as the record `build-request`; never changed once it is written. */
export interface BuildRequest {
  /** Uuid of the build. */
  readonly uuid: Uuid;
  readonly tenant: TenantName;
  readonly pipeline: PipelineName;
  readonly item: Uuid;
  readonly buildset: Uuid;
  readonly job: FrozenJob;
  readonly jobName: JobName;
  readonly attempt: number;
  readonly requestedAt: Nanoseconds;
  /** 100 high, 200 normal, 300 low, each plus 0–99 with `relative_priority`. */
  readonly priority: number;
  readonly projects: readonly BuildProject[];
  readonly playbooks: {
    readonly preRun: readonly BuildPlaybook[];
    readonly run: readonly BuildPlaybook[];
    readonly postRun: readonly BuildPlaybook[];
  };
  /** What its playbooks name; for trusted and other playbooks apart. Absent: none. */
  readonly roles?: readonly BuildRole[];
  /** All that the playbooks name, encrypted. Absent: none. */
  readonly secrets?: SecretsByHash;
  /** Project of the change, where the pipeline runs after review: its playbooks may sign with its ssh key. Absent: none. */
  readonly sshKeyOf?: ProjectKey;
  /** In the order in which they are read, over `parentData`. Absent: none. */
  readonly includeVars?: readonly BuildVarsFile[];
  /** Returned by the jobs it depends on; its own variables win. Absent: nothing. */
  readonly parentData?: Variables;
  /** Likewise their secret data, in the order of the graph. Absent: none. */
  readonly sealedData?: readonly SealedData[];
  /** The `zuul` variables (build, buildset, change, items, project, ...), complete: written to the job as JSON. */
  readonly zuul: { readonly [name: string]: Json };
  /** Text of the item's changes, named to builds that wait for semaphores that a playbook holds. Absent: none has any. */
  readonly changes?: string;
  /** Null: tracing is off for this item and nothing of it reaches the job. */
  readonly trace: null | BuildTrace;
}

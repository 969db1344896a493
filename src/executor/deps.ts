/**
 * What the executor needs from the rest of the service, as narrow interfaces. `src/cmd` passes the real implementations; tests
 * pass small ones.
 */
import type { TreeSize } from '../git/objects/tree-size.ts';
import type { Clock, Nanoseconds } from '../lib/clock.ts';
import type { DiskRoom } from '../lib/disk-room.ts';
import type { Log } from '../lib/log.ts';
import type { WorkCount } from '../lib/work-count.ts';
import type { BuildPlaybook, BuildRequest } from '../model/build-request.ts';
import type { PipelineEvent } from '../model/event.ts';
import type { KeptWorkspace } from '../model/hold-request.ts';
import type { HostTrouble } from '../model/host-trouble.ts';
import type { Variables } from '../model/job.ts';
import type { BranchName, CommitId, ProjectKey } from '../model/project.ts';
import type { SpanRecord } from '../model/span.ts';
import type { TestName } from '../model/watched-tests.ts';
import type { StoredHold } from '../nodes/hold-requests.ts';
import type { HeldSlots, SlotWait } from '../store/hold-slots.ts';
import type { GovernorOptions } from './governor/governor.ts';
import type { HoldRecords } from './held/held-care.ts';
import type { HostFailure } from './hosts/node-provider.ts';
import type { HostLease, NodeProviders } from './hosts/reach-hosts.ts';
import type { ProjectKeysForSecrets } from './playbook-secrets.ts';
import type { RelayCounts, RelayLimits } from './relay/relay-quota.ts';
import type { DataSeal } from './returned/data-seal.ts';
import type { ProjectSshKeys } from './ssh-agent/build-agent.ts';
import type { TimeStep } from './time-step.ts';

/** `build-started`, `build-failing`, `build-paused` and `build-result`, as the scheduler's turn consumes them. */
export type BuildEvent = Extract<
  PipelineEvent,
  { readonly kind: 'build-started' | 'build-failing' | 'build-paused' | 'build-result' }
>;
/** The last event of a build, stored together with the end of its request ({@link TakenBuild.complete}). */
export type BuildResultEvent = Extract<PipelineEvent, { readonly kind: 'build-result' }>;

/** What becomes of a build's hosts with its result; those that are not named have been cleaned. */
export interface HostsAfter {
  /** Absent: none failed. */
  readonly failures?: readonly HostFailure[];
  /** The request for which all of them are held, or the workspace. Absent: nothing is. */
  readonly hold?: StoredHold;
  /** Of a build without hosts. Absent: it is not held. */
  readonly workspace?: KeptWorkspace;
}

/** Build requests of this executor's zone. */
export interface BuildQueue {
  /**
   * Claims the next request this executor accepts, highest priority first; waits until there is one. The claim is durable
   * when this returns.
   *
   * @param accepts must give the same answer for a request at every call: a declined request is not offered to it again.
   *     `hasHosts`: it was granted some, and needs no labels of this executor.
   * @returns undefined when `signal` aborted first.
   */
  take(
    accepts: (request: BuildRequest, hasHosts: boolean) => boolean,
    signal: AbortSignal,
  ): Promise<TakenBuild | undefined>;
}

/**
 * A claimed build request: its signals, and the way back to the pipeline. The claim ends with {@link TakenBuild.complete} or the
 * session.
 */
export interface TakenBuild {
  readonly request: BuildRequest;
  /** Aborts when the scheduler cancels it: it then ends with CANCELED. */
  readonly cancelled: AbortSignal;
  /** Aborts when the claim is gone (session lost): another executor may run it, so it is killed and nothing is reported. */
  readonly lost: AbortSignal;
  /** Of hosts of `nodes.yaml`. Absent: its nodes are this machine. */
  readonly lease?: HostLease;
  /** When the scheduler decided the cancel; undefined before {@link cancelled}, or when the cancel carried no time. */
  cancelledAt(): Nanoseconds | undefined;
  /** Puts any of its events but the result into the pipeline's queue; durable when it resolves. */
  report(event: BuildEvent): Promise<void>;
  /**
   * Stores the result in the pipeline's queue and the job's own spans in the outbox, and removes the request, in one write. Spans
   * that do not fit are written after it, never before: no span is exported below a build whose end is not stored. Writes nothing
   * when the claim is lost.
   *
   * @param spans parents first.
   * @param hosts that are quarantined with it, or held as they are.
   * @returns whether all of it is stored, or some of the spans are lost.
   */
  complete(
    event: BuildResultEvent,
    spans: readonly SpanRecord[],
    hosts?: HostsAfter,
  ): Promise<'whole' | 'spans-cut'>;
  /** The request to hold hosts, or the workspace, that is about the build, should it fail. Undefined: there is none. */
  findHold(): Promise<StoredHold | undefined>;
  /** Tests of the build's project that failed lately: it reports when they pass. @throws StoreError when the session is over. */
  watchedTests(): Promise<readonly TestName[]>;
  /** Has other builds of the project report when these pass. @throws StoreError likewise. */
  watchTests(failed: readonly TestName[]): Promise<void>;
  /** Of a paused build: resolves when the scheduler lets it go on, or when `ended` aborts. Never rejects. */
  resumed(ended: AbortSignal): Promise<void>;
  /**
   * Takes a slot of each semaphore of the playbook, or waits until it can.
   *
   * @returns undefined when the wait ended first.
   * @throws StoreError when the claim is gone as well.
   */
  hold(playbook: BuildPlaybook, wait: SlotWait): Promise<HeldSlots | undefined>;
}

/** One commit that a workspace needs, with all that is required to make it again where it is missing. */
export interface RepositoryRequest {
  readonly project: ProjectKey;
  readonly commit: CommitId;
  /** Branch whose tip the commit is, or that it was merged on; null: not a branch's. */
  readonly branch: BranchName | null;
  /** The build that needs it: its queue item records how the commit was made. */
  readonly build: Pick<BuildRequest, 'uuid' | 'tenant' | 'pipeline' | 'item' | 'buildset'>;
}

/** The answer to a {@link RepositoryRequest}. `unavailable` ends the build with RETRY. */
export type ProvidedRepository =
  | {
      readonly kind: 'ready';
      /** Absolute path of the bare repository with its `objects`; the commit stays in it while the executor runs. */
      readonly gitDir: string;
    }
  | {
      readonly kind: 'unavailable';
      readonly reason: string;
      /** Set when the code host caused it. */
      readonly trouble?: HostTrouble;
    };

/** The executor's repository cache; on a machine with a merger usually the same. See `obtain-commit.ts`. */
export interface Repositories {
  /** @param time records the work as steps; none when the commit is already here. */
  provide(request: RepositoryRequest, time: TimeStep): Promise<ProvidedRepository>;
  /** Size of a checkout of a provided commit. @throws OverBudget */
  checkoutSize(project: ProjectKey, commit: CommitId): Promise<TreeSize>;
  /** Content of a file in the commit; undefined when the commit is not here or the file is longer than 1 MiB. */
  commitMessage(project: ProjectKey, commit: CommitId): Promise<string | undefined>;
  /** Of a text file; undefined when the commit is not here or has no such file, or it is longer than 256 KiB. */
  fileLines(project: ProjectKey, commit: CommitId, path: string): Promise<readonly string[] | undefined>;
}

/** What `createExecutor` needs besides its options; see the head comment. */
export interface ExecutorDeps {
  readonly clock: Clock;
  readonly queue: BuildQueue;
  readonly repositories: Repositories;
  readonly log: Pick<Log, 'info' | 'warn' | 'child'>;
  /** Absent: no `[keystore] password`; builds with encrypted secrets are left to other executors. */
  readonly secretKeys?: ProjectKeysForSecrets;
  /** Of the same keystore, for builds after review. Absent: likewise, and none of them gets one. */
  readonly sshKeys?: ProjectSshKeys;
  /** Of the same keystore, for secret data that jobs return. Absent: likewise. */
  readonly dataSeal?: DataSeal;
  /** Room on the disks with builds, logs and mirrors. */
  readonly room: DiskRoom;
  /** Counts its builds. Absent: they are not counted. */
  readonly work?: Pick<WorkCount, 'hold'>;
  /** Called when the log of a build and what it left are complete. */
  readonly onLogComplete?: (build: string) => void;
  /** Of the nodes that builds are granted. Absent: hosts alone. */
  readonly providers?: NodeProviders;
  /** What becomes of workspaces that are held. Absent: none of an earlier run is looked at. */
  readonly holds?: HoldRecords;
  /** Called with the counts of the spans a job handed in, when its build has ended. */
  readonly onJobSpans?: (counts: RelayCounts) => void;
}

/** Passed by `src/cmd/service/start-executor.ts`, mostly from section `[executor]`. A default named here is that of an absent member. */
export interface ExecutorOptions {
  /** Name of this executor, shown as the worker of its builds. */
  readonly hostname: string;
  /** Parent of all build directories; several executors may share it (`claim-job-dir.ts`). */
  readonly jobDir: string;
  /** Parent of the logs of all builds, which stay when workspaces go (`log-file.ts`). */
  readonly logDir: string;
  /** Root of the repository cache: everything {@link Repositories} provides lies below it. */
  readonly gitDir: string;
  /** See `SandboxOptions`: whether a missing sandbox is reported or keeps the executor from starting. */
  readonly sandbox: 'auto' | 'bubblewrap' | 'none';
  /** Variables of the installation, above all others. Default none. */
  readonly siteVariables?: Variables;
  /** Node labels it offers; a job that names none runs anywhere. */
  readonly labels: readonly string[];
  /** `ansible-playbook` of each installed version that jobs may name. Default: none, jobs use the one on their PATH. */
  readonly ansibles?: ReadonlyMap<string, string>;
  /** The trace context jobs get while tracing is off: see inbound-trace.ts. Default none. */
  readonly inboundTrace?: { readonly [name: string]: string };
  /** Builds at a time, but for those that pause: see `build-slots.ts`. */
  readonly maxBuilds: number;
  /** Sensors that keep it from taking builds. Default: none. */
  readonly governor?: GovernorOptions;
  /** Bytes of output per build; a job that writes more fails. */
  readonly outputMaxBytes: number;
  /** Bytes a build may write; null: no limit. */
  readonly diskLimitBytes: number | null;
  /** Files and directories a build may write; null: no limit. Default null. */
  readonly filesLimit?: number | null;
  /** Bytes of what a build left in its log directory that are kept; null: no limit. Default null. */
  readonly logsLimitBytes?: number | null;
  /** Bytes of all workspaces together that are held for people; null: no limit. Default null. */
  readonly heldBytesLimit?: number | null;
  /** Bytes of memory of all processes of a build, where the system has control groups for us; null: no limit. Default null. */
  readonly memoryLimitBytes?: number | null;
  /** Seconds, for jobs without a timeout, for pre-run and run together and again for post-run. */
  readonly defaultTimeout: number;
  /** For the playbooks of a build that clean up, together, once it was ended early or its time is over. Default 300. */
  readonly cleanupSeconds?: number;
  /** Seconds between SIGTERM and SIGKILL. Default 10. */
  readonly graceSeconds?: number;
  /**
   * Seconds this process may be silent (stopped, stuck) before its jobs are stopped: the timeout of its session with the store,
   * after which they start again elsewhere. Default: no limit.
   */
  readonly silenceLimitSeconds?: number;
  /** Seconds between two measurements of a build's disk usage. Default 5. */
  readonly diskCheckSeconds?: number;
  /** Processes and threads a job may have. Default 1024. */
  readonly maxProcesses?: number;
  /** `PATH` of the service. */
  readonly path: string;
  /** More host directories that sandboxed jobs may read, e.g. `/opt/toolchain`. Default none. */
  readonly readOnlyPaths?: readonly string[];
  /** Whether builds of untrusted playbooks run without isolation. Default true (the report says so). */
  readonly untrustedWithoutSandbox?: boolean;
  /** Limits of the spans a build may hand in; null: none, and jobs get no endpoint. Default null. */
  readonly relay?: RelayLimits | null;
  /**
   * Whether jobs with `network: true` get the host's network, including its loopback services. Default
   * false: their builds end with ERROR.
   */
  readonly allowHostNetwork?: boolean;
}

/** The limit in force, its default included: for the control group, the rlimit and the report of the walls alike. */
export function maxProcessesOf({ maxProcesses = 1024 }: Pick<ExecutorOptions, 'maxProcesses'>): number {
  return maxProcesses;
}

/** The interval in force, in seconds, its default included. */
export function diskCheckSecondsOf({
  diskCheckSeconds = 5,
}: Pick<ExecutorOptions, 'diskCheckSeconds'>): number {
  return diskCheckSeconds;
}

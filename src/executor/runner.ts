/**
 * The seam between a build and the place where its playbooks run. The executor claims the build, orders its playbooks, keeps its
 * log, judges and reports; a runner provides the place:
 *
 *     const workspace = await runner.prepare(build, steps);              // directories, checkouts
 *     const playbook = await runner.start(build, workspace, run);        // one process per playbook, one after the other
 *     playbook.stop('graceful');                                         // cancelled, or the executor stops
 *     const { process } = await playbook.ended;                          // nothing it started remains
 *     const reported = await runner.collect(build, run, at);             // the steps it reported
 *     await runner.remove(places, log);                                  // however the build ended; or holdWorkspace, for a person
 *
 * There is one runner, the sandbox of this machine (`sandbox-runner.ts`). A runner on other machines keeps these promises:
 *
 * - `prepare` reserves the node (a static host over ssh, a pod on Kubernetes), copies the checkouts there, and fails with
 *   `WorkspaceFailure`, so that the build is tried again. Playbooks of trusted projects must not be writable by the job.
 * - `start` resolves when the process runs; its output goes to the build's log live, stamped and limited as by the spawner
 *   (`spawner/line-log.ts`). A connection that breaks ends the playbook as `lost`, never as failed.
 * - `stop` and the timeout reach every process of the playbook on the node; `ended` waits until they are gone.
 * - The node outlives neither its build nor, for longer than the store session, its executor: a lease there takes the part of the
 *   spawner's watchdog.
 * - Secrets of a playbook reach the node by memory alone, are readable for its user alone, and are gone when it has ended.
 * - `collect` fetches the step file, `returned` the file of returned data; `remove` releases the node.
 */
import type { Nanoseconds } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { BuildRequest } from '../model/build-request.ts';
import type { Json } from '../model/job.ts';
import type { BuildPlaces } from './build-places.ts';
import type { BuildSteps } from './build-steps.ts';
import type { Halt } from './halt.ts';
import type { WorkspaceHold } from './held/hold-workspace.ts';
import type { ReachedHost } from './hosts/node-provider.ts';
import type { PlaybookFacts } from './job-environment.ts';
import type { JobLog } from './job-log.ts';
import type { PlannedPlaybook } from './plan-playbooks.ts';
import type { BuildMasks } from './playbook-secrets.ts';
import type { BuildRelay } from './relay/relay.ts';
import type { ReportedSteps, StepBudget } from './reported-steps.ts';
import type { ReturnedText } from './returned/result-file.ts';
import type { JobView } from './sandbox/sandbox.ts';
import type { Owner } from './sandbox/stage.ts';
import type { ProcessEnd, StopMode } from './spawner/protocol.ts';
import type { OpenAgent } from './ssh-agent/build-agent.ts';
import type { Workspace } from './workspace.ts';

/** The build a runner works for. */
export interface RunnerBuild {
  readonly request: BuildRequest;
  readonly places: BuildPlaces;
  /** Runs no other build meanwhile; see `take-builds.ts`. */
  readonly slot: number;
  readonly log: JobLog;
  readonly halt: Halt;
  /** Null: spans of its jobs are not collected. */
  readonly relay: BuildRelay | null;
  /** Its ssh agent. Absent: none. */
  readonly sshAgent?: Pick<OpenAgent, 'markKeys'>;
  /** Its nodes, where those are of `nodes.yaml`. Absent: they are this machine. */
  readonly hosts?: readonly ReachedHost[];
  /** Secrets that its playbooks got so far. */
  readonly masks: BuildMasks;
}

/** One playbook to start: how, for how long, and with which budget. */
export interface PlaybookRun extends PlaybookFacts, PlannedPlaybook {
  /** Milliseconds left to it. */
  readonly timeoutMs: number;
  /** What it alone gets decrypted; undefined: none. */
  readonly secrets: { readonly [name: string]: Json } | undefined;
  /** Budget left for the steps it reports. */
  readonly budget: StepBudget;
  /** Called once, with the expression, when a line it prints matches one of the job's `failureOutput`. Absent: that does not matter. */
  readonly onMatch?: (source: string) => void;
}

/** A playbook from the start of its process until nothing of it remains. */
export interface RunningPlaybook {
  /** When its process was started; the time before belongs to the setup. */
  readonly startedAt: Nanoseconds;
  /** Idempotent, and harmless once it has ended. */
  stop(mode: StopMode): void;
  /** Never rejects because of what the job does. */
  readonly ended: Promise<EndedProcess>;
}

/** How the process of a playbook ended, and which limits of the build it reached; `run-playbook.ts` judges it. */
export interface EndedProcess {
  readonly process: ProcessEnd;
  /** The limit of the build for which the kernel killed processes of it, as a sentence; undefined: none. */
  readonly limited: string | undefined;
  /** The limit of its disk usage that the build exceeds, as a sentence. A halted build does not wait for it. */
  readonly diskExcess: Promise<string | undefined>;
}

/** The place where the playbooks of an executor run; the head comment has the promises it keeps. */
export interface Runner {
  /** One line: what isolates jobs, or that nothing does and why. */
  readonly report: string;
  readonly isolated: boolean;
  /** Parent of the build directories. */
  readonly jobDir: string;
  /** The paths of a build as its jobs see them. */
  view(places: BuildPlaces): JobView;
  /** The Unix user of the builds in a slot; null: the service's own. */
  ownerOf(slot: number): Owner | null;
  /** @throws WorkspaceFailure when a commit cannot be obtained or checked out, CheckoutTooLarge. */
  prepare(build: RunnerBuild, steps: BuildSteps): Promise<Workspace>;
  /** @returns the part of the workspace that an earlier playbook removed or replaced; nothing may be started then. */
  tampered(build: RunnerBuild, workspace: Workspace): Promise<string | undefined>;
  /** Resolves also when the process could not be started: its end says why. */
  start(build: RunnerBuild, workspace: Workspace, run: PlaybookRun): Promise<RunningPlaybook>;
  /** @param at when the playbook ended. @throws Error of the file system. */
  collect(build: RunnerBuild, run: Pick<PlaybookRun, 'budget'>, at: Nanoseconds): Promise<ReportedSteps>;
  /** What the build has returned so far. @throws Error of the file system. */
  returned(places: BuildPlaces): Promise<ReturnedText>;
  /**
   * Instead of {@link remove}: leaves the workspace to a person, `Runner.jobDir` having it until it is removed by its path. Never rejects.
   *
   * @param request for which it is held, as children of `paths.holds` are called. @returns why not: then it is to be removed.
   */
  holdWorkspace(build: RunnerBuild, workspace: Workspace, request: string): Promise<WorkspaceHold>;
  /**
   * Returns once the place is free for another build; the deletion continues in the background.
   *
   * @param log for a deletion that fails later.
   */
  remove(places: Pick<BuildPlaces, 'root'>, log: Pick<Log, 'warn'>): Promise<void>;
  /** Resolves when nothing is being deleted. */
  idle(): Promise<void>;
}

/**
 * One playbook: its process in the sandbox, limited in time, output and disk, ended as a whole. Returns what happened;
 * `outcome.ts` derives the build's result.
 */
import { join } from 'node:path';
import type { Nanoseconds } from '../lib/clock.ts';
import type { BuildRequest } from '../model/build-request.ts';
import type { Step } from '../model/step.ts';
import type { BuildPlaces } from './build-places.ts';
import type { BuildCgroup } from './cgroup/build-cgroups.ts';
import type { ExecutorCgroups } from './cgroup/executor-cgroups.ts';
import { diskCheckSecondsOf, type ExecutorDeps, type ExecutorOptions, maxProcessesOf } from './deps.ts';
import { type DiskUsage, watchDisk } from './disk-usage.ts';
import { endCgroup } from './end-cgroup.ts';
import type { Halt } from './halt.ts';
import { type PlaybookFacts, playbookEnvironment, workingDirectory } from './job-environment.ts';
import type { JobLog } from './job-log.ts';
import { halted, judge, timedOut, unreachable, withLimit } from './judge-playbook.ts';
import type { PlaybookEnd } from './outcome.ts';
import type { PlannedPlaybook } from './plan-playbooks.ts';
import type { BuildRelay } from './relay/relay.ts';
import type { ReportedSteps, StepBudget } from './reported-steps.ts';
import type { Sandbox } from './sandbox/sandbox.ts';
import type { RunningProcess, Spawner } from './spawner/spawner.ts';
import { takeStepFile } from './step-file.ts';
import { tamperedPlace, type Workspace } from './workspace.ts';

export interface BuildContext {
  readonly deps: Pick<ExecutorDeps, 'clock' | 'room'>;
  readonly options: ExecutorOptions;
  readonly spawner: Spawner;
  readonly sandbox: Sandbox;
  readonly diskUsage: DiskUsage;
  readonly cgroups: ExecutorCgroups;
  readonly request: BuildRequest;
  readonly places: BuildPlaces;
  readonly slot: number;
  readonly log: JobLog;
  readonly halt: Halt;
  /** Null: spans of its jobs are not collected. */
  readonly relay: BuildRelay | null;
}

export interface PlaybookRun extends PlaybookFacts, PlannedPlaybook {
  /** Milliseconds left to it. */
  readonly timeoutMs: number;
  /** Budget left for the steps it reports. */
  readonly budget: StepBudget;
}

export interface EndedPlaybook {
  readonly end: PlaybookEnd;
  readonly step: Step;
  /** Used of the budget for steps. */
  readonly unused: StepBudget;
}

const DEFAULT_GRACE_SECONDS = 10;
const OPEN_FILES = 4096;

export async function runPlaybook(
  context: BuildContext,
  workspace: Workspace,
  run: PlaybookRun,
): Promise<EndedPlaybook> {
  const { clock } = context.deps;
  const name = `${run.playbook.canonicalName}/${run.playbook.path}`;
  const title = `[${run.playbook.trusted ? 'trusted' : 'untrusted'} : ${name}@${run.playbook.branch}]`;
  await context.log.line(`${run.phase.toUpperCase()} START: ${title}`);
  const obstacle = await obstacleOf(context, workspace, run);
  const cgroup = obstacle === undefined ? await context.cgroups.forBuild(context.request.uuid) : null;
  const startedAt = clock.now();
  const attempted = obstacle ?? (await attempt(context, workspace, run, cgroup));
  const endedAt = clock.now();
  const reported = await reportedSteps(context, run, endedAt);
  const end = reported.unreachable ? unreachable(run, attempted) : attempted;
  const words = end.kind === 'passed' ? 'passed' : end.detail;
  await context.log.line(`${run.phase.toUpperCase()} END: ${title}: ${words}`);
  const exitCode = 'exitCode' in end ? end.exitCode : end.kind === 'passed' ? 0 : null;
  return {
    end,
    step: {
      kind: 'Playbook',
      subject: run.playbook.path,
      startedAt,
      endedAt,
      result: STEP_RESULTS[end.kind],
      ...(reported.steps.length === 0 ? {} : { steps: reported.steps }),
      facts: {
        project: run.playbook.canonicalName,
        phase: run.phase,
        index: run.index,
        trusted: run.playbook.trusted,
        ...(exitCode === null ? {} : { exitCode }),
        ...(reported.dropped === 0 ? {} : { dropped: reported.dropped }),
      },
    },
    unused: {
      steps: run.budget.steps - reported.used.steps,
      bytes: run.budget.bytes - reported.used.bytes,
    },
  };
}

async function reportedSteps(
  { places, log }: BuildContext,
  run: PlaybookRun,
  at: Nanoseconds,
): Promise<ReportedSteps> {
  try {
    return await takeStepFile(places.work, run.budget, at);
  } catch (error) {
    // A disk error: the steps are lost, but they never change the verdict.
    const reason = error instanceof Error ? error.message : String(error);
    await log.line(`the steps of the playbook could not be read: ${reason}`);
    return { steps: [], dropped: 0, used: { steps: 0, bytes: 0 }, unreachable: false };
  }
}

const STEP_RESULTS: { readonly [kind in PlaybookEnd['kind']]: NonNullable<Step['result']> } = {
  passed: 'SUCCESS',
  failed: 'FAILURE',
  'timed-out': 'TIMED_OUT',
  unreachable: 'FAILURE',
  cancelled: 'ABORTED',
  'disk-full': 'FAILURE',
  broken: 'ABORTED',
};

/** Why it cannot start. */
async function obstacleOf(
  context: BuildContext,
  workspace: Workspace,
  run: PlaybookRun,
): Promise<PlaybookEnd | undefined> {
  const { places, halt } = context;
  if (halt.signal.aborted) return halted(halt);
  const own = join(places.work, workingDirectory(context.request, { work: '.' }));
  const tampered = await tamperedPlace(places, [own, ...workspace.overlays.map(({ at }) => at)]);
  if (tampered !== undefined) {
    return { kind: 'failed', detail: `an earlier playbook removed or replaced ${tampered}`, exitCode: null };
  }
  return run.timeoutMs <= 0 ? timedOut(run) : undefined;
}

async function attempt(
  context: BuildContext,
  workspace: Workspace,
  run: PlaybookRun,
  cgroup: BuildCgroup | null,
): Promise<PlaybookEnd> {
  const { halt } = context;
  const spec = specOf(context, workspace, run, cgroup !== null);
  const process = context.spawner.start(
    cgroup === null ? spec : { ...spec, cgroups: cgroup.groups },
    context.relay?.serve,
  );
  const watching = new AbortController();
  const disk = watchDiskDuring(context, process, watching.signal);
  const stop = () => process.stop(halt.reason() === 'cancelled' ? 'graceful' : 'immediate');
  halt.signal.addEventListener('abort', stop, { once: true });
  if (halt.signal.aborted) stop();
  const ended = await process.ended;
  halt.signal.removeEventListener('abort', stop);
  watching.abort();
  const limited = cgroup === null ? undefined : await endCgroup(context, cgroup);
  context.relay?.hangUp(context.sandbox.ownLoopback(context.request.job));
  if (ended.kind === 'ended') context.log.count(ended.written);
  if (halt.signal.aborted) return halted(halt);
  const excess = await disk;
  if (excess !== undefined) return { kind: 'disk-full', detail: excess };
  return blamedOnDisk(context, withLimit(judge(context, run, ended), limited));
}

/** While a disk of the machine is full, a job may have failed for lack of room: that is no verdict. */
async function blamedOnDisk({ deps }: BuildContext, end: PlaybookEnd): Promise<PlaybookEnd> {
  if (end.kind !== 'failed' && end.kind !== 'timed-out') return end;
  const trouble = await deps.room.trouble();
  return trouble === undefined ? end : { kind: 'broken', detail: `${end.detail}, and ${trouble}` };
}

/** Process limit above that of the group, so that the group, which counts its refusals, is reached first. */
const BEYOND_GROUP = 64;

function specOf(context: BuildContext, workspace: Workspace, run: PlaybookRun, grouped: boolean) {
  const { request, sandbox, places, options, slot, log, relay } = context;
  const view = sandbox.view(places);
  const launch = sandbox.job(
    {
      places,
      overlays: workspace.overlays,
      readOnly: workspace.readOnly,
      argv: run.argv,
      environment: {
        ...(request.trace === null ? options.inboundTrace : {}),
        ...playbookEnvironment(request, view, run),
        ...run.environment,
        ...relay?.environment(sandbox.ownLoopback(request.job)),
      },
      cwd: workingDirectory(request, view),
      network: request.job.network,
      listen: relay !== null,
      limits: {
        processes: maxProcessesOf(options) + (grouped ? BEYOND_GROUP : 0),
        openFiles: OPEN_FILES,
        fileBytes: options.diskLimitBytes,
      },
      mark: request.uuid,
    },
    sandbox.ownerOf(slot),
  );
  return {
    ...launch,
    output: { kind: 'log', path: log.path, limit: log.remaining() },
    timeoutMs: run.timeoutMs,
    graceMs: (options.graceSeconds ?? DEFAULT_GRACE_SECONDS) * 1000,
  } as const;
}

/** @returns the limit the build exceeded, during the playbook or at its end. */
async function watchDiskDuring(
  { options, diskUsage, places, halt }: BuildContext,
  process: RunningProcess,
  signal: AbortSignal,
): Promise<string | undefined> {
  const limits = { bytes: options.diskLimitBytes, files: options.filesLimit ?? null };
  if (limits.bytes === null && limits.files === null) return undefined;
  const seconds = diskCheckSecondsOf(options);
  let full: string | undefined;
  await watchDisk(diskUsage, places, { ...limits, seconds }, signal, excess => {
    full = excess;
    process.stop('immediate');
  });
  if (full !== undefined) return full;
  await process.ended;
  // The caller that stops the build does not wait for the answer, and the executor may be gone before it arrives.
  return halt.signal.aborted ? undefined : diskUsage.excess(places, limits);
}

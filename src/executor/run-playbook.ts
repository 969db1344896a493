/** One playbook: runs its process and returns how it ended; `outcome.ts` derives the build's result. */
import type { Nanoseconds } from '../lib/clock.ts';
import type { Step } from '../model/step.ts';
import { placePlaybookRun } from './ansible/ansible-run.ts';
import type { ExecutorDeps, ExecutorOptions, TakenBuild } from './deps.ts';
import { halted, judge, timedOut, unreachable, withLimit } from './judge-playbook.ts';
import type { PlaybookEnd } from './outcome.ts';
import { type OpenedSecrets, openSecrets } from './playbook-secrets.ts';
import { takeSemaphores } from './playbook-semaphores.ts';
import type { ReportedSteps, StepBudget } from './reported-steps.ts';
import { noteReturned, openReturned } from './returned/build-returns.ts';
import type { PlaybookRun, Runner, RunnerBuild, RunningPlaybook } from './runner.ts';
import type { Workspace } from './workspace.ts';

/** One build with its executor's machinery: what all functions of a running build need. */
export interface BuildContext extends RunnerBuild {
  readonly deps: Pick<
    ExecutorDeps,
    'clock' | 'room' | 'repositories' | 'secretKeys' | 'sshKeys' | 'dataSeal'
  >;
  readonly options: ExecutorOptions;
  readonly runner: Runner;
  /** Resolves when the build's start is stored, which no playbook may precede; rejects when it cannot be. */
  readonly startStored: Promise<void>;
  readonly hold: TakenBuild['hold'];
}

/** Its secrets are decrypted when nothing stands in its way. */
type UnopenedRun = Omit<PlaybookRun, 'secrets'> & {
  /** Names of hosts that earlier playbooks could not reach. */
  readonly unreachable: ReadonlySet<string>;
};

/** One playbook's contribution to its build: its end, its step, and the budget it has left. */
export interface EndedPlaybook {
  readonly end: PlaybookEnd;
  readonly step: Step;
  /** Used of the budget for steps. */
  readonly unused: StepBudget;
  /** Hosts that it could not reach. */
  readonly unreachable: readonly string[];
}

/** Never rejects because of what the job does. A playbook that cannot be started has ended, too, with the reason. */
export async function runPlaybook(
  context: BuildContext,
  workspace: Workspace,
  run: UnopenedRun,
): Promise<EndedPlaybook> {
  const { clock } = context.deps;
  const name = `${run.playbook.canonicalName}/${run.playbook.path}`;
  const title = `[${run.playbook.trusted ? 'trusted' : 'untrusted'} : ${name}@${run.playbook.branch}]`;
  await context.log.line(`${run.phase.toUpperCase()} START: ${title}`);
  const { startedAt, attempted, wait } = await attempt(context, workspace, run);
  const endedAt = clock.now();
  await noteReturned(context);
  const reported = await reportedSteps(context, run, endedAt);
  if (reported.lost !== undefined)
    await context.log.line(`job-output.json lacks what tasks of this playbook returned: ${reported.lost}`);
  const end = reported.unreachable.length > 0 ? unreachable(run, attempted) : attempted;
  const words = end.kind === 'passed' ? 'passed' : end.detail;
  await context.log.line(`${run.phase.toUpperCase()} END: ${title}: ${words}`);
  const steps = [...(wait === undefined ? [] : [wait]), ...reported.steps];
  const exitCode = 'exitCode' in end ? end.exitCode : end.kind === 'passed' ? 0 : null;
  return {
    end,
    step: {
      kind: 'Playbook',
      subject: run.playbook.path,
      startedAt,
      endedAt,
      result: STEP_RESULTS[end.kind],
      ...(steps.length === 0 ? {} : { steps }),
      facts: {
        project: run.playbook.canonicalName,
        phase: run.phase,
        index: run.index,
        trusted: run.playbook.trusted,
        ...(run.playbook.cleanup === undefined ? {} : { cleanup: true }),
        ...(exitCode === null ? {} : { exitCode }),
        ...(reported.dropped === 0 ? {} : { dropped: reported.dropped }),
      },
    },
    unused: {
      steps: run.budget.steps - reported.used.steps,
      bytes: run.budget.bytes - reported.used.bytes,
    },
    unreachable: reported.unreachable,
  };
}

async function reportedSteps(
  context: BuildContext,
  run: UnopenedRun,
  at: Nanoseconds,
): Promise<ReportedSteps> {
  try {
    return context.masks.mask(await context.runner.collect(context, run, at));
  } catch (error) {
    // A disk error: the steps are lost, but they never change the verdict.
    const reason = error instanceof Error ? error.message : String(error);
    await context.log.line(`the steps of the playbook could not be read: ${reason}`);
    return { steps: [], dropped: 0, used: { steps: 0, bytes: 0 }, unreachable: [] };
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
  run: UnopenedRun,
): Promise<PlaybookEnd | undefined> {
  const { runner, halt } = context;
  if (halt.signal.aborted) return halted(halt);
  const tampered = await runner.tampered(context, workspace);
  if (tampered !== undefined) {
    return { kind: 'failed', detail: `an earlier playbook removed or replaced ${tampered}`, exitCode: null };
  }
  return run.timeoutMs <= 0 ? timedOut(run) : undefined;
}

/** `wait`: for its semaphores, with which its time begins. */
interface Attempt {
  readonly startedAt: Nanoseconds;
  readonly attempted: PlaybookEnd;
  readonly wait?: Step;
}

async function attempt(context: BuildContext, workspace: Workspace, run: UnopenedRun): Promise<Attempt> {
  if (run.playbook.holds === undefined) return begin(context, workspace, run);
  const obstacle = await obstacleOf(context, workspace, run);
  if (obstacle !== undefined) return { startedAt: context.deps.clock.now(), attempted: obstacle };
  const taken = await takeSemaphores(context, run);
  const { wait } = taken;
  if (taken.kind === 'ended')
    return { startedAt: taken.wait.startedAt, attempted: taken.end, wait: taken.wait };
  try {
    const begun = await begin(context, workspace, { ...run, timeoutMs: run.timeoutMs - taken.waitedMs });
    return wait === undefined ? begun : { ...begun, startedAt: wait.startedAt, wait };
  } finally {
    await taken.slots.release();
  }
}

async function begin(context: BuildContext, workspace: Workspace, run: UnopenedRun): Promise<Attempt> {
  const obstacle = await obstacleOf(context, workspace, run);
  if (obstacle !== undefined) return { startedAt: context.deps.clock.now(), attempted: obstacle };
  const { deps } = context;
  const opened = await openAll(context, run);
  if (opened.kind === 'unavailable') {
    const broken: PlaybookEnd = { kind: 'broken', detail: opened.reason };
    return { startedAt: deps.clock.now(), attempted: broken };
  }
  const secrets = opened.values;
  if (run.reader === 'ansible')
    await placePlaybookRun(context.places.info, run, context.request.job, run.unreachable);
  // Keys that it adds may be its secrets, and those after it may not use them.
  const forgetKeys = secrets === undefined ? undefined : context.sshAgent?.markKeys();
  const playbook = await context.runner.start(context, workspace, { ...run, secrets });
  const attempted = await endOf(context, playbook, run);
  forgetKeys?.();
  return { startedAt: playbook.startedAt, attempted };
}

/** The playbook's own secrets win over those that other jobs returned. */
async function openAll(
  { request, deps, masks }: BuildContext,
  { playbook }: UnopenedRun,
): Promise<OpenedSecrets> {
  const returned = openReturned(request, deps.dataSeal, masks);
  if (returned.kind === 'unavailable') return returned;
  const own = await openSecrets(request, playbook, deps.secretKeys, masks);
  if (own.kind === 'unavailable' || returned.values === undefined) return own;
  return { kind: 'opened', values: { ...returned.values, ...own.values } };
}

async function endOf(
  context: BuildContext,
  playbook: RunningPlaybook,
  run: UnopenedRun,
): Promise<PlaybookEnd> {
  const { halt, log } = context;
  const stop = () => playbook.stop(halt.reason() === 'cancelled' ? 'graceful' : 'immediate');
  halt.signal.addEventListener('abort', stop, { once: true });
  if (halt.signal.aborted) stop();
  const { process, limited, diskExcess } = await playbook.ended;
  halt.signal.removeEventListener('abort', stop);
  if (process.kind === 'ended') log.count(process.written);
  if (halt.signal.aborted) return halted(halt);
  const excess = await diskExcess;
  if (excess !== undefined) return { kind: 'disk-full', detail: excess };
  return blamedOnDisk(context, withLimit(judge(context, run, process), limited));
}

/** While a disk of the machine is full, a job may have failed for lack of room: that is no verdict. */
async function blamedOnDisk({ deps }: BuildContext, end: PlaybookEnd): Promise<PlaybookEnd> {
  if (end.kind !== 'failed' && end.kind !== 'timed-out') return end;
  const trouble = await deps.room.trouble();
  return trouble === undefined ? end : { kind: 'broken', detail: `${end.detail}, and ${trouble}` };
}

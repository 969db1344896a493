/**
 * One build from its directory to its result:
 *
 *     places → workspace → variables → playbooks resolved → pre-run → run (→ pause) → post-run → outcome → directory renamed away, or held
 *
 * The workspace is made while the build's start is being stored; no playbook begins before.
 *
 * Nothing a job does makes this throw; an internal failure ends the build with RETRY and its reason.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Execution, WorkerEnd } from '../model/build.ts';
import type { BuildRequest } from '../model/build-request.ts';
import type { Variables } from '../model/job.ts';
import type { Returned } from '../model/returned.ts';
import { testResultsOf, testsText } from '../model/test-results.ts';
import type { StoredHold } from '../nodes/hold-requests.ts';
import { type BuildSteps, createBuildSteps } from './build-steps.ts';
import { withMessages } from './change-messages.ts';
import { CheckoutTooLarge } from './checkout-room.ts';
import type { TakenBuild } from './deps.ts';
import { WorkspaceFailure } from './git-process.ts';
import { heldText, isHeldAfter } from './hosts/hold-hosts.ts';
import { openHostSockets } from './hosts/host-sockets.ts';
import type { HostFailure, ReachedHost } from './hosts/node-provider.ts';
import { leaveHosts, lostHosts } from './hosts/reach-hosts.ts';
import { connectionVariables, placeSshFiles, sshFolder } from './hosts/ssh-files.ts';
import { includedVars } from './include-vars.ts';
import { jobVariables, VARIABLES_FILE, variablesFile } from './job-environment.ts';
import { type BuildOutcome, outcomeOf } from './outcome.ts';
import { planPlaybooks } from './plan-playbooks.ts';
import { finalReturned } from './returned/build-returns.ts';
import { type PhasedBuild, type PhaseProgress, runPhases } from './run-phases.ts';
import { type SplitTrace, splitTrace } from './split-trace.ts';
import { type BuildAgent, openBuildAgent } from './ssh-agent/build-agent.ts';
import { logTests, noteTests } from './test-reports/note-tests.ts';
import type { TestReader } from './test-reports/test-reader.ts';
import { withTestSteps } from './test-reports/test-steps.ts';
import type { Workspace } from './workspace.ts';

/** What a running build reports before its end. */
export interface RunBuildDeps {
  /** As {@link PhaseProgress.onFailing}. */
  readonly onFailing: PhaseProgress['onFailing'];
  readonly pause: PhaseProgress['pause'];
  readonly tests: TestReader;
  /** As {@link TakenBuild.findHold}. */
  readonly findHold: TakenBuild['findHold'];
  readonly watch: Pick<TakenBuild, 'watchedTests' | 'watchTests'>;
  /** Called when its first playbook is about to begin. */
  readonly onBegin: () => void;
}

/** What {@link runBuild} returns: the result and the time it took, in steps. */
export interface FinishedBuild extends BuildOutcome {
  /** Of a RETRY: a disk of this machine is full, so it does not count as an attempt. */
  readonly workerEnd?: WorkerEnd;
  /** Hosts that are to be quarantined: they could not be cleaned. Absent: none. */
  readonly hostFailures?: readonly HostFailure[];
  /** The request for which its hosts are held, which were not cleaned, or is to be its workspace. Absent: none. */
  readonly hold?: StoredHold;
  /** Absent: it came to none. */
  readonly workspace?: Workspace;
  /** Absent: nothing. */
  readonly returned?: Returned;
  readonly execution: Execution;
}

/** Runs the phases of a build and writes RESULT to its log. @throws Error when that line cannot be written. */
export async function runBuild(deps: RunBuildDeps, context: PhasedBuild): Promise<FinishedBuild> {
  const { clock } = context.deps;
  const startedAt = clock.now();
  const progress: Progress = {
    steps: createBuildSteps(clock, startedAt),
    split: splitTrace(context.request, clock),
  };
  const worked = await guarded(context, () => work(deps, context, progress));
  const { outcome: ended, ...hosts } = await withoutHosts(context, worked, deps.findHold);
  const { execution, outcome } = await withTests(deps, context, progress, ended);
  const trouble = outcome.result === 'RETRY' ? await context.deps.room.trouble() : undefined;
  const text = outcome.detail === undefined ? '' : `: ${outcome.detail}`;
  await context.log.line(`RESULT: ${outcome.result}${text}`);
  const workerEnd = trouble === undefined ? {} : ({ workerEnd: 'outage' } as const);
  return { ...outcome, ...hosts, ...workerEnd, execution: { startedAt, ...execution } };
}

/** What the job left about its tests becomes steps, and the reason of a failure names some that failed. */
async function withTests(
  deps: RunBuildDeps,
  context: PhasedBuild,
  progress: Progress,
  ended: Ended,
): Promise<{ readonly execution: Omit<Execution, 'startedAt'>; readonly outcome: Ended }> {
  const found = context.halt.signal.aborted
    ? undefined
    : await noteTests(context, { reader: deps.tests, watch: deps.watch }, progress.steps);
  const noted = executionOf(progress);
  const execution = found === undefined ? noted : { ...noted, steps: withTestSteps(noted.steps, found) };
  const results = testResultsOf(execution);
  if (results === undefined) return { execution, outcome: ended };
  await logTests(context, results);
  if (ended.result !== 'FAILURE' || ended.detail === undefined || results.totals.failed === 0)
    return { execution, outcome: ended };
  return { execution, outcome: { ...ended, detail: `${ended.detail}; ${testsText(results)}` } };
}

/**
 * Cleans the hosts of the build, or leaves them as they are for a person: the one place where they leave it. What failed where a host was
 * lost is no verdict: the host's end is the likelier reason, and the build is tried again on another one.
 */
async function withoutHosts(
  context: PhasedBuild,
  outcome: Ended,
  findHold: TakenBuild['findHold'],
): Promise<{ readonly outcome: Ended } & Pick<FinishedBuild, 'hostFailures' | 'workerEnd' | 'hold'>> {
  const { hosts = [], log } = context;
  const hold = isHeldAfter(outcome.result) && !context.halt.signal.aborted ? await findHold() : undefined;
  if (hosts.length === 0) return { outcome, ...(hold === undefined ? {} : { hold }) };
  const hostFailures = await (hold === undefined ? leaveHosts(hosts) : lostHosts(hosts));
  if (hold !== undefined && hostFailures.length === 0) {
    const text = heldText(hold, hosts.map(({ title }) => title).join(', '));
    await log.line(text);
    return { outcome: { ...outcome, detail: [outcome.detail, text].filter(Boolean).join('; ') }, hold };
  }
  const texts = hostFailures.map(({ host, reason }) => `host ${host} is lost: ${reason}`);
  for (const text of texts) await log.line(text);
  const isFinal = ['SUCCESS', 'CANCELED', 'ERROR', 'DISK_FULL'].includes(outcome.result);
  if (texts.length === 0 || isFinal) return { outcome, hostFailures };
  return {
    outcome: { ...outcome, result: 'RETRY', detail: texts.join('; ') },
    hostFailures:
      hold === undefined
        ? hostFailures
        : [...hostFailures, ...(await leaveHosts(others(hosts, hostFailures)))],
    ...(hostFailures.every(({ byBuild }) => byBuild === true) ? {} : { workerEnd: 'lost' }),
  };
}

function others(hosts: readonly ReachedHost[], failures: readonly HostFailure[]): readonly ReachedHost[] {
  return hosts.filter(({ source }) => failures.every(failure => failure.host !== source));
}

/** Facts of the build, available however it ends. */
interface Progress {
  readonly steps: BuildSteps;
  readonly split: SplitTrace;
}

/** It ends with its last step: remaining work belongs to the next one. */
function executionOf({ steps, split }: Progress): Omit<Execution, 'startedAt'> {
  const continuedAt = split.continuedAt();
  return {
    endedAt: steps.end(),
    steps: steps.steps(),
    ...(continuedAt === undefined ? {} : { continuedAt }),
  };
}

/** Catches all errors: they are the executor's fault, not the change's, except for checkouts that are too large. */
async function guarded(context: PhasedBuild, work: () => Promise<Ended>): Promise<Ended> {
  try {
    return await work();
  } catch (error) {
    if (context.halt.reason() === 'cancelled') return { result: 'CANCELED', detail: 'cancelled' };
    if (error instanceof CheckoutTooLarge) return { result: 'DISK_FULL', detail: error.message };
    const detail = oneLine(error instanceof Error ? error.message : String(error));
    const trouble = error instanceof WorkspaceFailure ? error.trouble : undefined;
    return { result: 'RETRY', detail, ...(trouble === undefined ? {} : { trouble }) };
  }
}

type Ended = BuildOutcome & Pick<FinishedBuild, 'returned' | 'workspace'>;

async function work(deps: RunBuildDeps, context: PhasedBuild, progress: Progress): Promise<Ended> {
  const { steps } = progress;
  const { request, places, runner, options, log } = context;
  await log.line(
    `Job ${request.jobName}, build ${request.uuid}, attempt ${request.attempt}, on ${options.hostname}`,
  );
  await log.line(runner.report);
  if (request.job.nodes.length > 0) await log.line(nodesText(request.job, context.hosts));
  const refused = refusal(context);
  if (refused !== undefined) return { result: 'ERROR', detail: refused };
  if (request.job.ansibleVersion !== undefined) await log.line(`Ansible ${request.job.ansibleVersion}`);
  if (request.job.network) await log.line('network: that of the host, its loopback services included');

  const workspace = await runner.prepare(context, steps);
  await using way = await wayToHosts(context);
  const plan = await steps.run(
    'JobSetup',
    request.jobName,
    async () => {
      await context.startStored;
      const zuul = await withMessages(request, context.deps.repositories);
      const included = await includedVars(request, workspace);
      if (included.kind === 'refused') return included.reason;
      const given = { ...request, zuul, parentData: included.vars };
      const site = options.siteVariables ?? {};
      const view = runner.view(places);
      const variables = jobVariables(given, view, options.hostname, site, way.connections);
      await writeFile(join(places.info, VARIABLES_FILE), variablesFile(variables));
      const { ansibles = new Map() } = options;
      return planPlaybooks({ request, workspace, places, variables, ansibles, view });
    },
    made => (typeof made === 'string' ? { result: 'FAILURE' } : {}),
  );
  if (typeof plan === 'string') return { result: 'ERROR', detail: plan };
  const agent = await agentFor(context);
  if (agent.kind === 'unavailable') return { result: 'RETRY', detail: agent.reason };
  const build: PhasedBuild = agent.kind === 'open' ? { ...context, sshAgent: agent } : context;
  deps.onBegin();
  let phases: Awaited<ReturnType<typeof runPhases>>;
  try {
    phases = await runPhases({ ...progress, ...deps }, build, workspace, plan);
  } finally {
    if (agent.kind === 'open') await agent.close();
  }
  const { ends, orders } = phases;
  const returned = await finalReturned(context, context.deps.dataSeal);
  for (const warning of returned?.warnings ?? []) await log.line(`WARNING: ${warning}`);
  return { ...outcomeOf(ends, orders), workspace, ...(returned === undefined ? {} : { returned }) };
}

/** Where jobs are not kept apart, and untrusted ones are not allowed for that reason, there is none. */
async function agentFor({
  request,
  places,
  slot,
  runner,
  options,
  deps,
  hosts,
}: PhasedBuild): Promise<BuildAgent | { readonly kind: 'none' }> {
  const isKept = runner.isolated || (options.untrustedWithoutSandbox ?? true);
  if (!isKept) return { kind: 'none' };
  return await openBuildAgent(request, places, runner.ownerOf(slot), deps.sshKeys, hosts);
}

/** Sockets and files for ssh to the hosts of the build. Disposing of it ends the connections. */
async function wayToHosts({
  request,
  places,
  slot,
  runner,
  hosts = [],
}: PhasedBuild): Promise<AsyncDisposable & { readonly connections: ReadonlyMap<string, Variables> }> {
  if (hosts.length === 0) return { connections: new Map(), async [Symbol.asyncDispose]() {} };
  const { info } = runner.view(places);
  await placeSshFiles(places.info, info, request.uuid, hosts);
  const close = await openHostSockets(sshFolder(places.info), hosts, runner.ownerOf(slot));
  return { connections: connectionVariables(info, request.uuid, hosts), [Symbol.asyncDispose]: close };
}

function refusal({ request, runner, options }: PhasedBuild): string | undefined {
  const { preRun, run, postRun } = request.playbooks;
  if (run.length === 0) return `job ${request.jobName} has no run playbook`;
  if (request.job.network && options.allowHostNetwork !== true)
    return `job ${request.jobName} asks for network; this executor grants none ([executor] allow_host_network)`;
  if (runner.isolated || (options.untrustedWithoutSandbox ?? true)) return undefined;
  if (Object.keys(request.secrets ?? {}).length > 0 || request.sealedData !== undefined)
    return `job ${request.jobName} has secrets and this executor has no sandbox to keep them in`;
  const untrusted = [...preRun, ...run, ...postRun].find(({ trusted }) => !trusted);
  if (untrusted === undefined) return undefined;
  return `playbook ${untrusted.canonicalName}/${untrusted.path} is not trusted and this executor has no sandbox to run it in`;
}

function nodesText({ nodes, nodesetName }: BuildRequest['job'], hosts: PhasedBuild['hosts']): string {
  const named = nodes.flatMap(({ name, aliases = [], label }) =>
    [name, ...aliases].map(each => (each === label ? each : `${each} (${label})`)),
  );
  const where =
    hosts === undefined
      ? 'each is this executor'
      : hosts.map(({ node, title }) => `${node} is ${title}`).join(', ');
  return `nodes${nodesetName === undefined ? '' : ` of nodeset ${nodesetName}`}: ${named.join(', ')}; ${where}`;
}

function oneLine(text: string): string {
  return text.replace(/\s*\n\s*/g, '; ').trim();
}

/** One taken build from its start event to its result: all errors of a build end here. */
import type { Nanoseconds } from '../lib/clock.ts';
import type { Execution, WorkerEnd } from '../model/build.ts';
import type { BuildRequest } from '../model/build-request.ts';
import type { SpanRecord } from '../model/span.ts';
import type { Step } from '../model/step.ts';
import { buildLogFacts } from '../tracing/log-facts.ts';
import { failingEvent, pausedEvent, resultEvent, startedEvent } from './build-events.ts';
import { type BuildPlaces, placesOf } from './build-places.ts';
import type { Occupied } from './build-slots.ts';
import type { BuildEvent, ExecutorDeps, ExecutorOptions, HostsAfter, TakenBuild } from './deps.ts';
import { createHalt } from './halt.ts';
import type { HeldCare } from './held/held-care.ts';
import { type LeftBuild, leaveWorkspace } from './held/leave-workspace.ts';
import { HOSTS_ALONE, reachHosts } from './hosts/reach-hosts.ts';
import { VARIABLES_FILE } from './job-environment.ts';
import { type JobLog, openJobLog } from './job-log.ts';
import { logPathOf } from './log-file.ts';
import { collectFiles } from './log-store/collect-files.ts';
import { buildMasks } from './playbook-secrets.ts';
import type { BuildRelay, Relay } from './relay/relay.ts';
import { countsText } from './relay/relay-quota.ts';
import { runBuild } from './run-build.ts';
import type { PhasedBuild } from './run-phases.ts';
import type { Runner } from './runner.ts';
import type { TestReader } from './test-reports/test-reader.ts';

/** What all builds of an executor share. */
export interface Machinery {
  readonly deps: ExecutorDeps;
  readonly options: ExecutorOptions;
  readonly runner: Runner;
  /** Null: jobs cannot hand in spans. */
  readonly relay: Relay | null;
  readonly tests: TestReader;
  readonly held: HeldCare;
  /** Aborts when the executor stops immediately. */
  readonly killed: AbortSignal;
}

/** Never rejects. */
export async function executeBuild(machinery: Machinery, taken: TakenBuild, slot: Occupied): Promise<void> {
  const { request } = taken;
  const { tenant, pipeline, jobName } = request;
  const log = machinery.deps.log.child({ ...buildLogFacts(request), tenant, pipeline, job: jobName });
  return executeLogged({ ...machinery, deps: { ...machinery.deps, log } }, taken, slot);
}

/** @param machinery its log adds the build to every line. */
async function executeLogged(machinery: Machinery, taken: TakenBuild, slot: Occupied): Promise<void> {
  const { deps, options } = machinery;
  const { request } = taken;
  using halt = createHalt({
    cancelled: taken.cancelled,
    lost: taken.lost,
    'executor-stopped': machinery.killed,
  });
  using _ = machinery.held.spare(request.uuid);
  try {
    const hosts = await hostsFor(machinery, taken, halt.signal);
    if (hosts === 'handed-back') return;
    deps.log.info({}, 'a build begins');
    const startedAt = deps.clock.now();
    const startStored = taken.report(startedEvent(request, startedAt, options.hostname, hosts.hosts));
    const run = runWithLog(machinery, taken, { slot, halt, startStored, ...hosts });
    const [stored, finished] = await Promise.all([
      startStored.then(
        () => undefined,
        (error: unknown) => ({ error }),
      ),
      run.catch(error => brokenOff(machinery, taken.request, { startedAt, ...hosts }, error)),
    ]);
    if (stored !== undefined) throw stored.error;
    if (halt.reason() === 'lost') {
      deps.log.warn({}, 'a build was killed because its claim was lost; it is tried again');
      return;
    }
    const workerEnd = halt.reason() === 'executor-stopped' ? 'stopped' : finished.workerEnd;
    await handOver(machinery, taken, finished, workerEnd);
    deps.log.info({ result: finished.result }, 'a build ended');
  } catch (error) {
    deps.log.warn({ error: messageOf(error) }, 'the result of a build could not be reported');
  }
}

/** Looked at before the build starts: one that does not answer is quarantined, and the build waits for another. */
async function hostsFor(
  { deps, killed }: Machinery,
  { lease, request, cancelled, lost }: TakenBuild,
  signal: AbortSignal,
): Promise<Pick<PhasedBuild, 'hosts'> | 'handed-back'> {
  if (lease === undefined || signal.aborted) return {};
  const reached = await reachHosts(lease, request, deps.providers ?? HOSTS_ALONE, signal);
  if (lost.aborted) return 'handed-back';
  if (reached.kind === 'reached') return { hosts: reached.hosts };
  // It ends as cancelled, without having begun.
  if (cancelled.aborted) return {};
  const failures = killed.aborted ? [] : reached.failures;
  for (const { host, reason, serves } of failures)
    deps.log.warn({ host, reason }, serves ? 'a node was lost' : 'a host is quarantined');
  if (reached.kind === 'refused' && !killed.aborted) await lease.refuse(reached.reason, failures);
  else await lease.handBack(failures);
  return 'handed-back';
}

/** Unexpected errors, such as a log that cannot be written: the request must not stay claimed. */
async function brokenOff(
  machinery: Machinery,
  request: BuildRequest,
  { startedAt, hosts = [] }: Pick<PhasedBuild, 'hosts'> & { readonly startedAt: Nanoseconds },
  error: unknown,
): Promise<LeftBuild & JobSpans> {
  const { deps, runner } = machinery;
  const detail = `the executor could not go on: ${messageOf(error)}`;
  const trouble = await deps.room.trouble();
  deps.log.warn({ error: messageOf(error) }, 'a build was broken off');
  await runner.remove(placesOf(runner.jobDir, request.uuid), deps.log);
  return {
    result: 'RETRY',
    detail,
    ...(trouble === undefined ? {} : { workerEnd: 'outage' }),
    hostFailures: hosts
      .filter(({ times }) => times === undefined)
      .map(({ source }) => ({ host: source, reason: detail, leftover: true })),
    execution: { startedAt, endedAt: deps.clock.now(), steps: [] },
    spans: [],
  };
}

interface JobSpans {
  /** The job's own. */
  readonly spans: readonly SpanRecord[];
}

/** A result too large to store is still a result. Without its steps the job's spans have no parents. */
async function handOver(
  { deps, options }: Machinery,
  { request, complete }: TakenBuild,
  finished: LeftBuild & JobSpans,
  workerEnd: WorkerEnd | undefined,
): Promise<void> {
  try {
    const outcome = await complete(
      resultEvent(request, finished, options.hostname, workerEnd),
      finished.spans,
      hostsAfter(finished),
    );
    if (outcome === 'spans-cut')
      deps.log.warn({}, "a build's result is stored, but not all of the spans its job handed in");
  } catch (error) {
    deps.log.warn(
      { error: messageOf(error) },
      'the result of a build could not be stored; it is stored without its steps',
    );
    const execution = { ...finished.execution, steps: [] };
    await complete(
      resultEvent(request, { ...finished, execution }, options.hostname, workerEnd),
      [],
      hostsAfter(finished),
    );
  }
}

function hostsAfter({ hostFailures, hold, kept }: LeftBuild): HostsAfter {
  return {
    ...(kept === undefined ? {} : { workspace: kept }),
    ...(hostFailures === undefined ? {} : { failures: hostFailures }),
    ...(hold === undefined ? {} : { hold }),
  };
}

async function runWithLog(
  machinery: Machinery,
  taken: TakenBuild,
  { slot, ...started }: Pick<PhasedBuild, 'halt' | 'startStored' | 'hosts'> & { readonly slot: Occupied },
): Promise<LeftBuild & JobSpans> {
  const { deps, options, runner } = machinery;
  const { request } = taken;
  const places = placesOf(runner.jobDir, request.uuid);
  const log = await openJobLog(logPathOf(options.logDir, request.uuid), options.outputMaxBytes, deps.clock);
  const reports: Promise<void>[] = [];
  const masks = buildMasks();
  const relay = machinery.relay?.open(request) ?? null;
  const build: PhasedBuild = {
    ...{ deps, options, runner, request, places, log, relay, masks, hold: taken.hold, ...started },
    slot: slot.slot,
  };
  let finished: LeftBuild;
  let spans: readonly SpanRecord[] = [];
  try {
    finished = await runBuild(
      {
        onFailing: (at, early) => reports.push(taken.report(failingEvent(request, at, early))),
        pause: (at, returned) =>
          pauseIn(slot, taken, pausedEvent(request, at, returned), started.halt.signal),
        tests: machinery.tests,
        findHold: () => taken.findHold(),
        watch: taken,
        onBegin: () => slot.begin(),
      },
      build,
    );
    if (relay !== null) {
      spans = masks.mask(await takeSpans(relay, finished.execution, taken, log));
      deps.onJobSpans?.(relay.counts());
      if (relay.counts().unheard > 0 && !started.halt.signal.aborted)
        deps.log.warn({}, 'the sandbox could not listen for its job; spans of the job are lost');
    }
    await Promise.all(reports);
    if (!taken.lost.aborted) await keepFiles(machinery, taken, { places, log, masks: masks.list() });
    finished = await leaveWorkspace(build, finished, deps.log);
  } finally {
    relay?.close();
    await log.close();
    deps.onLogComplete?.(request.uuid);
  }
  const { execution } = finished;
  const cleanup: Step = {
    kind: 'Cleanup',
    subject: request.jobName,
    startedAt: execution.endedAt,
    endedAt: deps.clock.now(),
    ...(execution.continuedAt === undefined ? {} : { continued: true }),
  };
  return {
    ...finished,
    spans,
    execution: { ...execution, endedAt: cleanup.endedAt, steps: [...execution.steps, cleanup] },
  };
}

/** Others may have its place meanwhile, as soon as what depends on it can start. */
async function pauseIn(
  slot: Occupied,
  taken: TakenBuild,
  event: BuildEvent,
  ended: AbortSignal,
): Promise<void> {
  await taken.report(event);
  slot.pause();
  try {
    await taken.resumed(ended);
  } finally {
    slot.resume();
  }
}

/** A disk error loses them, but never changes the verdict. */
async function keepFiles(
  { deps, options }: Machinery,
  { request, lost }: TakenBuild,
  build: { readonly places: BuildPlaces; readonly log: JobLog; readonly masks: readonly string[] },
): Promise<void> {
  try {
    await collectFiles({
      ...build,
      build: request.uuid,
      logDir: options.logDir,
      mostBytes: options.logsLimitBytes ?? null,
      signal: lost,
      variables: VARIABLES_FILE,
    });
  } catch (error) {
    deps.log.warn({ error: messageOf(error) }, 'the files of a build could not be kept');
    await build.log.line(`what is in ZUUL_LOG_DIR could not be kept: ${messageOf(error)}`);
  }
}

async function takeSpans(
  relay: BuildRelay,
  execution: Execution,
  taken: TakenBuild,
  log: JobLog,
): Promise<readonly SpanRecord[]> {
  const spans = relay.finish(execution, taken.cancelledAt() ?? null);
  const words = countsText(relay.counts());
  if (words !== undefined) await log.line(words);
  return spans;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

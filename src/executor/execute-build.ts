/** One taken build from its start event to its result: the edge at which whatever goes wrong ends. */
import type { Nanoseconds } from '../lib/clock.ts';
import type { Uuid } from '../lib/ids.ts';
import type { BuildRequest } from '../model/build-request.ts';
import type { Step } from '../model/step.ts';
import { failingEvent, resultEvent, startedEvent } from './build-events.ts';
import { placesOf } from './build-places.ts';
import type { ExecutorDeps, ExecutorOptions, TakenBuild } from './deps.ts';
import type { DiskUsage } from './disk-usage.ts';
import type { OwnProcesses } from './git-process.ts';
import { createHalt, type Halt } from './halt.ts';
import { openJobLog } from './job-log.ts';
import { logPathOf } from './log-file.ts';
import { deleteTree, renameAway } from './remove-build.ts';
import { type FinishedBuild, runBuild } from './run-build.ts';
import type { Sandbox } from './sandbox/sandbox.ts';
import type { Spawner } from './spawner/spawner.ts';
import type { WorkspaceDeps } from './workspace.ts';

/** What all builds of an executor share. */
export interface Machinery {
  readonly deps: ExecutorDeps;
  readonly options: ExecutorOptions;
  readonly spawner: Spawner;
  readonly sandbox: Sandbox;
  readonly own: OwnProcesses;
  readonly workspace: WorkspaceDeps;
  readonly diskUsage: DiskUsage;
  /** Aborts when the executor stops at once. */
  readonly killed: AbortSignal;
  /** Deletions that go on behind their builds' backs. */
  readonly removals: Set<Promise<void>>;
}

/** Never rejects. */
export async function executeBuild(machinery: Machinery, taken: TakenBuild, slot: number): Promise<void> {
  const { deps, options } = machinery;
  const { request } = taken;
  using halt = createHalt({
    cancelled: taken.cancelled,
    lost: taken.lost,
    'executor-stopped': machinery.killed,
  });
  try {
    await taken.report(startedEvent(request, deps.clock.now(), options.hostname));
    const finished = await runWithLog(machinery, taken, slot, halt);
    if (halt.reason() === 'lost') {
      deps.log.warn(factsOf(request), 'a build was killed because its claim was lost; it is tried again');
      return;
    }
    await handOver(machinery, taken, finished);
  } catch (error) {
    deps.log.warn(
      { ...factsOf(request), error: messageOf(error) },
      'the result of a build could not be handed over',
    );
  }
}

/** A result too large to store is still a result. */
async function handOver(
  { deps, options }: Machinery,
  { request, complete }: TakenBuild,
  finished: FinishedBuild,
): Promise<void> {
  try {
    await complete(resultEvent(request, finished, options.hostname));
  } catch (error) {
    deps.log.warn(
      { ...factsOf(request), error: messageOf(error) },
      'the result of a build could not be stored; it is stored without its steps',
    );
    const execution = { ...finished.execution, steps: [] };
    await complete(resultEvent(request, { ...finished, execution }, options.hostname));
  }
}

async function runWithLog(
  machinery: Machinery,
  taken: TakenBuild,
  slot: number,
  halt: Halt,
): Promise<FinishedBuild> {
  const { deps, options, sandbox, spawner, workspace, diskUsage } = machinery;
  const { request } = taken;
  const places = placesOf(sandbox.jobDir, request.uuid);
  const log = await openJobLog(logPathOf(options.logDir, request.uuid), options.outputMaxBytes, deps.clock);
  const reports: Promise<void>[] = [];
  let finished: FinishedBuild;
  let cleaningAt: Nanoseconds;
  try {
    finished = await runBuild(
      { workspace, onFailing: at => reports.push(taken.report(failingEvent(request, at))) },
      { deps, options, spawner, sandbox, diskUsage, request, places, slot, log, halt },
    );
    await Promise.all(reports);
    cleaningAt = deps.clock.now();
    await cleanUp(machinery, places.root);
  } finally {
    await log.close();
  }
  const { execution } = finished;
  const cleanup: Step = {
    kind: 'Cleanup',
    subject: request.jobName,
    startedAt: cleaningAt,
    endedAt: deps.clock.now(),
    ...(execution.continuedAt === undefined ? {} : { continued: true }),
  };
  return {
    ...finished,
    execution: { ...execution, endedAt: cleanup.endedAt, steps: [...execution.steps, cleanup] },
  };
}

/** Returns once the path is free; the deleting goes on. */
async function cleanUp({ deps, own, sandbox, removals }: Machinery, root: string): Promise<void> {
  try {
    const place = await renameAway(sandbox.jobDir, root);
    const removal = deleteTree(own, place)
      .catch(error =>
        deps.log.warn(
          { place, error: messageOf(error) },
          'a build directory could not be deleted; the next start tries again',
        ),
      )
      .finally(() => removals.delete(removal));
    removals.add(removal);
  } catch (error) {
    // A build that was refused never got a directory.
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  }
}

function factsOf({ uuid, jobName }: BuildRequest): { readonly build: Uuid; readonly job: string } {
  return { build: uuid, job: jobName };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

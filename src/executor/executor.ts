/**
 * Takes build requests, runs each in a workspace of its own, says how it ended.
 *
 *     const executor = await createExecutor({ clock, queue, repositories, log }, options);
 *     …
 *     await executor.stop('graceful');    // takes nothing new, lets running builds end
 *     await executor.stop('immediate');   // kills them; they are tried again elsewhere
 *
 * A build occupies a slot; slots have Unix users and kept checkouts of their own (`sandbox/`, `kept-checkout.ts`).
 */
import { join } from 'node:path';
import type { Nanoseconds } from '../lib/clock.ts';
import { derivedUuid, type Uuid } from '../lib/ids.ts';
import { pause } from '../lib/pause.ts';
import type { BuildRequest } from '../model/build-request.ts';
import type { JobName } from '../model/project.ts';
import { placesOf } from './build-places.ts';
import type { ExecutorDeps, ExecutorOptions, TakenBuild } from './deps.ts';
import { createDiskUsage } from './disk-usage.ts';
import { createOwnProcesses, type OwnProcesses } from './git-process.ts';
import { createHalt, type Halt } from './halt.ts';
import { openJobLog } from './job-log.ts';
import { createKeptCheckouts } from './kept-checkout.ts';
import { logPathOf } from './log-file.ts';
import { deleteTree, renameAway } from './remove-build.ts';
import { type FinishedBuild, runBuild } from './run-build.ts';
import { openSandbox } from './sandbox/open-sandbox.ts';
import type { Sandbox } from './sandbox/sandbox.ts';
import type { StopMode } from './spawner/protocol.ts';
import { createSpawner, type Spawner } from './spawner/spawner.ts';
import { sweepLeftovers } from './sweep.ts';
import type { WorkspaceDeps } from './workspace.ts';

export interface Executor extends AsyncDisposable {
  /** One line: what isolates jobs here, or that nothing does and why. */
  readonly sandboxReport: string;
  readonly isolated: boolean;
  /** Where build directories really are, see `Sandbox.jobDir`. */
  readonly jobDir: string;
  /** Builds at work now. */
  running(): readonly RunningBuild[];
  /** Resolves when no build runs, everything is cleaned up and the helper processes have ended. May be called again, harder. */
  stop(mode: StopMode): Promise<void>;
}

export interface RunningBuild {
  readonly build: Uuid;
  readonly job: JobName;
  readonly since: Nanoseconds;
}

/** After a failure of the queue, before it is asked again. */
const QUEUE_PAUSE_MS = 1_000;

/** @throws SandboxUnavailable see `openSandbox`. */
export async function createExecutor(deps: ExecutorDeps, options: ExecutorOptions): Promise<Executor> {
  const spawner = createSpawner({
    onCrash: reason =>
      deps.log.warn({ reason }, 'the process that starts jobs died; its builds are tried again'),
  });
  try {
    await spawner.ready();
    const sandbox = await openSandbox({
      mode: options.sandbox,
      jobDir: options.jobDir,
      gitDir: options.gitDir,
      path: options.path,
      readOnlyPaths: options.readOnlyPaths ?? [],
      slots: options.maxBuilds,
      spawner,
    });
    deps.log[sandbox.isolated ? 'info' : 'warn']({ isolated: sandbox.isolated }, sandbox.report);
    const own = createOwnProcesses(spawner, sandbox);
    const { removed, inUse } = await sweepLeftovers(sandbox.jobDir, own);
    if (removed.length > 0)
      deps.log.info(
        { builds: removed, jobDir: sandbox.jobDir },
        'removed what builds of an earlier run left',
      );
    if (inUse.length > 0)
      deps.log.warn(
        { builds: inUse, jobDir: sandbox.jobDir },
        'another executor runs builds in the same directory; give each its own [executor] job_dir',
      );
    return startExecutor(deps, options, { spawner, sandbox, own });
  } catch (error) {
    await spawner.close();
    throw error;
  }
}

interface Machinery {
  readonly spawner: Spawner;
  readonly sandbox: Sandbox;
  readonly own: OwnProcesses;
}

function startExecutor(deps: ExecutorDeps, options: ExecutorOptions, machinery: Machinery): Executor {
  const { spawner, sandbox, own } = machinery;
  const workspace: WorkspaceDeps = {
    clock: deps.clock,
    repositories: deps.repositories,
    sandbox,
    own,
    kept: createKeptCheckouts(join(sandbox.jobDir, '.kept'), own),
  };
  const diskUsage = createDiskUsage(spawner);
  const noMore = new AbortController();
  const killAll = new AbortController();
  const running = new Map<number, RunningBuild>();
  const builds = new Set<Promise<void>>();
  const removals = new Set<Promise<void>>();

  function accepts({ job }: BuildRequest): boolean {
    return job.nodes.every(({ label }) => options.labels.includes(label));
  }

  /** The loop: one free slot, one request. */
  async function takeBuilds(): Promise<void> {
    while (!noMore.signal.aborted) {
      const slot = freeSlot(running, options.maxBuilds);
      if (slot === undefined) {
        await Promise.race(builds);
        continue;
      }
      const taken = await takeNext();
      if (taken === undefined) continue;
      running.set(slot, { build: taken.request.uuid, job: taken.request.jobName, since: deps.clock.now() });
      const build = execute(taken, slot).finally(() => {
        running.delete(slot);
        builds.delete(build);
      });
      builds.add(build);
    }
  }

  async function takeNext(): Promise<TakenBuild | undefined> {
    try {
      return await deps.queue.take(accepts, noMore.signal);
    } catch (error) {
      if (noMore.signal.aborted) return undefined;
      deps.log.warn({ error: messageOf(error) }, 'cannot take builds from the queue');
      await pause(QUEUE_PAUSE_MS, noMore.signal);
      return undefined;
    }
  }

  /** The edge of one build: it never rejects. */
  async function execute(taken: TakenBuild, slot: number): Promise<void> {
    using halt = createHalt({
      cancelled: taken.cancelled,
      lost: taken.lost,
      'executor-stopped': killAll.signal,
    });
    try {
      await taken.report(startedEvent(taken.request, deps.clock.now(), options.hostname));
      const finished = await runWithLog(taken, slot, halt);
      if (halt.reason() === 'lost') return;
      await taken.complete(resultEvent(taken.request, finished, options.hostname));
    } catch (error) {
      const { uuid, jobName } = taken.request;
      deps.log.warn(
        { build: uuid, job: jobName, error: messageOf(error) },
        'the result of a build could not be handed over',
      );
    }
  }

  async function runWithLog(taken: TakenBuild, slot: number, halt: Halt): Promise<FinishedBuild> {
    const { request } = taken;
    const places = placesOf(sandbox.jobDir, request.uuid);
    const log = await openJobLog(logPathOf(options.logDir, request.uuid), options.outputMaxBytes, deps.clock);
    const reports: Promise<void>[] = [];
    try {
      const finished = await runBuild(
        { workspace, onFailing: at => reports.push(taken.report(failingEvent(request, at))) },
        { deps, options, spawner, sandbox, diskUsage, request, places, slot, log, halt },
      );
      await Promise.all(reports);
      const cleaningAt = deps.clock.now();
      await cleanUp(places.root);
      const { execution } = finished;
      const cleanup = {
        kind: 'Cleanup',
        subject: request.jobName,
        startedAt: cleaningAt,
        endedAt: deps.clock.now(),
      } as const;
      return {
        ...finished,
        execution: { ...execution, endedAt: cleanup.endedAt, steps: [...execution.steps, cleanup] },
      };
    } finally {
      await log.close();
    }
  }

  /** Returns once the path is free; the deleting goes on behind the build's back. */
  async function cleanUp(root: string): Promise<void> {
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

  const loop = takeBuilds();

  async function stop(mode: StopMode): Promise<void> {
    noMore.abort();
    if (mode === 'immediate') killAll.abort();
    await loop;
    await Promise.all(builds);
    await Promise.all(removals);
    await spawner.close();
  }

  return {
    sandboxReport: sandbox.report,
    isolated: sandbox.isolated,
    jobDir: sandbox.jobDir,
    running: () => [...running.values()],
    stop,
    [Symbol.asyncDispose]: () => stop('immediate'),
  };
}

function freeSlot(running: ReadonlyMap<number, RunningBuild>, slots: number): number | undefined {
  for (let slot = 0; slot < slots; slot += 1) if (!running.has(slot)) return slot;
  return undefined;
}

function eventOf(request: BuildRequest, kind: string) {
  // Derived, so that an event said twice is recognised as one.
  return {
    uuid: derivedUuid(request.uuid, kind),
    item: request.item,
    buildset: request.buildset,
    build: request.uuid,
  };
}

function startedEvent(request: BuildRequest, at: Nanoseconds, worker: string) {
  return { kind: 'build-started', ...eventOf(request, 'build-started'), at, worker } as const;
}

function failingEvent(request: BuildRequest, at: Nanoseconds) {
  return { kind: 'build-failing', ...eventOf(request, 'build-failing'), at } as const;
}

function resultEvent(request: BuildRequest, finished: FinishedBuild, worker: string) {
  const { result, detail, execution } = finished;
  return {
    kind: 'build-result',
    ...eventOf(request, 'build-result'),
    at: execution.endedAt,
    result,
    worker,
    execution,
    ...(detail === undefined ? {} : { detail }),
  } as const;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

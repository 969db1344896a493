/**
 * The executor's loop: one free slot, one request. A slot is a number below `max_builds`; it has its own Unix user and kept
 * checkouts (`sandbox/`, `kept-checkout.ts`) and runs one build at a time.
 */
import type { Nanoseconds } from '../lib/clock.ts';
import type { Uuid } from '../lib/ids.ts';
import { pause } from '../lib/pause.ts';
import type { WorkGate } from '../lib/work-gate.ts';
import type { BuildRequest } from '../model/build-request.ts';
import type { JobName } from '../model/project.ts';
import { StoreError } from '../store/port.ts';
import type { ExecutorDeps, ExecutorOptions, TakenBuild } from './deps.ts';

/** A build that occupies a slot; metrics and the signs of life of the executor count them. */
export interface RunningBuild {
  readonly build: Uuid;
  readonly job: JobName;
  /** When it was claimed. */
  readonly since: Nanoseconds;
}

/** The running loop of {@link takeBuilds}. */
export interface BuildTaker {
  /** Resolves when the gate is shut; rejects when the store session is over. Builds may still run. */
  readonly ended: Promise<void>;
  running(): readonly RunningBuild[];
  /** Resolves when no build runs. */
  idle(): Promise<void>;
}

/** After a failure of the queue, before the next attempt. */
const QUEUE_PAUSE_MS = 1_000;

/** @param execute runs a build in a slot; never rejects. */
export function takeBuilds(
  deps: Pick<ExecutorDeps, 'clock' | 'queue' | 'log' | 'room' | 'secretKeys' | 'dataSeal'>,
  options: Pick<ExecutorOptions, 'labels' | 'maxBuilds'>,
  gate: WorkGate,
  execute: (taken: TakenBuild, slot: number) => Promise<void>,
): BuildTaker {
  const running = new Map<number, RunningBuild>();
  const builds = new Set<Promise<void>>();

  let warned = false;

  function accepts({ job, secrets = {}, sealedData = [] }: BuildRequest): boolean {
    const sealed = Object.values(secrets).some(({ encrypted }) => encrypted.length > 0);
    if ((sealed && deps.secretKeys === undefined) || (sealedData.length > 0 && deps.dataSeal === undefined)) {
      if (!warned)
        deps.log.warn({ job: job.name }, 'builds with secrets are not taken: [keystore] password is not set');
      warned = true;
      return false;
    }
    return job.nodes.every(({ label }) => options.labels.includes(label));
  }

  async function loop(): Promise<void> {
    while (await gate.passed()) {
      const slot = freeSlot(running, options.maxBuilds);
      if (slot === undefined) {
        await Promise.race(builds);
        continue;
      }
      await deps.room.found(gate.signal);
      if (gate.signal.aborted) continue;
      const taken = await takeNext();
      if (taken === undefined) continue;
      const { uuid, jobName } = taken.request;
      running.set(slot, { build: uuid, job: jobName, since: deps.clock.now() });
      const build = execute(taken, slot).finally(() => {
        running.delete(slot);
        builds.delete(build);
      });
      builds.add(build);
    }
  }

  async function takeNext(): Promise<TakenBuild | undefined> {
    const { signal } = gate;
    try {
      return await deps.queue.take(accepts, signal);
    } catch (error) {
      if (isSessionOver(error)) throw error;
      if (signal.aborted) return undefined;
      const message = error instanceof Error ? error.message : String(error);
      deps.log.warn({ error: message }, 'cannot take builds from the queue');
      await pause(QUEUE_PAUSE_MS, signal);
      return undefined;
    }
  }

  return {
    ended: loop(),
    running: () => [...running.values()],
    idle: async () => void (await Promise.all(builds)),
  };
}

function isSessionOver(error: unknown): boolean {
  return error instanceof StoreError && (error.code === 'SessionExpired' || error.code === 'Closed');
}

function freeSlot(running: ReadonlyMap<number, RunningBuild>, slots: number): number | undefined {
  for (let slot = 0; slot < slots; slot += 1) if (!running.has(slot)) return slot;
  return undefined;
}

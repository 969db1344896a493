/**
 * The executor's loop: one free slot, one request (`build-slots.ts`). An executor that stops gracefully goes on to take what its paused builds
 * wait for: they would never end otherwise, where it is the only one.
 */
import { pause } from '../lib/pause.ts';
import type { WorkGate } from '../lib/work-gate.ts';
import type { BuildRequest } from '../model/build-request.ts';
import { StoreError } from '../store/port.ts';
import { type Admission, createBuildSlots, type Occupied, type RunningBuild } from './build-slots.ts';
import type { ExecutorDeps, ExecutorOptions, TakenBuild } from './deps.ts';
import { createGovernor, type GovernorOptions } from './governor/governor.ts';

/** The running loop of {@link takeBuilds}. */
export interface BuildTaker {
  /** Resolves when the gate is shut and no build pauses; rejects when the store session is over. Builds may still run. */
  readonly ended: Promise<void>;
  running(): readonly RunningBuild[];
  /** Resolves when no build runs. */
  idle(): Promise<void>;
}

/** After a failure of the queue, before the next attempt. */
const QUEUE_PAUSE_MS = 1_000;

const UNGOVERNED: GovernorOptions = {
  limits: { loadMultiplier: null, minAvailMem: null, maxStartingBuilds: null, mostWaitingLogs: null },
  onChange: () => {},
};

/** @param execute runs a build in a slot; never rejects. */
export function takeBuilds(
  deps: Pick<ExecutorDeps, 'clock' | 'queue' | 'log' | 'room' | 'work' | 'secretKeys' | 'dataSeal'>,
  options: Pick<ExecutorOptions, 'labels' | 'maxBuilds' | 'governor' | 'ansibles'>,
  gate: WorkGate,
  execute: (taken: TakenBuild, slot: Occupied) => Promise<void>,
): BuildTaker {
  const slots = createBuildSlots(options.maxBuilds);
  const builds = new Set<Promise<void>>();
  const governor = createGovernor(options.governor ?? UNGOVERNED, () => ({
    starting: slots.starting(),
    running: builds.size,
  }));

  let warned = false;

  function accepts({ job, secrets = {}, sealedData = [] }: BuildRequest, hasHosts: boolean): boolean {
    const sealed = Object.values(secrets).some(({ encrypted }) => encrypted.length > 0);
    if ((sealed && deps.secretKeys === undefined) || (sealedData.length > 0 && deps.dataSeal === undefined)) {
      if (!warned)
        deps.log.warn({ job: job.name }, 'builds with secrets are not taken: [keystore] password is not set');
      warned = true;
      return false;
    }
    if (job.ansibleVersion !== undefined && options.ansibles?.has(job.ansibleVersion) !== true) return false;
    return hasHosts || job.nodes.every(({ label }) => options.labels.includes(label));
  }

  async function loop(): Promise<void> {
    for (;;) {
      const open = await gate.passed();
      if (!open && slots.isSettled()) return;
      const admission = slots.admission(!open);
      if (admission.kind === 'none') {
        await slots.changed();
        continue;
      }
      const signal = open ? AbortSignal.any([gate.signal, slots.pauses]) : slots.pauses;
      await deps.room.found(signal);
      await governor.passed(signal);
      if (signal.aborted) continue;
      const taken = await takeNext(admission, AbortSignal.any([signal, governor.shuts]));
      if (taken === undefined) continue;
      const slot = slots.occupy(admission.slot, taken.request, deps.clock.now());
      const working = deps.work?.hold();
      const build = execute(taken, {
        ...slot,
        begin() {
          slot.begin();
          governor.check();
        },
      }).finally(() => {
        slot.release();
        working?.[Symbol.dispose]();
        builds.delete(build);
        governor.check();
      });
      builds.add(build);
    }
  }

  /** A function for each answer: requests that one declined are not offered to it again. */
  function accepting(admission: Exclude<Admission, { kind: 'none' }>): typeof accepts {
    if (admission.kind === 'any') return accepts;
    return (request, hasHosts) => admission.buildsets.has(request.buildset) && accepts(request, hasHosts);
  }

  async function takeNext(
    admission: Exclude<Admission, { kind: 'none' }>,
    signal: AbortSignal,
  ): Promise<TakenBuild | undefined> {
    try {
      return await deps.queue.take(accepting(admission), signal);
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
    ended: loop().finally(() => governor[Symbol.dispose]()),
    running: () => slots.running(),
    idle: async () => void (await Promise.all(builds)),
  };
}

function isSessionOver(error: unknown): boolean {
  return error instanceof StoreError && (error.code === 'SessionExpired' || error.code === 'Closed');
}

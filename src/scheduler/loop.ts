/**
 * Every loop of the scheduler acquires a fence, works until it loses it, and acquires it again. One catch, one back-off, one name.
 *
 * A loop that meets a record of a newer version releases its fence, so that an upgraded scheduler takes over, and stands by. One
 * that fails releases its lock before it pauses, so that another scheduler can try. One that is out of contact with the store keeps
 * its fence: nothing that it does takes effect meanwhile, and it goes on from the stored state when the store answers.
 */
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { pause } from '../lib/pause.ts';
import { isNewerRecord } from '../model/codec/record.ts';
import { connected, isConnectionLoss } from '../store/connection.ts';
import { acquireFence, type Fence, Fenced, type FenceRequest } from '../store/fence.ts';
import { type Store, StoreError } from '../store/port.ts';
import type { ActivePeriod, PauseSwitch } from './pause-switch.ts';

/** What every loop needs besides its own work; `pauseSwitch` is that of the scheduler. */
export interface LoopDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly pauseSwitch: PauseSwitch;
}

/** Milliseconds after the first, second, ... failure in a row; the last one repeats. */
const BACKOFF = [50, 200, 1_000, 5_000, 15_000] as const;
/** Milliseconds before a loop that met a newer record contends for the lock again. */
const STAND_BY = 5_000;

type Work = (fence: Fence, signal: AbortSignal) => Promise<void>;

/**
 * Runs `work` under a fence until `signal` aborts. `work` returns or throws `Fenced` when the fence is lost; any other error
 * is logged, and after a pause the fence is taken again and `work` starts from the store's state.
 */
export async function fencedLoop(
  name: string,
  request: Omit<FenceRequest, 'signal'>,
  deps: LoopDeps,
  signal: AbortSignal,
  work: Work,
): Promise<void> {
  const pauseAfter = createBackoff(name, deps.log);
  while (!signal.aborted) {
    const started = deps.clock.monotonic();
    let active: ActivePeriod | undefined;
    try {
      await deps.pauseSwitch.resumed(signal);
      active = deps.pauseSwitch.begin();
      await holdFence(name, request, deps, AbortSignal.any([signal, active.paused]), work);
    } catch (error) {
      if (signal.aborted || isTheEnd(error)) break;
      if (active?.paused.aborted) deps.log.debug({ loop: name, err: error }, `${name} is paused`);
      else await pause(pauseAfter(error, deps.clock.monotonic() - started), signal);
    } finally {
      active?.[Symbol.dispose]();
    }
  }
}

/** @returns a function that logs a failure and gives the milliseconds to pause after it. */
function createBackoff(name: string, log: Log): (error: unknown, ranForMs: number) => number {
  let failures = 0;
  let loggedReason: string | undefined;
  return (error, ranForMs) => {
    if (isNewerRecord(error)) {
      if (error.message !== loggedReason)
        log.warn({ loop: name, reason: error.message }, `${name} is left to an upgraded scheduler`);
      loggedReason = error.message;
      return STAND_BY;
    }
    if (ranForMs > 60_000) failures = 0;
    const level = error instanceof Fenced ? 'info' : 'error';
    log[level]({ loop: name, err: error, failures }, `${name} failed; it restarts from the stored state`);
    failures += 1;
    return BACKOFF[Math.min(failures, BACKOFF.length) - 1] ?? 15_000;
  };
}

/** One term of the lock. It is released before any pause, for other schedulers to try. */
async function holdFence(
  name: string,
  request: Omit<FenceRequest, 'signal'>,
  deps: LoopDeps,
  signal: AbortSignal,
  work: Work,
): Promise<void> {
  const fence = await acquireFence(deps.store, { ...request, signal });
  try {
    await workInContact(name, deps, fence, signal, work);
  } finally {
    await fence
      .release()
      .catch(error => deps.log.debug({ loop: name, err: error }, 'the lock was gone already'));
  }
}

/** Whenever contact was lost and regained, the work restarts from the stored state, under the same fence. */
async function workInContact(
  name: string,
  { store, log }: LoopDeps,
  fence: Fence,
  signal: AbortSignal,
  work: Work,
): Promise<void> {
  const either = AbortSignal.any([signal, fence.lost]);
  for (let losses = 0; ; losses++) {
    try {
      return await work(fence, signal);
    } catch (error) {
      if (!isConnectionLoss(error) || either.aborted) throw error;
      log.info({ loop: name }, `${name} is out of contact with the store and waits`);
    }
    // A store that fails while connected gives no event to wait for.
    await pause(BACKOFF[Math.min(losses, 3)] ?? 5_000, either);
    await connected(store, either);
  }
}

/** The store was closed: the process is stopping. */
function isTheEnd(error: unknown): boolean {
  return error instanceof StoreError && (error.code === 'Closed' || error.code === 'SessionExpired');
}

/** Runs loops side by side until aborted or until the first of them ends; then the others are stopped and waited for. */
export async function runTogether(
  signal: AbortSignal,
  start: (signal: AbortSignal) => readonly Promise<unknown>[],
): Promise<void> {
  const over = new AbortController();
  const either = AbortSignal.any([signal, over.signal]);
  const loops = start(either);
  try {
    await Promise.race(loops);
    signal.throwIfAborted();
  } finally {
    over.abort(new Error('a loop beside this one ended'));
    await Promise.allSettled(loops);
  }
}

/**
 * How every loop of the scheduler lives: it holds a fence, works until it loses it, and takes it again. One catch, one
 * back-off, one name.
 */
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { pause } from '../lib/pause.ts';
import { acquireFence, type Fence, Fenced, type FenceRequest } from '../store/fence.ts';
import { type Store, StoreError } from '../store/port.ts';

export interface LoopDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
}

/** Milliseconds after the first, second, ... failure in a row; the last one repeats. */
const BACKOFF = [50, 200, 1_000, 5_000, 15_000] as const;

/**
 * Runs `work` under a fence until `signal` aborts. `work` returns or throws `Fenced` when the fence is lost; any other error
 * is logged, and after a pause the fence is taken again and `work` starts from the store's state.
 */
export async function fencedLoop(
  name: string,
  request: Omit<FenceRequest, 'signal'>,
  deps: LoopDeps,
  signal: AbortSignal,
  work: (fence: Fence, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  let failures = 0;
  while (!signal.aborted) {
    let fence: Fence | undefined;
    try {
      fence = await acquireFence(deps.store, { ...request, signal });
      const started = deps.clock.monotonic();
      await work(fence, signal).finally(() => {
        if (deps.clock.monotonic() - started > 60_000) failures = 0;
      });
    } catch (error) {
      if (signal.aborted || isTheEnd(error)) break;
      const level = error instanceof Fenced ? 'info' : 'error';
      deps.log[level](
        { loop: name, err: error, failures },
        `${name} failed; it begins again from the stored state`,
      );
      await pause(BACKOFF[Math.min(failures, BACKOFF.length - 1)] ?? 15_000, signal);
      failures += 1;
    } finally {
      await fence
        ?.release()
        .catch(error => deps.log.debug({ loop: name, err: error }, 'the lock was gone already'));
    }
  }
}

/** The store was closed under us: the process is going down. */
function isTheEnd(error: unknown): boolean {
  return error instanceof StoreError && (error.code === 'Closed' || error.code === 'SessionExpired');
}

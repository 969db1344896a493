/**
 * A build that unexpectedly runs longer than `[tracing] split_after`: its later steps become part of the build's continuation trace,
 * so that no trace grows for hours. Checked where a playbook ends and the next begins.
 */
import type { Clock, Nanoseconds } from '../lib/clock.ts';
import type { BuildRequest } from '../model/build-request.ts';

/** Which part of one build belongs to its continuation trace. Once begun, the continuation lasts to the end. */
export interface SplitTrace {
  /**
   * A playbook is about to begin.
   *
   * @param from where the previous step ended: the continuation begins there.
   * @returns whether the continuation begins with it.
   */
  boundary(from: Nanoseconds): boolean;
  /** Undefined: the build has not exceeded the limit. */
  continuedAt(): Nanoseconds | undefined;
}

/** The build begins now. */
export function splitTrace(
  { trace }: Pick<BuildRequest, 'trace'>,
  clock: Pick<Clock, 'monotonic'>,
): SplitTrace {
  const limit = trace?.splitAfterMs;
  const startedAt = clock.monotonic();
  let continuedAt: Nanoseconds | undefined;
  return {
    boundary(from) {
      if (limit === undefined || continuedAt !== undefined) return false;
      if (clock.monotonic() - startedAt <= limit) return false;
      continuedAt = from;
      return true;
    },
    continuedAt: () => continuedAt,
  };
}

/** The time between the loss of a worker and its discovery. */
import type { Nanoseconds } from '../lib/clock.ts';

/** A worker was lost over a request, which another one took afterwards. */
export interface WorkerLoss {
  /** When it was last heard of, by its own clock; not before it took the request. */
  readonly from: Nanoseconds;
  /** When a scheduler found that it was gone. */
  readonly at: Nanoseconds;
}

/** Timers: up to when they have ticked, and the ticks that are not events yet. */
import type { Nanoseconds } from '../lib/clock.ts';
import type { Uuid } from '../lib/ids.ts';
import type { PipelineName, ProjectKey } from './project.ts';

/** Of one tenant. Written with the ticks, so that each comes once, in any scheduler. */
export interface TimerMark {
  /** Everything that was due until then has ticked, or was reported as missed. By the clock of the machine. */
  readonly upTo: Nanoseconds;
  /** Timers that were in force then: one that is not among them begins after `upTo`. */
  readonly timers: readonly string[];
}

/** A time of one timer has come: an event for every project and branch of which the moment is in the window. */
export interface Tick {
  readonly uuid: Uuid;
  readonly pipeline: PipelineName;
  /** As written in the trigger. */
  readonly time: string;
  /** When it was to come, without jitter. */
  readonly at: Nanoseconds;
  /** With their jitter, branches that come after `from` and not after `to`. */
  readonly from: Nanoseconds;
  readonly to: Nanoseconds;
  /** Name of the last branch that has its event (`branchText`); null: none has. */
  readonly after: string | null;
  /** For this project alone, whose host did not serve; null: for all that are left. */
  readonly only: ProjectKey | null;
  readonly queuedAt: Nanoseconds;
}

/** How a code host serves a connection: as its driver knows it, and as the scheduler that holds the connection reports it. */
import type { Nanoseconds } from '../lib/clock.ts';
import type { HostTroubleReason } from './host-trouble.ts';

/** What a driver knows of its host in one process; it forgets it with the process. */
export interface ConnectionHealth {
  /**
   * `unknown`: not asked yet. `limited`: some repository is refused for a while (too many requests), and nothing else is wrong.
   * `failing`: some repository is not served for another reason.
   */
  readonly state: 'unknown' | 'serving' | 'limited' | 'failing';
  /** One line for people, without secrets. */
  readonly text: string;
  /** As the host said; null: no limit, or the host did not say. */
  readonly limitedUntil: Nanoseconds | null;
  /** When the last event that was processed came in. */
  readonly lastEventAt: Nanoseconds | null;
  /** News that a look of our own found before the host announced them, where it is to announce them. */
  readonly missed: number;
}

/** A repository, or other lane, whose events wait for the host. */
export interface WaitingLane {
  readonly lane: string;
  readonly reason: HostTroubleReason;
  readonly text: string;
  readonly since: Nanoseconds;
  /** Not tried again before. */
  readonly retryAt: Nanoseconds;
}

/** Lies in the store, so that every web can show it; nothing is decided by it. */
export interface ConnectionReport extends ConnectionHealth {
  /** When it was written. */
  readonly at: Nanoseconds;
  /** The scheduler that holds the connection, as `<host>/<pid>`. */
  readonly holder: string;
  readonly waitingLanes: number;
  /** The first of them. */
  readonly waiting: readonly WaitingLane[];
}

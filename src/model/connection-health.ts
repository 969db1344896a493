/** How a code host serves a connection: as its driver sees it, and as the connection's holder reports it. */
import type { Nanoseconds } from '../lib/clock.ts';
import type { HostTroubleReason } from './host-trouble.ts';

/** What an operator has to mend: at the host, in the settings, or in a pipeline that wants what the host does not give. */
export interface HostFault {
  /** `warning`: the host works as it says, and pipelines may expect otherwise. It is no trouble of the connection. */
  readonly severity: 'error' | 'warning';
  /** Its name at the host; null: the connection as a whole. */
  readonly project: string | null;
  /** One line for people, without secrets. */
  readonly text: string;
  /** Of interest only where changes that depend on each other may land together. */
  readonly onlyForCycles: boolean;
}

/** The health of a host as the driver of one process sees it; not kept over a restart. */
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
  /** Events that a poll found before the host delivered them, on a connection where the host is to deliver them. */
  readonly missed: number;
  /** The first twenty. */
  readonly faults: readonly HostFault[];
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

/** Stored so that every web can show it; no decision reads it. */
export interface ConnectionReport extends ConnectionHealth {
  /** When it was written. */
  readonly at: Nanoseconds;
  /** The scheduler that holds the connection, as `<host>/<pid>`. */
  readonly holder: string;
  readonly waitingLanes: number;
  /** The first of them. */
  readonly waiting: readonly WaitingLane[];
}

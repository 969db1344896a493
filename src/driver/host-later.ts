/**
 * The host does not serve the request now: a limit, a lock, an outage, an answer older than the host's own writes. Nothing has
 * changed there, and it says nothing about a change.
 */
import type { Nanoseconds } from '../lib/clock.ts';
import type { HostTroubleReason } from '../model/host-trouble.ts';

/** Why the host does not serve, and until when. */
export interface HostLater {
  /** Class of the trouble, for metrics and spans. */
  readonly reason: HostTroubleReason;
  /** One line for people, without secrets. */
  readonly text: string;
  /** When the host may be asked again, as it said; absent: it named no time, and the caller tries with growing pauses. */
  readonly notBefore?: Nanoseconds;
}

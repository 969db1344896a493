/** The host does not serve us now: a limit, a lock, an outage, an answer that is behind its own writes. Nothing has changed there. */
import type { Nanoseconds } from '../lib/clock.ts';
import type { HostTroubleReason } from '../model/host-trouble.ts';

export interface HostLater {
  readonly reason: HostTroubleReason;
  /** One line for people. */
  readonly text: string;
  /** Not to be asked again before; absent: the host did not say, so it is asked again ever more rarely. */
  readonly notBefore?: Nanoseconds;
}

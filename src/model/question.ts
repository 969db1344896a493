import type { Nanoseconds } from '../lib/clock.ts';
import type { ChangeKey } from './change.ts';
import type { EventOrigin } from './event.ts';

/** A person asked at the code host why a change is, or is not, in a pipeline. Stored as the record `question` until it is answered. */
export interface Question {
  readonly change: ChangeKey;
  /** As the host names who asked. */
  readonly by: string;
  /** When the host's delivery reached us. */
  readonly askedAt: Nanoseconds;
  /** The host's event that asked. */
  readonly origin: EventOrigin;
}

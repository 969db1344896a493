/**
 * Trouble with a code host, and the wait of an item for it. It says nothing about the change: the item stays where it is and
 * what failed is tried again (`src/pipeline/host-wait.ts`).
 */
import type { Nanoseconds } from '../lib/clock.ts';
import type { CommitId, ProjectKey } from './project.ts';

/** The reasons of `src/git/process/failure-table.ts`. */
export type HostTroubleReason =
  | 'unreachable'
  | 'limited'
  | 'denied'
  | 'timeout'
  | 'locked'
  | 'bad-url'
  | 'missing-ref'
  | 'too-large'
  | 'aborted'
  | 'other';

/** One failed request to a code host. */
export interface HostTrouble {
  readonly project: ProjectKey;
  readonly reason: HostTroubleReason;
  /** One line for people. */
  readonly text: string;
  /** Of `missing-ref`: what the host did not have. */
  readonly commit?: CommitId;
  /** The host named this time itself; absent: it named none. */
  readonly notBefore?: Nanoseconds;
  /** Of a landing: it was sent, or may have been, and whether it arrived is not known. */
  readonly unsettled?: true;
}

/** What is tried again: fetching commits for a merge, fetching them for a build, or landing and reporting. */
export type HostWork = 'merge' | 'build' | 'report';

/** The wait of an item for its host, from the first failure to the next try. */
export interface HostWait extends HostTrouble {
  readonly doing: HostWork;
  /** Of the first failure. */
  readonly since: Nanoseconds;
  /** Failures so far. */
  readonly tries: number;
  /** Not asked again before. */
  readonly retryAt: Nanoseconds;
}

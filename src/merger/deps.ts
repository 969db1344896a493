/**
 * The merger: git work for schedulers, done in bare mirrors.
 *
 * It takes a {@link MergerRequest} (`src/model/merge.ts`) and answers with a {@link MergerOutcome}. The path of a request:
 *
 *     store-requests.ts   the queue in the store, and where answers go
 *     merger.ts           claims all waiting requests and serves them side by side, by kind; failures become `failed` outcomes
 *     fetch-state.ts      one git fetch per project: tips, changes, pinned commits
 *     merge-changes.ts    the outcome of a merge request
 *     merge-lanes.ts      the cached chain per project and branch
 *     config-files.ts     zuul.yaml and its kin at a commit, from the object database
 *
 * Requests that are served together share their fetches (`src/git/repository.ts`), and no request repeats a merge of
 * another. The merger keeps nothing between requests: all caches are in the mirrors.
 */
import type { FindRemote } from '../driver/find-remote.ts';
import type { RepositoryCache } from '../git/repository-cache.ts';
import type { Clock } from '../lib/clock.ts';
import type { DiskRoom } from '../lib/disk-room.ts';
import type { MergerOutcome, MergerRequest } from '../model/merge.ts';

/** What the merger's loop needs: requests, and a disk with room for what it makes. */
export interface MergerDeps extends ServeDeps {
  readonly requests: MergerRequests;
  readonly log: MergerLog;
  /** Free space of the disk with the mirrors. */
  readonly room: DiskRoom;
}

/** What serving one request needs. */
export interface ServeDeps {
  readonly clock: Clock;
  readonly repositories: RepositoryCache;
  readonly remote: FindRemote;
  /** Name of this merger, in outcomes and spans; usually the host's. */
  readonly worker: string;
}

/** The merger's end of the request queue. */
export interface MergerRequests {
  /**
   * Claims requests, oldest of the highest priority first: all that wait, at most `most`, at least one. Waits while there is
   * none; gives an empty list when `signal` is aborted.
   */
  claim(most: number, signal: AbortSignal): Promise<readonly ClaimedRequest[]>;
}

/** Served by this merger alone until one of the calls below, which write nothing once the claim is lost. */
export interface ClaimedRequest {
  readonly request: MergerRequest;
  /** 1, plus one for each merger that died or ran out of time over it. */
  readonly attempt: number;
  /** Stores the outcome and releases the claim, in one multi. */
  complete(outcome: MergerOutcome): Promise<void>;
  /** Puts the request back for another merger. @param attempt what it is then. */
  again(attempt: number): Promise<void>;
  /** Releases the claim and the request without an answer: the tenant or pipeline that asked is gone. */
  drop(): Promise<void>;
}

/** The part of the log that the merger uses. */
export interface MergerLog {
  info(facts: object, text: string): void;
  warn(facts: object, text: string): void;
  /** A log that adds `facts` to every line. */
  child(facts: object): MergerLog;
}

/**
 * What a listing of pull requests shows that no event has reported. Pure. Branches: branches.ts.
 *
 *     remembered   by the events that were processed, in the driver's memory
 *     listed       by the sweep before, in this process
 *
 * A pull request differs when its listing differs from the memory. What the memory does not hold in this form (comments, the state
 * of checks) is compared with the listing before, which costs a reading that may find nothing.
 */
import { type PullMemory, reviewDigest } from '../reading/pull-memory.ts';
import { nodesOf } from '../reading/query/pull-state.ts';
import {
  LABELS_AT_ONCE,
  type ListedPull,
  type ListedRepository,
  PULLS_AT_ONCE,
  REVIEWS_AT_ONCE,
} from './listing-query.ts';

/** What a sweep found of one pull request. */
export interface PullDifference {
  readonly number: number;
  /** It is not known yet, and was created since the sweep before. */
  readonly isNew: boolean;
  /** The memory differs: an event was missed. False: it may have been. */
  readonly isMissed: boolean;
}

/** Of one repository, between two sweeps. */
export interface Seen {
  /** Number → digest of its listing. */
  readonly pulls: ReadonlyMap<number, string>;
  /** `updatedAt` of the pull request that was updated last, in milliseconds; 0: there is none. */
  readonly newest: number;
}

/** The values to compare the next listing with. */
export function seenOf({ pullRequests }: ListedRepository): Seen {
  const pulls = nodesOf(pullRequests);
  return {
    pulls: new Map(pulls.map(pull => [pull.number, digestOf(pull)])),
    newest: Math.max(0, ...pulls.map(({ updatedAt }) => Date.parse(updatedAt))),
  };
}

/** What a listing gives reason to look at. */
export interface Suspicion {
  /** The repository is to be read as a whole: this is the first sweep, or more has changed than the listing shows. */
  readonly isWhole: boolean;
  /** Pull requests that may differ from the memory; of a repository that is read as a whole those that are not open. */
  readonly pulls: readonly ListedPull[];
}

/** @param before undefined: the first sweep of this process. */
export function suspects(listed: ListedRepository, before: Seen | undefined): Suspicion {
  const pulls = nodesOf(listed.pullRequests);
  const other = pulls.filter(pull => before?.pulls.get(pull.number) !== digestOf(pull));
  const isWhole = before === undefined || other.length >= PULLS_AT_ONCE;
  return { isWhole, pulls: isWhole ? other.filter(({ state }) => state !== 'OPEN') : other };
}

/**
 * @param remembered undefined: nothing is.
 * @param before undefined: this is the first sweep of this process, and what is unknown may be old.
 */
export function pullDifference(
  pull: ListedPull,
  remembered: PullMemory | undefined,
  before: Seen | undefined,
): PullDifference | undefined {
  const { number } = pull;
  if (remembered === undefined) {
    const isNew = before !== undefined && Date.parse(pull.createdAt) > before.newest;
    // Of a pull request that was closed before it was ever read no pipeline needs to know.
    return pull.state === 'OPEN' ? { number, isNew, isMissed: before !== undefined } : undefined;
  }
  if (isOtherThan(pull, remembered)) return { number, isNew: false, isMissed: true };
  const known = before?.pulls.get(number);
  return known === undefined || known === digestOf(pull)
    ? undefined
    : { number, isNew: false, isMissed: false };
}

const STATUS = { OPEN: 'open', CLOSED: 'abandoned', MERGED: 'merged' } as const;

function isOtherThan(pull: ListedPull, memory: PullMemory): boolean {
  const labels = nodesOf(pull.labels).map(({ name }) => name);
  const reviews = nodesOf(pull.latestOpinionatedReviews).map(reviewDigest);
  return (
    STATUS[pull.state] !== memory.status ||
    pull.headRefOid !== memory.head ||
    pull.baseRefName !== memory.base ||
    pull.isDraft !== memory.draft ||
    !mayBeAll(labels, LABELS_AT_ONCE, memory.labels) ||
    !mayBeAll(reviews, REVIEWS_AT_ONCE, memory.reviews)
  );
}

/** Whether the list is what is remembered, or the part of it that fits. @param most entries of a list. */
function mayBeAll(listed: readonly string[], most: number, remembered: readonly string[]): boolean {
  const known = new Set(remembered);
  const isWhole = listed.length < most;
  return (
    listed.every(each => known.has(each)) && (isWhole ? listed.length === known.size : known.size >= most)
  );
}

/** A new comment, title or body differs in `updatedAt`; the end of a check only in the state of the head. */
function digestOf({ updatedAt, state, headRefOid, commits }: ListedPull): string {
  const rollup = nodesOf(commits)[0]?.commit.statusCheckRollup?.state ?? '';
  return [updatedAt, state, headRefOid, rollup].join(' ');
}

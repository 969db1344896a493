/**
 * Commits that take more memory than git may use, remembered for a while: each try would unfold them again, up to the limit. A
 * commit does not change, but a machine short of memory gives the same error, so the memory expires.
 */

import type { ObjectId } from '../objects/object-id.ts';
import type { RefName } from '../objects/ref-name.ts';
import type { RemoteFailure } from '../process/remote-failure.ts';
import { createLru } from '../support/lru.ts';

/** Of one mirror, in the memory of one process; an entry lasts an hour. */
export interface TooLargeCommits {
  has(commit: ObjectId): boolean;
  add(commit: ObjectId): void;
  /** The ref led to such a commit when it was last listed. */
  isLedToBy(ref: RefName): boolean;
  /** Where the ref leads now. @param commit such a commit; undefined: another one. */
  noteRef(ref: RefName, commit: ObjectId | undefined): void;
}

/** A wanted ref and the commit it leads to, which cannot be read. */
export interface TooLargeRef {
  readonly ref: RefName;
  readonly commit: ObjectId;
}

/** Part of a fetch's outcome: these are missing, and all else is here as far as the remote has it. */
export interface TooLarge {
  readonly refs: readonly [TooLargeRef, ...TooLargeRef[]];
  /** Completes the sentence "the commit is …". */
  readonly text: string;
}

const MOST_COMMITS = 10_000;
const KEPT_MS = 3_600_000;

/** @param now milliseconds of a clock that is never set. */
export function createTooLargeCommits(now: () => number = () => performance.now()): TooLargeCommits {
  const until = createLru<ObjectId, number>(MOST_COMMITS);
  const refs = createLru<RefName, ObjectId>(MOST_COMMITS);
  const has = (commit: ObjectId) => now() < (until.get(commit) ?? 0);
  return {
    has,
    add: commit => until.set(commit, now() + KEPT_MS),
    isLedToBy(ref) {
      const commit = refs.get(ref);
      return commit !== undefined && has(commit);
    },
    noteRef(ref, commit) {
      if (commit === undefined) refs.delete(ref);
      else refs.set(ref, commit);
    },
  };
}

/** @param memoryBytes memory limit of a git process; null: none. */
export function tooLargeFailure(
  refs: TooLarge['refs'],
  memoryBytes: number | null,
): RemoteFailure & { readonly tooLarge: TooLarge } {
  const text = tooLargeText(memoryBytes);
  const [{ ref, commit }, ...others] = refs;
  const more = others.length === 0 ? '' : `, and so are ${others.length} others`;
  return {
    kind: 'remote-failed',
    reason: 'too-large',
    nature: 'content',
    message: `commit ${commit.slice(0, 8)} of ${ref} is ${text}${more}`,
    tooLarge: { refs, text },
  };
}

function tooLargeText(memoryBytes: number | null): string {
  if (memoryBytes === null) return 'too large to read: more memory than there is';
  return `too large to read: more than ${memoryBytes / 1_000_000} MB of memory, limit [merger] git_memory_limit`;
}

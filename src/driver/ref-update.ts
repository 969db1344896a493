/** The update of a branch or tag, as a change. */
import type { Nanoseconds } from '../lib/clock.ts';
import { type ChangeRecord, type RefUpdate, refUpdateKey } from '../model/change.ts';
import type { Json } from '../model/job.ts';
import { type ProjectKey, parseCommitId } from '../model/project.ts';

/** Where a ref went. */
export interface RefMoved extends Pick<RefUpdate, 'targetBranch' | 'tree'> {
  /** Full name. */
  readonly ref: string;
  /** Null: it did not exist, or is not known. */
  readonly before: string | null;
  /** Null: it was deleted. */
  readonly after: string | null;
}

/** What has a target branch of its own (a merge group) counts as no branch. */
export function refUpdate(
  project: ProjectKey,
  { ref, before, after, targetBranch, tree }: RefMoved,
): RefUpdate {
  const newCommit = after === null ? null : parseCommitId(after);
  const isBranch = targetBranch === undefined && ref.startsWith('refs/heads/');
  return {
    kind: 'ref',
    key: refUpdateKey(project, ref, newCommit),
    project,
    ref,
    ...(isBranch ? { branch: ref.slice('refs/heads/'.length) } : {}),
    oldCommit: before === null ? null : parseCommitId(before),
    newCommit,
    ...(targetBranch === undefined ? {} : { targetBranch }),
    ...(tree === undefined ? {} : { tree }),
  };
}

/** Always open: it has happened, and nothing merges or abandons it. */
export function refUpdateRecord(change: RefUpdate, facts: Json, fetchedAt: Nanoseconds): ChangeRecord {
  return { change, status: 'open', dependsOn: [], unresolvedDependencies: [], facts, fetchedAt };
}

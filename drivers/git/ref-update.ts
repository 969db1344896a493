import type { Nanoseconds } from '../../src/lib/clock.ts';
import { type ChangeRecord, type RefUpdate, refUpdateKey } from '../../src/model/change.ts';
import { type ProjectKey, parseCommitId } from '../../src/model/project.ts';
import type { RefMove } from './ref-changes.ts';

/** A branch or tag that moved, as a change. */
export function refUpdate({ ref, branch, before, after }: RefMove, project: ProjectKey): RefUpdate {
  const newCommit = after === null ? null : parseCommitId(after);
  return {
    kind: 'ref',
    key: refUpdateKey(project, ref, newCommit),
    project,
    ref,
    ...(branch === undefined ? {} : { branch }),
    oldCommit: before === null ? null : parseCommitId(before),
    newCommit,
  };
}

/** Always open: it has happened, but nothing merges or abandons it. */
export function refUpdateRecord(move: RefMove, project: ProjectKey, now: Nanoseconds): ChangeRecord {
  const change = refUpdate(move, project);
  return { change, status: 'open', dependsOn: [], unresolvedDependencies: [], facts: {}, fetchedAt: now };
}

/** Branch tips on top of which an item was tested, for `vcs.ref.base.revision`. */
import { testedMergeOf } from '../../model/build-set.ts';
import type { QueueItem } from '../../model/queue-item.ts';

/**
 * Of the last buildset, one per change that was merged: a commit, or a list of them for a cycle; undefined: nothing was merged. Told
 * only of an item that has left: until then a reset may change it, and a span says the same whenever it is made.
 */
export function testedBases(item: QueueItem): unknown {
  const branches = testedMergeOf(item.buildset)?.branches ?? [];
  const bases = item.changes.flatMap(
    change =>
      branches.find(({ project, branch }) => project === change.project && branch === change.branch)?.base ??
      [],
  );
  return bases.length > 1 ? bases : bases[0];
}

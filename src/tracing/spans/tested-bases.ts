/** Branch tips on top of which an item was tested, for `vcs.ref.base.revision`. */
import { testedMergeOf } from '../../model/build-set.ts';
import type { QueueItem } from '../../model/queue-item.ts';

/**
 * Of the last buildset: the tip for each merged change, a list for a cycle; undefined: nothing was merged. Only set once the item has
 * left: earlier values could still change.
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

import { mergeMessageOf } from '../../../src/driver/merge-message.ts';
import type { ProposedChange } from '../../../src/model/change.ts';
import { projectIdOf } from '../../../src/model/project.ts';

/** Message of a merge commit, titled `Merge pull request acme/app#12`. */
export function pullMergeMessage(change: ProposedChange): string {
  return mergeMessageOf(`Merge pull request ${projectIdOf(change.project).name}#${change.id}`, change);
}

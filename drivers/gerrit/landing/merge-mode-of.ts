import type { MergeMode } from '../../../src/model/merge-mode.ts';
import type { SubmitType } from '../facts.ts';

/**
 * The merge mode that comes nearest to what Gerrit does with the submit type. Its merges are those of `merge-resolve`, which Zuul has as
 * the default for every project of a Gerrit.
 */
export function mergeModeOf(submitType: SubmitType): MergeMode {
  switch (submitType) {
    case 'CHERRY_PICK':
      return 'cherry-pick';
    case 'REBASE_ALWAYS':
    case 'REBASE_IF_NECESSARY':
      return 'rebase';
    case 'INHERIT':
    case 'FAST_FORWARD_ONLY':
    case 'MERGE_ALWAYS':
    case 'MERGE_IF_NECESSARY':
      return 'merge-resolve';
  }
}

/** Whether what the mode makes for the tests has the tree of what Gerrit makes with the submit type, conflicts aside. */
export function agreesWith(mode: MergeMode, submitType: SubmitType): boolean {
  const wanted = mergeModeOf(submitType);
  return mode === wanted || (wanted === 'merge-resolve' && mode.startsWith('merge'));
}

/** How the changes of a project become part of their branch: Zuul's `merge-mode`, by Zuul's names. */
export type MergeMode =
  | 'merge'
  | 'merge-resolve'
  | 'merge-ort'
  | 'merge-recursive'
  | 'squash-merge'
  | 'rebase'
  | 'cherry-pick';

const KNOWN: { readonly [mode in MergeMode]: true } = {
  merge: true,
  'merge-resolve': true,
  'merge-ort': true,
  'merge-recursive': true,
  'squash-merge': true,
  rebase: true,
  'cherry-pick': true,
};

/** All of them, the default first. */
export const MERGE_MODES: readonly MergeMode[] = Object.keys(KNOWN).filter(isMergeMode);

/** Whether Zuul knows a merge mode of this name. */
export function isMergeMode(text: string): text is MergeMode {
  return Object.hasOwn(KNOWN, text);
}

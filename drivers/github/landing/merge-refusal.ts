/**
 * What GitHub's refusal of `PUT …/merge` means, by status and words. Pure.
 *
 * Words that are not known are a refusal, quoted as they are: a rule of the repository that we do not know is still one.
 */

/** What happens next. */
export type MergeRefusal =
  /** The branch moved, or GitHub has not noticed yet where it is: compare and decide. */
  | 'base-moved'
  /** The pull request has another head. */
  | 'head-moved'
  /** A required check is missing, perhaps our own. */
  | 'needs-checks'
  /** It merges already, or has not computed whether it can. */
  | 'busy'
  | { readonly refused: string };

/** @param said GitHub's message, one line. */
export function judgeMergeRefusal(status: number, said: string): MergeRefusal {
  const quoted = `GitHub did not merge: ${said.slice(0, 500)}`;
  if (/base branch was modified/i.test(said)) return 'base-moved';
  if (/head branch was modified|head sha|expected head/i.test(said)) return 'head-moved';
  if (/merge already in progress|temporarily|try again/i.test(said)) return 'busy';
  switch (status) {
    case 403:
      return { refused: `${quoted}; ${forbidden(said)}` };
    case 404:
      return {
        refused: `${quoted}; the App lacks the permission contents: write`,
      };
    case 405:
      if (/status check|required check|checks? (is|are) expected/i.test(said)) return 'needs-checks';
      if (/not mergeable|mergeability/i.test(said)) return 'busy';
      return { refused: quoted };
    case 409:
      return 'head-moved';
    default:
      return { refused: quoted };
  }
}

function forbidden(said: string): string {
  return /workflow/i.test(said)
    ? 'the pull request changes workflow files: give the App the permission workflows: write'
    : 'the App needs the permission contents: write, and no rule of the branch may forbid it to merge';
}

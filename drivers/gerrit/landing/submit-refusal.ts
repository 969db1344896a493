/**
 * What Gerrit's refusal of `submit` means, by status and words. Pure.
 *
 *     409 change is merged                                                          merged
 *     409 revision 3f2a… is not current revision                                    changed
 *     409 Failed to submit 1 change due to the following problems:
 *         Change 12: needs Verified; needs Workflow                                 refused
 *         Change 17: needs Code-Review                      (of another change)     refused
 *         Change 12: submit requirement 'Code-Review' is unsatisfied.               refused
 *         Change 16: Change could not be merged due to a path conflict. …           conflict
 *         Change 41: Change 41 is work in progress                                  refused
 *     409 Project policy requires all submissions to be a fast-forward. …           conflict
 *     409 LOCK_FAILURE, a request that was overtaken by another                     busy
 *     403 submit not permitted                                                      refused
 *
 * Words that are not known are a refusal, quoted as they are: a rule of the site that we do not know is still one.
 */
import { cutLine } from '../../../src/lib/cut-text.ts';

/** What happens next. */
export type SubmitRefusal =
  | { readonly kind: 'merged' }
  /** Gerrit knows more than was read: compare and decide. */
  | { readonly kind: 'changed'; readonly text: string }
  /** Gerrit is at work on it; nothing speaks against the change. */
  | { readonly kind: 'busy'; readonly text: string }
  /** Refused, unless the branch has moved: then it is tested again. */
  | { readonly kind: 'conflict'; readonly text: string }
  | { readonly kind: 'refused'; readonly text: string };

type Row = readonly [words: RegExp, kind: SubmitRefusal['kind'], advice?: string];

/** The first that fits decides. */
const ROWS: readonly Row[] = [
  [/^change is merged|change has (already )?been merged|already merged/i, 'merged'],
  [/is not (the )?current (revision|patch ?set)/i, 'changed'],
  [/change is (abandoned|closed)/i, 'refused'],
  [/work in progress/i, 'refused', 'mark it as ready'],
  [/is private/i, 'refused', 'a private change has to be published first'],
  [
    /lock.?failure|lock failed|failed to lock|concurrent|try again|timed? ?out|internal server error|temporarily/i,
    'busy',
  ],
  [/^change is (new|submitted|locked)/i, 'busy'],
  [
    /submit not permitted|not permitted: submit|not allowed to submit|submit\b.*\bpermission/i,
    'refused',
    'give our account the permission Submit on refs/heads/* of the project, and allow it to see the change',
  ],
  [
    /depends on (a )?change that was not submitted|which cannot be merged|not visible|dependenc/i,
    'refused',
    'a change that it is built on has to land first',
  ],
  [
    /needs? [\w-]+|submit requirement|is unsatisfied|not ready|blocked by|submit rule|is not submittable/i,
    'refused',
  ],
  [
    /fast.?forward/i,
    'conflict',
    'the submit type of the project takes fast-forwards only: rebase the change, or change the submit type',
  ],
  [
    /conflict|could not be (merged|rebased|cherry.?picked)|rebase the change|cannot rebase|cannot cherry/i,
    'conflict',
    'Gerrit merges less than git does where the project does not allow content merges',
  ],
];

/** @param said Gerrit's text, which may have lines. @param number of the change that was submitted. */
export function judgeSubmitRefusal(status: number, said: string, number: number): SubmitRefusal {
  const row = ROWS.find(([words]) => words.test(said));
  if (row?.[1] === 'merged') return { kind: 'merged' };
  const advice = row?.[2] ?? (row === undefined ? adviceOf(status) : undefined);
  const text = `Gerrit did not submit it: ${problems(said, number)}${advice === undefined ? '' : ` (${advice})`}`;
  return { kind: row?.[1] ?? 'refused', text };
}

function adviceOf(status: number): string | undefined {
  if (status === 403) return 'give our account the permission Submit on refs/heads/* of the project';
  return status === 404 ? 'it was deleted, or is hidden from us' : undefined;
}

/** One line, without the introduction; its own number is left out, those of other changes are not. */
function problems(said: string, number: number): string {
  const lines = said
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '' && !/^failed to submit \d+ changes?\b.*problems:?$/i.test(line))
    .map(line => (line.startsWith(`Change ${number}: `) ? line.slice(`Change ${number}: `.length) : line));
  return cutLine(lines.join('; '), 500);
}

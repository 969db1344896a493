/**
 * What Gerrit's refusal of a review means, by status and words, and what is sent then. Pure.
 *
 * Gerrit refuses a review as a whole: for a vote that the account may not give, a label that the project does not have, a comment on
 * a file that the patch set does not have. What it takes is worth sending without the rest.
 *
 *     403 Applying label "Verified": 2 is restricted              without that vote
 *     400 label "Nope" is not a configured label                  without that vote
 *     400 file lib/a not found in revision 12,1                   without comments on lines
 *     400 Comment size exceeds limit (15300 > 8192)               without comments, then with a brief message
 *     409 change is closed                                        not at all: it was abandoned
 *     404 Not found: 12                                           not at all: it was deleted, or is hidden from us
 */

/** What was sent, as far as it decides what is sent next. */
export interface SentReview {
  readonly labels: readonly string[];
  readonly hasComments: boolean;
  /** Undefined: it has no message. */
  readonly message: 'whole' | 'brief' | undefined;
}

/** What happens next. */
export type ReviewRefusal =
  | { readonly kind: 'closed' }
  | { readonly kind: 'gone' }
  | { readonly kind: 'without-votes'; readonly labels: readonly string[] }
  | { readonly kind: 'without-comments' }
  | { readonly kind: 'brief' }
  | { readonly kind: 'refused' };

/** @param said Gerrit's text. */
export function judgeReviewRefusal(status: number, said: string, sent: SentReview): ReviewRefusal {
  if (status === 404) return { kind: 'gone' };
  if (status === 409 && /change is (closed|abandoned)/i.test(said)) return { kind: 'closed' };
  const isSize = status === 413 || /\b(size|too (long|large|big|many)|exceed|limit)/i.test(said);
  const named = isSize ? [] : sent.labels.filter(label => names(said, label));
  if (named.length > 0) return { kind: 'without-votes', labels: named };
  if (sent.hasComments) return { kind: 'without-comments' };
  if (isSize) return sent.message === 'whole' ? { kind: 'brief' } : { kind: 'refused' };
  // Words that are not known: the message is worth more than votes that may be the reason.
  return sent.labels.length > 0 && sent.message !== undefined
    ? { kind: 'without-votes', labels: sent.labels }
    : { kind: 'refused' };
}

function names(said: string, label: string): boolean {
  const found = said.indexOf(label);
  if (found < 0) return false;
  const around = [said[found - 1] ?? ' ', said[found + label.length] ?? ' '];
  return around.every(each => !/[\w-]/.test(each));
}

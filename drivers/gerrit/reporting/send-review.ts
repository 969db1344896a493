/**
 * Sends one review: votes, message and comments on lines in one request, so that they arrive together or not at all. What Gerrit
 * does not take is left out of the next request, which says so; there are as many requests as there are things to leave out.
 */
import { isMapping } from '../../../src/driver/read-mapping.ts';
import type { ProposedChange } from '../../../src/model/change.ts';
import type { Json } from '../../../src/model/job.ts';
import type { FileComment } from '../../../src/model/report.ts';
import type { GerritReporterDeeds } from '../language/reporter-config.ts';
import type { LineCommentPlan } from './line-comments.ts';
import { type LabelVote, type NotTaken, type ReviewCalls, revisionPath } from './report-context.ts';
import type { DroppedVote, MessageExtras } from './review-message.ts';
import { judgeReviewRefusal } from './review-refusal.ts';

/** What is wanted of one review. */
export interface WantedReview {
  readonly change: ProposedChange;
  readonly tag: string;
  readonly votes: readonly LabelVote[];
  readonly notify: GerritReporterDeeds['notify'];
  readonly lines: LineCommentPlan;
  /** All of them, for a message without comments on lines. */
  readonly remarks: readonly FileComment[];
  /** Undefined: no message. */
  readonly message:
    | { readonly whole: (extras: MessageExtras) => string; readonly brief: () => string }
    | undefined;
}

/** `sent`: Gerrit has all but the dropped votes. `closed`, `gone`: there is nothing to write to any more. */
export type ReviewOutcome =
  | { readonly kind: 'sent'; readonly dropped: readonly DroppedVote[] }
  | { readonly kind: 'closed' | 'gone'; readonly text: string }
  | NotTaken;

interface Attempt {
  readonly votes: readonly LabelVote[];
  readonly dropped: readonly DroppedVote[];
  readonly hasComments: boolean;
  readonly isBrief: boolean;
}

/** A review without votes, message and comments is not sent. */
export async function sendReview(wanted: WantedReview, calls: ReviewCalls): Promise<ReviewOutcome> {
  const hasComments = Object.keys(wanted.lines.comments).length > 0;
  let attempt: Attempt = { votes: wanted.votes, dropped: [], hasComments, isBrief: false };
  // Each round but the last leaves something out: a vote, the comments, the message's length.
  for (let rounds = 0; rounds <= wanted.votes.length + 2; rounds++) {
    const body = bodyOf(attempt, wanted);
    if (body === undefined) return { kind: 'sent', dropped: attempt.dropped };
    const answer = await calls.api.ask(
      {
        operation: 'changes/review',
        method: 'POST',
        path: `${revisionPath(wanted.change)}/review`,
        body,
      },
      calls.call,
    );
    if (answer.kind === 'ok')
      return { kind: 'sent', dropped: [...attempt.dropped, ...unknown(answer.data, attempt)] };
    if (answer.kind !== 'refused') return answer;
    const next = afterRefusal(answer, attempt, wanted);
    if ('kind' in next) return next;
    attempt = next;
  }
  return { kind: 'refused', status: 400, text: 'each form of the review was refused' };
}

function bodyOf({ votes, dropped, hasComments, isBrief }: Attempt, wanted: WantedReview): Json | undefined {
  const { message, lines, remarks, tag, notify } = wanted;
  if (votes.length === 0 && !hasComments && message === undefined) return undefined;
  const left = hasComments ? lines.leftOut : remarks;
  const text = isBrief ? message?.brief() : message?.whole({ remarks: left, dropped });
  return JSON.parse(
    JSON.stringify({
      tag,
      notify,
      omit_duplicate_comments: true,
      ...(text === undefined ? {} : { message: text }),
      ...(votes.length === 0
        ? {}
        : { labels: Object.fromEntries(votes.map(({ label, value }) => [label, value])) }),
      ...(hasComments ? { comments: lines.comments } : {}),
    }),
  );
}

/** Gerrit drops a label that the project does not have, and answers 200. */
function unknown(answer: Json, { votes }: Attempt): readonly DroppedVote[] {
  const taken = isMapping(answer) && isMapping(answer.labels) ? answer.labels : {};
  return votes
    .filter(({ label }) => taken[label] === undefined)
    .map(vote => ({ ...vote, why: `the change has no label ${vote.label}` }));
}

function afterRefusal(
  answer: Extract<NotTaken, { readonly kind: 'refused' }>,
  attempt: Attempt,
  { message }: WantedReview,
): Attempt | ReviewOutcome {
  const { status, text } = answer;
  const meaning = judgeReviewRefusal(status, text, {
    labels: attempt.votes.map(({ label }) => label),
    hasComments: attempt.hasComments,
    message: message === undefined ? undefined : attempt.isBrief ? 'brief' : 'whole',
  });
  switch (meaning.kind) {
    case 'closed':
    case 'gone':
      return { kind: meaning.kind, text };
    case 'refused':
      return answer;
    case 'without-comments':
      return { ...attempt, hasComments: false };
    case 'brief':
      return { ...attempt, isBrief: true };
    case 'without-votes': {
      const isNamed = ({ label }: LabelVote) => meaning.labels.includes(label);
      const gone = attempt.votes.filter(isNamed).map(vote => ({ ...vote, why: text }));
      return {
        ...attempt,
        votes: attempt.votes.filter(vote => !isNamed(vote)),
        dropped: [...attempt.dropped, ...gone],
      };
    }
  }
}

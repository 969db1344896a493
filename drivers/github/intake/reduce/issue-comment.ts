/** `issue_comment`: a new comment on a pull request. */
import { cutJson, payloadNumber, payloadTime } from '../payload-fields.ts';
import { malformed, type Reducer, uninteresting } from '../reduced.ts';

/** Bytes: leaves room for the other fields of a notification. */
const LONGEST_COMMENT = 2_800;

/** The event `issue_comment`. */
export const reduceIssueComment: Reducer = (payload, action) => {
  if (action !== 'created') return uninteresting(action);
  const issue = payload.get('issue.pull_request');
  if (typeof issue !== 'object' || issue === null)
    return { kind: 'ignored', reason: 'a comment on an issue that is no pull request' };
  const number = payloadNumber(payload, 'issue.number');
  const id = payloadNumber(payload, 'comment.id');
  const text = payload.get('comment.body');
  if (number === undefined || id === undefined || typeof text !== 'string')
    return malformed('issue.number, comment.id or comment.body');
  const at = payloadTime(payload, 'comment.created_at');
  // Not compared with `updatedAt`: what the pull request holds besides the comment need not be as new.
  return {
    kind: 'about',
    at,
    about: {
      kind: 'pull',
      number,
      comment: cutJson(text, LONGEST_COMMENT),
      commentId: id,
      once: `comment-${id}`,
    },
  };
};

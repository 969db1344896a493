/** `pull_request_review`: submitted, dismissed. `pull_request_review_thread`: a conversation was resolved or opened again. */
import { payloadBase, payloadNumber, payloadText, payloadTime } from '../payload-fields.ts';
import { malformed, type Reducer, uninteresting } from '../reduced.ts';

/** The event `pull_request_review`. */
export const reduceReview: Reducer = (payload, action) => {
  if (action !== 'submitted' && action !== 'dismissed') return uninteresting(action);
  const number = payloadNumber(payload, 'pull_request.number');
  const id = payloadNumber(payload, 'review.id');
  // GitHub writes it in upper case in some deliveries.
  const state = payloadText(payload, 'review.state', 40)?.toLowerCase();
  if (number === undefined || id === undefined || state === undefined)
    return malformed('pull_request.number, review.id or review.state');
  const updatedAt = payloadTime(payload, 'pull_request.updated_at');
  return {
    kind: 'about',
    at: payloadTime(payload, 'review.submitted_at'),
    about: {
      kind: 'pull',
      number,
      review: state,
      once: `review-${id}-${state}`,
      ...payloadBase(payload),
      ...(updatedAt === undefined ? {} : { updatedAt }),
    },
  };
};

/** The event `pull_request_review_thread`. */
export const reduceReviewThread: Reducer = (payload, action) => {
  if (action !== 'resolved' && action !== 'unresolved') return uninteresting(action);
  const number = payloadNumber(payload, 'pull_request.number');
  if (number === undefined) return malformed('pull_request.number');
  return { kind: 'about', about: { kind: 'pull', number } };
};

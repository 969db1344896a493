/** `pull_request`: opened, pushed to, edited, labelled, closed … */
import {
  cutJson,
  payloadBase,
  payloadCommit,
  payloadNumber,
  payloadText,
  payloadTime,
} from '../payload-fields.ts';
import { malformed, type Reducer, uninteresting } from '../reduced.ts';

const ACTIONS: ReadonlySet<string> = new Set([
  'opened',
  'reopened',
  'closed',
  'synchronize',
  'edited',
  'labeled',
  'unlabeled',
  'ready_for_review',
  'converted_to_draft',
]);

/** Bytes; GitHub's longest label has 50 characters. */
const LONGEST_LABEL = 600;

/** The event `pull_request`. */
export const reducePullRequest: Reducer = (payload, action) => {
  if (!ACTIONS.has(action)) return uninteresting(action);
  const number = payloadNumber(payload, 'pull_request.number');
  if (number === undefined) return malformed('pull_request.number');
  const updatedAt = payloadTime(payload, 'pull_request.updated_at');
  const merged = action === 'closed' && payload.get('pull_request.merged') === true;
  const head = merged ? payloadCommit(payload, 'pull_request.head.sha') : undefined;
  const label = action.endsWith('labeled') ? payloadText(payload, 'label.name', 1_000) : undefined;
  return {
    kind: 'about',
    at: updatedAt,
    about: {
      kind: 'pull',
      number,
      ...payloadBase(payload),
      ...(updatedAt === undefined ? {} : { updatedAt }),
      ...(head === undefined ? {} : { mergedHead: head }),
      ...(label === undefined ? {} : { label: cutJson(label, LONGEST_LABEL) }),
    },
  };
};

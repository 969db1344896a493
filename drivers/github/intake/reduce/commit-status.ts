/** `status`: a commit status of any maker. Read together with all others of the commit. */
import { payloadCommit, payloadText, payloadTime } from '../payload-fields.ts';
import { malformed, type Reducer } from '../reduced.ts';

/** Characters; GitHub takes 255. */
const LONGEST_CONTEXT = 255;

/** The event `status`. */
export const reduceStatus: Reducer = payload => {
  const commit = payloadCommit(payload, 'sha');
  if (commit === undefined) return malformed('sha');
  const context = payloadText(payload, 'context', LONGEST_CONTEXT);
  return {
    kind: 'about',
    at: payloadTime(payload, 'updated_at'),
    about: { kind: 'commit', commit, ...(context === undefined ? {} : { context }) },
  };
};

/** `merge_group`: GitHub's own merge queue requests checks of a group, or gave it up. */
import { payloadCommit, payloadText } from '../payload-fields.ts';
import { malformed, type Reducer, uninteresting } from '../reduced.ts';

/** Characters. */
const LONGEST_REF = 500;

/** The event `merge_group`. */
export const reduceMergeGroup: Reducer = (payload, action) => {
  if (action !== 'checks_requested' && action !== 'destroyed') return uninteresting(action);
  const ref = payloadText(payload, 'merge_group.head_ref', LONGEST_REF);
  const head = payloadCommit(payload, 'merge_group.head_sha');
  const baseRef = payloadText(payload, 'merge_group.base_ref', LONGEST_REF);
  const base = payloadCommit(payload, 'merge_group.base_sha');
  if (ref === undefined || head === undefined || baseRef === undefined || base === undefined)
    return malformed('merge_group');
  return { kind: 'about', about: { kind: 'merge-group', ref, head, baseRef, base } };
};

/** `push`: a branch or tag was created, moved or deleted. */
import { isInternalBranch } from '../../internal-branches.ts';
import { payloadCommit, payloadText, payloadTime } from '../payload-fields.ts';
import { malformed, type Reducer } from '../reduced.ts';

/** Characters; git and GitHub take 255 bytes. */
const LONGEST_REF = 300;

/** The event `push`. */
export const reducePush: Reducer = payload => {
  const ref = payloadText(payload, 'ref', LONGEST_REF);
  const before = payloadCommit(payload, 'before');
  const after = payloadCommit(payload, 'after');
  if (ref === undefined || before === undefined || after === undefined)
    return malformed('ref, before or after');
  if (!/^refs\/(heads|tags)\/./.test(ref))
    return { kind: 'ignored', reason: 'a ref that is no branch and no tag' };
  if (isInternalBranch(ref.replace(/^refs\/heads\//, '')))
    return { kind: 'ignored', reason: 'a branch that belongs to a merge queue' };
  return {
    kind: 'about',
    at: payloadTime(payload, 'repository.pushed_at'),
    about: { kind: 'ref', ref, before: unlessZero(before), after: unlessZero(after) },
  };
};

/** GitHub writes zeros for "no commit". */
function unlessZero(commit: string): string | null {
  return /^0+$/.test(commit) ? null : commit;
}

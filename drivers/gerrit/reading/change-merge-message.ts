import { mergeMessageOf } from '../../../src/driver/merge-message.ts';
import type { ProposedChange } from '../../../src/model/change.ts';

/** Message of a speculative merge commit, titled as Gerrit titles its own: `Merge "Let people log in"`. */
export function changeMergeMessage(change: ProposedChange): string {
  const { subject, id } = change;
  const title = subject === '' ? `Merge change ${id}` : `Merge "${subject}"`;
  return mergeMessageOf(title, { ...change, subject: '' });
}

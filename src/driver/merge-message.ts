import type { ProposedChange } from '../model/change.ts';

/**
 * Message of a merge commit, the same on every machine:
 *
 *     Merge pull request acme/app#12
 *
 *     Let people log in
 *
 *     Change: github/acme/app#12
 *
 * @param title one line that names the change as people of the host do.
 */
export function mergeMessageOf(title: string, { subject, key }: ProposedChange): string {
  return [title, '', ...(subject === '' ? [] : [subject, '']), `Change: ${key}`, ''].join('\n');
}

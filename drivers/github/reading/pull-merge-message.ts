import type { Change } from '../../../src/model/change.ts';
import { projectIdOf } from '../../../src/model/project.ts';

/**
 * Message of a merge commit, the same on every machine:
 *
 *     Merge pull request acme/app#12
 *
 *     Let people log in
 *
 *     Change: github/acme/app#12
 */
export function pullMergeMessage(change: Change): string {
  const { name } = projectIdOf(change.project);
  if (change.kind === 'ref') return `Merge ${name} ${change.ref}\n\nChange: ${change.key}\n`;
  const subject = change.subject === '' ? [] : [change.subject, ''];
  return [`Merge pull request ${name}#${change.id}`, '', ...subject, `Change: ${change.key}`, ''].join('\n');
}

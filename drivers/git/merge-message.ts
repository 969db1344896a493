import type { Change } from '../../src/model/change.ts';
import { projectIdOf } from '../../src/model/project.ts';

/**
 * Message of a merge commit, the same on every machine:
 *
 *     Merge acme/app master/login
 *
 *     Let people log in
 *
 *     Change: local/acme/app#master/login
 */
export function mergeMessage(change: Change): string {
  const { name } = projectIdOf(change.project);
  if (change.kind === 'ref') return `Merge ${name} ${change.ref}\n\nChange: ${change.key}\n`;
  const subject = change.subject === '' ? [] : [change.subject, ''];
  return [`Merge ${name} ${change.id}`, '', ...subject, `Change: ${change.key}`, ''].join('\n');
}

import type { Change } from '../../src/model/change.ts';
import { boundedMergeText, type MergeText } from '../../src/model/merge-text.ts';
import { projectIdOf } from '../../src/model/project.ts';

/** The message of a proposal's commit, for a squash: its first line and the rest. */
export function mergeTextOf(message: string): MergeText {
  const text = message.trimStart();
  const end = text.indexOf('\n');
  const [title, body] = end < 0 ? [text, ''] : [text.slice(0, end), text.slice(end)];
  return boundedMergeText({ title, body: body.trim(), reviewers: [] });
}

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

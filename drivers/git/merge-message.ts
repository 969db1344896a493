import { mergeMessageOf } from '../../src/driver/merge-message.ts';
import type { ProposedChange } from '../../src/model/change.ts';
import { boundedMergeText, type MergeText } from '../../src/model/merge-text.ts';
import { projectIdOf } from '../../src/model/project.ts';

/** The message of a proposal's commit, for a squash: its first line and the rest. */
export function mergeTextOf(message: string): MergeText {
  const text = message.trimStart();
  const end = text.indexOf('\n');
  const [title, body] = end < 0 ? [text, ''] : [text.slice(0, end), text.slice(end)];
  return boundedMergeText({ title, body: body.trim(), reviewers: [] });
}

/** Message of a merge commit, titled `Merge acme/app master/login`. */
export function mergeMessage(change: ProposedChange): string {
  return mergeMessageOf(`Merge ${projectIdOf(change.project).name} ${change.id}`, change);
}

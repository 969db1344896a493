/** A merge conflict in one sentence, for decisions and pages. */
import { type ChangeKey, changeKeyText } from './change.ts';
import type { MergeConflict } from './merge.ts';
import { projectIdOf } from './project.ts';

const SHOWN_FILES = 5;

/**
 * E.g. `it conflicts with acme/app master/login in acme/app: src/login.c`; a change ahead that conflicts is named.
 *
 * @param own the item's changes.
 */
export function conflictText(
  { change, with: other, project, files, reason }: MergeConflict,
  own: readonly { readonly key: ChangeKey }[],
): string {
  const subject = own.some(({ key }) => key === change) ? 'it' : changeKeyText(change);
  if (reason !== undefined) return `${subject} ${reason}`;
  const more = files.length - SHOWN_FILES;
  const rest = more > 0 ? ` and ${more} more ${more === 1 ? 'file' : 'files'}` : '';
  const shown = files.length === 0 ? '' : `: ${files.slice(0, SHOWN_FILES).join(', ')}${rest}`;
  const opponent = other === undefined ? 'the branch or a change ahead' : changeKeyText(other);
  return `${subject} conflicts with ${opponent} in ${projectIdOf(project).name}${shown}`;
}

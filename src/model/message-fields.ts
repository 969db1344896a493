/** What texts of a pipeline's configuration may name of an item, in Zuul's words: `start-message`, the subject of a mail, a topic. */
import type { FormatValue } from '../lib/format-text.ts';
import { type Change, changeText } from './change.ts';
import { projectIdOf } from './project.ts';

type Fields = { readonly [name: string]: FormatValue };

/** What a change does not have is empty. */
function changeFields(change: Change): Fields {
  const common = {
    '': changeText(change),
    project: projectIdOf(change.project).name,
    branch: change.branch ?? '',
    ref: change.ref,
    url: change.url ?? '',
  };
  if (change.kind === 'ref')
    return {
      ...common,
      ...{ number: '', patchset: '', commit_id: change.newCommit ?? '', owner: '', subject: '' },
      ...{ oldrev: change.oldCommit ?? '', newrev: change.newCommit ?? '' },
    };
  const { id, patchset, commit, owner = '', subject } = change;
  return { ...common, number: id, patchset, commit_id: commit, owner, subject, oldrev: '', newrev: '' };
}

/** @param changes oldest first. */
export function itemFields(pipeline: string, changes: readonly Change[]): Fields {
  const all = changes.map(changeFields);
  return { pipeline: { '': pipeline, name: pipeline }, change: all.at(0) ?? '', changes: all };
}

const NAMES = ['', 'project', 'branch', 'ref', 'url', 'number', 'patchset', 'commit_id', 'owner', 'subject'];
const CHANGE: Fields = Object.fromEntries([...NAMES, 'oldrev', 'newrev'].map(name => [name, '']));

/** One value of each of {@link itemFields}. */
export const ITEM_FIELDS: Fields = { pipeline: { '': '', name: '' }, change: CHANGE, changes: [CHANGE] };

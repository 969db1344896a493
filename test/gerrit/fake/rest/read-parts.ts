/** `changes/N/messages` and `changes/N/revisions/R/files`: parts of what a change shows. */
import { isShape } from '../../../github/fake/shape.ts';
import { changeNamed, patchSetNamed, type RestAnswer, type RestCall } from './call.ts';
import { getChange } from './read-changes.ts';

export async function getMessages(call: RestCall): Promise<RestAnswer> {
  const { json } = await getChange(call, ['MESSAGES', 'DETAILED_ACCOUNTS']);
  return { status: 200, json: isShape(json) ? json.messages : [] };
}

/** By path, with the magic file of the commit message. */
export async function getFiles(call: RestCall): Promise<RestAnswer> {
  const { commit } = patchSetNamed(changeNamed(call, call.parts[0] ?? ''), call.parts[1] ?? '');
  const { json } = await getChange(call, ['ALL_REVISIONS', 'ALL_FILES']);
  const revisions = isShape(json) && isShape(json.revisions) ? json.revisions : {};
  const revision = revisions[commit];
  const files = isShape(revision) && isShape(revision.files) ? revision.files : {};
  return { status: 200, json: { '/COMMIT_MSG': { status: 'A' }, ...files } };
}

/**
 * Comments on a patch set as a whole. Since Gerrit 3.3 its page puts there what a person writes, `recheck` for example, and the message
 * in the history says `(1 comment)` alone. Asked only for such messages.
 */
import { isMapping } from '../../../src/driver/read-mapping.ts';
import type { Json } from '../../../src/model/job.ts';
import type { ChangeMessage } from '../api/change-info.ts';
import type { GerritAnswer, GerritApi, GerritCall } from '../api/port.ts';
import type { PatchsetComments } from './comment-happenings.ts';
import { isComment } from './message-header.ts';

/** Where Gerrit lists them, among the files. */
const PATCHSET_LEVEL = '/PATCHSET_LEVEL';
/** Comments of one change looked at, the last ones. */
const MOST = 1_000;
const LONGEST = 4_096;

/** @param fresh messages of the change that are new. */
export async function readPatchsetComments(
  number: number,
  fresh: readonly ChangeMessage[],
  call: GerritCall,
  api: GerritApi,
): Promise<GerritAnswer<PatchsetComments>> {
  const awaited = fresh.filter(message => isComment(message) && /^\(\d+ comments?\)$/m.test(message.text));
  if (awaited.length === 0) return { kind: 'ok', status: 200, data: new Map() };
  const operation = 'changes/comments';
  const answer = await api.ask({ operation, method: 'GET', path: `changes/${number}/comments` }, call);
  // A change that was visible just now, and is not any more, has no comments to act on.
  if (answer.kind === 'refused') return { kind: 'ok', status: answer.status, data: new Map() };
  return answer.kind === 'ok' ? { ...answer, data: byMessage(answer.data, awaited) } : answer;
}

/** By the message's id, or, where Gerrit does not name it, by author and patch set: then they belong to the first such message. */
function byMessage(files: Json, awaited: readonly ChangeMessage[]): PatchsetComments {
  const listed = isMapping(files) ? files[PATCHSET_LEVEL] : undefined;
  const comments = new Map<string, string[]>();
  for (const comment of Array.isArray(listed) ? listed.slice(-MOST) : []) {
    if (!isMapping(comment) || typeof comment.message !== 'string') continue;
    const id = comment.change_message_id;
    const message = awaited.find(each => (typeof id === 'string' ? each.id === id : isBy(each, comment)));
    if (message === undefined) continue;
    const texts = comments.get(message.id) ?? [];
    comments.set(message.id, [...texts, comment.message.slice(0, LONGEST)]);
  }
  return comments;
}

function isBy({ author, patchset }: ChangeMessage, comment: { readonly [name: string]: Json }): boolean {
  const id = isMapping(comment.author) ? comment.author._account_id : undefined;
  return author !== null && author.id === id && patchset === comment.patch_set;
}

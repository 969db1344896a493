/** Messages, comments and files of a change. */
import type { Shape } from '../../../github/fake/shape.ts';
import { filesShape } from '../revision-shape.ts';
import { accountShape } from '../shapes.ts';
import { type FileComment, gerritTime } from '../world.ts';
import { changeNamed, patchSetNamed, type RestAnswer, type RestCall } from './call.ts';

/** Oldest first, with accounts in detail. */
export function listMessages(call: RestCall): RestAnswer {
  const { now } = changeNamed(call, call.parts[0] ?? '');
  const json = now.messages.map(({ id, tag, author, at, text, patchSet }) => ({
    id,
    ...(tag === null ? {} : { tag }),
    ...(author === null
      ? {}
      : { author: accountShape(author, true), real_author: accountShape(author, true) }),
    date: gerritTime(at),
    message: text,
    _revision_number: patchSet,
  }));
  return { status: 200, json };
}

/** By path. Since 3.3 each names the message that it came with. */
export function listComments(call: RestCall): RestAnswer {
  const { now } = changeNamed(call, call.parts[0] ?? '');
  const shape = (each: FileComment): Shape => ({
    author: accountShape(each.by, true),
    ...(call.world.version === '3.2' ? {} : { change_message_id: each.messageId }),
    unresolved: each.unresolved,
    patch_set: each.patchSet,
    id: each.id,
    ...(each.tag === null ? {} : { tag: each.tag }),
    ...(each.line === null ? {} : { line: each.line }),
    updated: gerritTime(each.at),
    message: each.text,
  });
  const files = Map.groupBy(now.comments, each => each.path);
  const entries = [...files].map(([path, list]) => [path, list.map(shape)] as const);
  return { status: 200, json: Object.fromEntries(entries) };
}

/** With the commit message as a file. */
export async function listFiles(call: RestCall): Promise<RestAnswer> {
  const change = changeNamed(call, call.parts[0] ?? '');
  const { commit, message } = patchSetNamed(change, call.parts[1] ?? '');
  const lines = message.split('\n').length + 7;
  const first = { status: 'A', lines_inserted: lines, size_delta: message.length, size: message.length };
  return {
    status: 200,
    json: { '/COMMIT_MSG': first, ...(await filesShape(change.project.dir, commit)) },
  };
}

/** `POST changes/N/revisions/REV/review` */
import { isShape } from '../../../github/fake/shape.ts';
import { type CommentInput, review } from '../doing/review.ts';
import { addReviewer } from '../doing/reviewers.ts';
import { RestRefused } from '../rest-refused.ts';
import {
  accountOf,
  bodyOf,
  changeNamed,
  patchSetNamed,
  type RestAnswer,
  type RestCall,
  signedIn,
  textIn,
} from './call.ts';
import { entriesIn } from './write-changes.ts';

const NOTIFY = new Set(['NONE', 'OWNER', 'OWNER_REVIEWERS', 'ALL']);

export async function postReview(call: RestCall): Promise<RestAnswer> {
  const by = signedIn(call);
  const change = changeNamed(call, call.parts[0] ?? '');
  const patchSet = patchSetNamed(change, call.parts[1] ?? '');
  const body = bodyOf(call);
  if (body.notify !== undefined && !NOTIFY.has(String(body.notify)))
    throw new RestRefused(400, `Invalid notify: ${String(body.notify)}`);
  const message = textIn(body, 'message');
  const tag = textIn(body, 'tag');
  const wip = body.ready === true ? false : body.work_in_progress === true ? true : undefined;
  const taken = await review(call.world, by, change, patchSet, {
    ...(message === undefined ? {} : { message }),
    ...(tag === undefined ? {} : { tag }),
    ...(wip === undefined ? {} : { wip }),
    labels: Object.fromEntries(entriesIn(body.labels).map(([name, value]) => [name, numberOf(name, value)])),
    comments: commentsIn(body.comments),
    omitDuplicateComments: body.omit_duplicate_comments === true,
  });
  for (const each of Array.isArray(body.reviewers) ? body.reviewers : []) {
    const wanted = isShape(each) ? textIn(each, 'reviewer') : undefined;
    if (wanted !== undefined) await addReviewer(call.world, by, change, accountOf(call, wanted));
  }
  return {
    status: 200,
    json: {
      ...(body.labels === undefined ? {} : { labels: taken }),
      ...(wip === false ? { ready: true } : {}),
    },
  };
}

function numberOf(name: string, value: unknown): number {
  const number = Number(value);
  if (!Number.isInteger(number))
    throw new RestRefused(400, `label "${name}": ${String(value)} is not a valid value`);
  return number;
}

function commentsIn(value: unknown): { readonly [path: string]: readonly CommentInput[] } {
  return Object.fromEntries(
    entriesIn(value).map(([path, list]) => [
      path,
      (Array.isArray(list) ? list : []).filter(isShape).map(each => ({
        ...(typeof each.line === 'number' ? { line: each.line } : {}),
        message: String(each.message ?? ''),
        unresolved: each.unresolved === true,
      })),
    ]),
  );
}

/**
 * One comment of each pipeline on a pull request, edited with every report: found again by its author and a hidden first line.
 *
 * When it was not among the comments that are read, or was deleted, it is written anew. It may be of an earlier item, so that it
 * is looked for also where nothing of this item is at GitHub.
 */
import { createLru, type Lru } from '../../../src/git/lru.ts';
import type { Report } from '../../../src/model/report.ts';
import { LONGEST_BODY } from './cut-text.ts';
import { findComment, type PullComment, putComment } from './own-comment.ts';
import { type GithubReportContext, isGone, type NotOk } from './report-context.ts';
import { commentMarker, holdsEndOf, isBeginning, reportMarker } from './report-key.ts';
import { cutSummary, reportSummary } from './report-summary.ts';

/** Id and body of comments that this process wrote, by pull request and pipeline. */
export type CommentMemory = Lru<string, PullComment>;

/** Empty at first. */
export function createCommentMemory(): CommentMemory {
  return createLru<string, PullComment>(20_000_000, ({ body }) => 1_000 + body.length);
}

/** @param login whom GitHub names as our comments' author. */
export async function writeComment(
  pull: number,
  login: string,
  context: GithubReportContext,
  memory: CommentMemory,
  note?: string,
): Promise<CommentAnswer> {
  const { report, change } = context;
  const body = commentBody(context, note);
  const key = `${change.key} ${commentMarker(report)}`;
  const bring = async (known: PullComment | undefined): Promise<CommentAnswer> => {
    if (known !== undefined && saysAll(report, known.body, body)) {
      context.note({ comment: known.id });
      return { kind: 'ok' };
    }
    memory.delete(key);
    const answer = await putComment(pull, known?.id, body, context);
    if (answer.kind !== 'ok') return answer;
    const id = Number(answer.data.id);
    memory.set(key, { id, body });
    context.note({ comment: id });
    return answer;
  };
  const known = memory.get(key) ?? earlierComment(context);
  if (known !== undefined) {
    const answer = await bring(known);
    if (!isGone(answer)) return answer;
  }
  const found = await findComment(pull, login, commentMarker(report), context);
  return found.kind === 'ok' ? bring(found.data) : found;
}

/** `ok`: the pull request has the comment. */
type CommentAnswer = { readonly kind: 'ok' } | NotOk;

/** Another process wrote it, and another item may have edited it since: its text is not known. */
function earlierComment({ remembered: { comment } }: GithubReportContext): PullComment | undefined {
  return comment === undefined ? undefined : { id: comment, body: '' };
}

function saysAll(report: Report, held: string, body: string): boolean {
  return held === body || (isBeginning(report) && holdsEndOf(report, held));
}

function commentBody({ report }: GithubReportContext, note: string | undefined): string {
  const text = [
    commentMarker(report),
    reportMarker(report),
    reportSummary(report, note === undefined ? [] : [note]),
  ];
  return cutSummary(text.join('\n'), report, LONGEST_BODY);
}

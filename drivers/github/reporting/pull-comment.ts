/**
 * One comment of each pipeline on a pull request, edited with every report: found again by its author and a hidden first line.
 *
 * When it was not among the comments that are read, or was deleted, it is written anew. It may be of an earlier item, so that it
 * is looked for also where nothing of this item is at GitHub, unless known-comments.ts says that there is none.
 */
import { createLru, type Lru } from '../../../src/git/support/lru.ts';
import { projectIdOf } from '../../../src/model/project.ts';
import type { Report } from '../../../src/model/report.ts';
import type { KnownComments } from './known-comments.ts';
import { LONGEST_BODY } from './longest-body.ts';
import { findComment, type PullComment, putComment } from './own-comment.ts';
import { type GithubReportContext, isGone, type NotOk } from './report-context.ts';
import { commentMarker, holdsEndOf, isBeginning, reportMarker } from './report-key.ts';
import { cutSummary, reportSummary } from './report-summary.ts';

/** Id and body of comments that this process wrote, by pull request and pipeline. */
type CommentMemory = Lru<string, PullComment>;

/** What this process knows of comments. */
export interface CommentMemories {
  readonly comments: CommentMemory;
  /** Shared with the readings of pull requests. */
  readonly known: KnownComments;
}

/** Empty at first. */
export function createCommentMemory(): CommentMemory {
  return createLru<string, PullComment>(20_000_000, ({ body }) => 1_000 + body.length);
}

/** @param login whom GitHub names as our comments' author. */
export async function writeComment(
  pull: number,
  login: string,
  context: GithubReportContext,
  { comments: memory, known }: CommentMemories,
  note?: string,
): Promise<CommentAnswer> {
  const { report, change } = context;
  const body = commentBody(context, note);
  const key = `${change.key} ${commentMarker(report)}`;
  const place = { repository: projectIdOf(change.project).name, pull, marker: commentMarker(report) };
  const calls = { api: context.api, call: context.call, known };
  const bring = async (held: PullComment | undefined): Promise<CommentAnswer> => {
    if (held !== undefined && saysAll(report, held.body, body)) {
      context.note({ comment: held.id });
      return { kind: 'ok' };
    }
    memory.delete(key);
    known.sending(place);
    const answer = await putComment(pull, held?.id, body, calls);
    if (answer.kind !== 'ok') return answer;
    const id = Number(answer.data.id);
    memory.set(key, { id, body });
    context.note({ comment: id });
    return answer;
  };
  const earlier = memory.get(key) ?? earlierComment(context);
  if (earlier !== undefined) {
    const answer = await bring(earlier);
    if (!isGone(answer)) return answer;
  }
  if (earlier === undefined && known.hasNone(place, context.aloneSince)) return bring(undefined);
  const found = await findComment(pull, login, place.marker, calls);
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

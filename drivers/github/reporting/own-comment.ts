/** Our comments on a pull request, found again by their author and a hidden first line. */
import type { GithubAnswer, GithubApi, GithubCall, Weight } from '../api/port.ts';
import type { KnownComments } from './known-comments.ts';

/** One comment of ours. */
export interface PullComment {
  readonly id: number;
  readonly body: string;
}

/** How GitHub is asked. */
interface CommentCalls {
  readonly api: Pick<GithubApi, 'rest'>;
  /** Gets comments of ours that GitHub showed. */
  readonly known: Pick<KnownComments, 'seen'>;
  call(weight: Weight): GithubCall;
}

const PAGE = 100;
/** A pull request with more comments gets a new one with each process. */
const MOST_PAGES = 10;

/** @param id undefined: there is none yet. */
export async function putComment(
  pull: number,
  id: number | undefined,
  body: string,
  calls: CommentCalls,
): Promise<GithubAnswer<{ readonly id: number | bigint }>> {
  const answer = await put(pull, id, body, calls);
  if (answer.kind === 'ok') calls.known.seen(answer.data.node_id, firstLineOf(body));
  return answer;
}

function firstLineOf(body: string): string {
  return body.split('\n', 1)[0] ?? '';
}

function put(
  pull: number,
  id: number | undefined,
  body: string,
  { api, call }: CommentCalls,
): Promise<GithubAnswer<{ readonly id: number | bigint; readonly node_id: string }>> {
  return id === undefined
    ? api.rest(
        'issues/create-comment',
        'POST /repos/{owner}/{repo}/issues/{issue_number}/comments',
        { issue_number: pull, body },
        call('notice'),
      )
    : api.rest(
        'issues/update-comment',
        'PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}',
        { comment_id: id, body },
        call('notice'),
      );
}

/**
 * Undefined: the pull request has none among the comments that are read.
 *
 * @param login whom GitHub names as our comments' author.
 * @param marker their first line.
 */
export async function findComment(
  pull: number,
  login: string,
  marker: string,
  { api, call, known }: CommentCalls,
): Promise<GithubAnswer<PullComment | undefined>> {
  for (let page = 1; page <= MOST_PAGES; page++) {
    const answer = await api.rest(
      'issues/list-comments',
      'GET /repos/{owner}/{repo}/issues/{issue_number}/comments',
      { issue_number: pull, per_page: PAGE, page },
      call('notice'),
    );
    if (answer.kind !== 'ok') return answer;
    const ours = answer.data.filter(({ user }) => user?.login === login);
    for (const { node_id, body } of ours) known.seen(node_id, firstLineOf(body ?? ''));
    const found = ours.find(({ body }) => body?.startsWith(marker));
    if (found !== undefined) return { ...answer, data: { id: Number(found.id), body: found.body ?? '' } };
    if (answer.data.length < PAGE) break;
  }
  return { kind: 'ok', status: 200, data: undefined };
}

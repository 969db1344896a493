/** Reviews: one for each report, found again by its author and a hidden first line. */
import type { GithubAnswer } from '../api/port.ts';
import { LONGEST_BODY } from './longest-body.ts';
import type { GithubReportContext, NotOk, ReporterWords } from './report-context.ts';
import { reportMarker } from './report-key.ts';
import { cutSummary, reportSummary } from './report-summary.ts';

const EVENTS = { approve: 'APPROVE', 'request-changes': 'REQUEST_CHANGES', comment: 'COMMENT' } as const;
const PAGE = 100;
const MOST_PAGES = 10;

/** `ok`: the pull request has the review. @param login whom GitHub names as the author of our reviews. */
export async function writeReview(
  pull: number,
  login: string,
  kind: NonNullable<ReporterWords['review']>,
  context: GithubReportContext,
): Promise<{ kind: 'ok' } | NotOk> {
  const { api, commit, report, words, call } = context;
  if (!context.isFirst) {
    const found = await hasReview(pull, login, context);
    if (found.kind !== 'ok') return found;
    if (found.data) return { kind: 'ok' };
  }
  const text = words['review-body'] ?? reportSummary(report);
  return api.rest(
    'pulls/create-review',
    'POST /repos/{owner}/{repo}/pulls/{pull_number}/reviews',
    {
      pull_number: pull,
      commit_id: commit,
      event: EVENTS[kind],
      body: cutSummary(`${reportMarker(report)}\n${text}`, report, LONGEST_BODY),
    },
    call('notice'),
  );
}

async function hasReview(
  pull: number,
  login: string,
  { api, report, call }: GithubReportContext,
): Promise<GithubAnswer<boolean>> {
  const marker = reportMarker(report);
  for (let page = 1; page <= MOST_PAGES; page++) {
    const answer = await api.rest(
      'pulls/list-reviews',
      'GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews',
      { pull_number: pull, per_page: PAGE, page },
      call('notice'),
    );
    if (answer.kind !== 'ok') return answer;
    if (answer.data.some(({ user, body }) => user?.login === login && body.startsWith(marker)))
      return { ...answer, data: true };
    if (answer.data.length < PAGE) break;
  }
  return { kind: 'ok', status: 200, data: false };
}

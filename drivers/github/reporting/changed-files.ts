/** The files a pull request changes, for annotations: GitHub shows those of other files where reviewers do not see them. */
import type { GithubAnswer } from '../api/port.ts';
import { type GithubReportContext, pullNumberOf } from './report-context.ts';

const PAGE = 100;
/** GitHub lists 3 000 files at most. */
const MOST_PAGES = 10;

/** Null: the list is longer than we read, or the change is no pull request. */
export async function readChangedFiles({
  api,
  change,
  call,
}: GithubReportContext): Promise<GithubAnswer<ReadonlySet<string> | null>> {
  const pull = pullNumberOf(change);
  if (pull === undefined) return { kind: 'ok', status: 200, data: null };
  const files = new Set<string>();
  for (let page = 1; page <= MOST_PAGES; page++) {
    const answer = await api.rest(
      'pulls/list-files',
      'GET /repos/{owner}/{repo}/pulls/{pull_number}/files',
      { pull_number: pull, per_page: PAGE, page },
      call('final'),
    );
    if (answer.kind !== 'ok') return answer;
    for (const { filename } of answer.data) files.add(filename);
    if (answer.data.length < PAGE) return { ...answer, data: files };
  }
  return { kind: 'ok', status: 200, data: null };
}

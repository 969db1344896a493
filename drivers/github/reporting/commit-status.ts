/**
 * Commit statuses: context `tenant/pipeline`, the newest counts.
 *
 * Statuses are only ever added, 1 000 for a context and commit: one that stands already is not added again. The address of the
 * item's page shows which item a status is about.
 */

import { cutLine } from '../../../src/lib/cut-text.ts';
import type { GithubAnswer } from '../api/port.ts';
import type { GithubReportContext, NotOk } from './report-context.ts';
import { checkNameOf, isBeginning } from './report-key.ts';
import { reportTitle } from './report-summary.ts';

/** As GitHub takes it. */
export type StatusState = 'error' | 'failure' | 'pending' | 'success';

const LONGEST_DESCRIPTION = 140;
const PAGE = 100;
/** Contexts of one commit, by hundreds. */
const MOST_PAGES = 3;

/** @param note ends the description: why it is a status and no check run. `ok`: GitHub holds the status. */
export async function writeStatus(
  state: StatusState,
  context: GithubReportContext,
  note?: string,
): Promise<{ readonly kind: 'ok' } | NotOk> {
  const { api, commit, report, words, call } = context;
  const description = cutLine(
    note === undefined ? reportTitle(report) : `${cutLine(reportTitle(report), 60)} (${note})`,
    LONGEST_DESCRIPTION,
  );
  const target_url = words['status-url'] ?? report.urls.item;
  const standing = context.isFirst ? NONE : await standingStatus(context);
  if (standing.kind !== 'ok') return standing;
  const held = standing.data;
  if (held?.target_url === target_url) {
    if (held.state === state && held.description === description) return { kind: 'ok' };
    // A beginning that comes late, after the end of the same item.
    if (isBeginning(report) && held.state !== 'pending' && context.reopens !== true) return { kind: 'ok' };
  }
  return api.rest(
    'repos/create-commit-status',
    'POST /repos/{owner}/{repo}/statuses/{sha}',
    { sha: commit, state, description, target_url, context: checkNameOf(report) },
    call(isBeginning(report) ? 'notice' : 'final'),
  );
}

const NONE = { kind: 'ok', status: 200, data: undefined } as const;

/** A status as far as it is compared. */
interface HeldStatus {
  readonly state: string;
  readonly description: string | null;
  readonly target_url: string | null;
}

/** The newest status of the pipeline on the commit. */
export async function standingStatus({
  api,
  commit,
  report,
  call,
}: GithubReportContext): Promise<GithubAnswer<HeldStatus | undefined>> {
  const name = checkNameOf(report);
  for (let page = 1; page <= MOST_PAGES; page++) {
    const answer = await api.rest(
      'repos/get-combined-status-for-ref',
      'GET /repos/{owner}/{repo}/commits/{ref}/status',
      { ref: commit, per_page: PAGE, page },
      call('final'),
    );
    if (answer.kind !== 'ok') return answer;
    const { statuses } = answer.data;
    const found = statuses.find(({ context }) => context === name);
    if (found !== undefined || statuses.length < PAGE) return { ...answer, data: found };
  }
  return { kind: 'ok', status: 200, data: undefined };
}

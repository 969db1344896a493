/**
 * A pull request whose content has landed in commits that do not contain its head: GitHub does not see that it is merged, so it is
 * closed with a comment that names the commit. After a merge GitHub marks it merged by itself.
 */
import { toMilliseconds } from '../../../src/lib/clock.ts';
import { changeText } from '../../../src/model/change.ts';
import type { LandedBranch } from '../../../src/model/landed.ts';
import type { NotOk } from '../reporting/report-context.ts';
import type { LandingContext } from './landing-context.ts';

/**
 * The pull request as far as we know. `open`: no earlier try of this landing can have closed it. `perhaps`: one may have begun to.
 */
export type Closing = 'open' | 'perhaps' | 'closed';

type Context = Pick<LandingContext, 'api' | 'change' | 'pull' | 'call' | 'log' | 'now'>;

/** Never fails the landing: what it could not do is logged, and the next sweep closes the pull request. */
export async function closeLanded(landed: LandedBranch, closing: Closing, context: Context): Promise<void> {
  if (closing === 'closed') return;
  const answer = await close(landed, closing, context);
  if (answer === undefined) return;
  const { log, change } = context;
  const reason = answer.kind === 'refused' ? answer.text : answer.later.text;
  log.warn({ change: changeText(change), reason }, 'landed; the pull request could not be closed');
}

async function close(landed: LandedBranch, closing: Closing, context: Context): Promise<NotOk | undefined> {
  const { api, pull, call } = context;
  const body = commentOn(landed);
  const held = closing === 'perhaps' && (await isCommented(body, context));
  if (typeof held === 'object') return held;
  const commented = held ? undefined : await comment(body, context);
  if (commented !== undefined) return commented;
  const closed = await api.rest(
    'pulls/update',
    'PATCH /repos/{owner}/{repo}/pulls/{pull_number}',
    { pull_number: pull, state: 'closed' },
    call,
  );
  return closed.kind === 'ok' ? undefined : closed;
}

function commentOn({ branch, commit }: LandedBranch): string {
  return `<!-- gatehouse landed ${commit} -->\nLanded in \`${branch.replaceAll('`', '')}\` as ${commit}.`;
}

const PAGE = 100;
/** Where a pull request has more comments of a day, a second comment is the lesser evil. */
const MOST_PAGES = 10;
const DAY_MS = 86_400_000;

/** Whether an earlier try has commented. */
async function isCommented(body: string, { api, pull, call, now }: Context): Promise<boolean | NotOk> {
  const since = new Date(toMilliseconds(now) - DAY_MS).toISOString();
  for (let page = 1; page <= MOST_PAGES; page++) {
    const listed = await api.rest(
      'issues/list-comments',
      'GET /repos/{owner}/{repo}/issues/{issue_number}/comments',
      { issue_number: pull, since, per_page: PAGE, page },
      call,
    );
    if (listed.kind !== 'ok') return listed;
    if (listed.data.some(({ body: held }) => held === body)) return true;
    if (listed.data.length < PAGE) return false;
  }
  return false;
}

async function comment(body: string, { api, pull, call }: Context): Promise<NotOk | undefined> {
  const created = await api.rest(
    'issues/create-comment',
    'POST /repos/{owner}/{repo}/issues/{issue_number}/comments',
    { issue_number: pull, body },
    call,
  );
  return created.kind === 'ok' ? undefined : created;
}

/**
 * Which reviewers administrate a repository: GitHub does not say it with their reviews. One request for each reviewer who may write
 * and each repository an hour, for connections that ask for it (`admin_reviews`, doc/decisions/0091).
 */
import { createLru } from '../../../src/git/support/lru.ts';
import type { Clock } from '../../../src/lib/clock.ts';
import type { GithubAnswer, GithubApi, GithubCall } from '../api/port.ts';
import { createSingleFlight } from '../api/single-flight.ts';
import { loginOf } from './pull-facts.ts';
import { nodesOf, type PullNode } from './query/pull-state.ts';

/** @throws the signal's reason. */
export type ReviewerAdmins = (
  pull: Pick<PullNode, 'latestOpinionatedReviews'>,
  call: GithubCall,
) => Promise<GithubAnswer<ReadonlySet<string>>>;

/** Milliseconds: who is made an administrator counts as one after an hour at most, and so does who is none any more. */
const KEPT = 3_600_000;
/** Reviewers of all repositories; of those beyond GitHub is asked again. */
const MOST = 20_000;

const NO_ADMINS: GithubAnswer<ReadonlySet<string>> = { kind: 'ok', status: 200, data: new Set() };

/** Asks nothing. */
export const noReviewerAdmins: ReviewerAdmins = async () => NO_ADMINS;

/** @param lifetime ends the requests, which several events share. */
export function createReviewerAdmins(
  api: Pick<GithubApi, 'rest'>,
  clock: Pick<Clock, 'monotonic'>,
  lifetime: AbortSignal,
): ReviewerAdmins {
  const known = createLru<string, { readonly until: number; readonly isAdmin: boolean }>(MOST);
  const flights = createSingleFlight<GithubAnswer<boolean>>();

  async function ask(key: string, login: string, call: GithubCall): Promise<GithubAnswer<boolean>> {
    const answer = await api.rest(
      'repos/get-collaborator-permission-level',
      'GET /repos/{owner}/{repo}/collaborators/{username}/permission',
      { username: login },
      { ...call, signal: lifetime },
    );
    // GitHub shows no such collaborator.
    if (answer.kind !== 'ok' && !(answer.kind === 'refused' && answer.status === 404)) return answer;
    const isAdmin = answer.kind === 'ok' && answer.data.permission === 'admin';
    known.set(key, { isAdmin, until: clock.monotonic() + KEPT });
    return { kind: 'ok', status: 200, data: isAdmin };
  }

  async function isAdmin(login: string, call: GithubCall): Promise<GithubAnswer<boolean>> {
    const key = `${call.repository} ${login}`;
    const kept = known.get(key);
    if (kept !== undefined && kept.until > clock.monotonic())
      return { kind: 'ok', status: 200, data: kept.isAdmin };
    return flights.run(key, () => ask(key, login, call), call.signal);
  }

  return async (pull, call) => {
    const logins = candidates(pull);
    const answers = await Promise.all(logins.map(login => isAdmin(login, call)));
    const unread = answers.find(({ kind }) => kind !== 'ok');
    if (unread !== undefined && unread.kind !== 'ok') return unread;
    const admins = logins.filter((_, index) => {
      const answer = answers[index];
      return answer?.kind === 'ok' && answer.data;
    });
    return { kind: 'ok', status: 200, data: new Set(admins) };
  };
}

/** People who may write. An App has no role in a repository. */
function candidates({
  latestOpinionatedReviews,
}: Pick<PullNode, 'latestOpinionatedReviews'>): readonly string[] {
  const reviews = nodesOf(latestOpinionatedReviews).filter(
    ({ author, authorAssociation, authorCanPushToRepository: mayWrite }) =>
      mayWrite && authorAssociation !== 'OWNER' && author !== null && author.__typename !== 'Bot',
  );
  return [...new Set(reviews.map(({ author }) => loginOf(author)))];
}

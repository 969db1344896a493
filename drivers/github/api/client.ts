/**
 * The client: {@link GithubApi} over HTTP. From a call to its answer:
 *
 *   client.ts          finds credentials, asks, renews credentials once after a 401, says what the answer means for the caller
 *   credentials.ts     whose: the App, its installation (installations.ts) with a token (tokens.ts, token-use.ts), or a user's token
 *   exchange.ts        one request: budget, right to act, conditional request (etag.ts), steps (call-steps.ts), repeated reads
 *   budgets.ts         what may be sent now: budget.ts and sliding-count.ts are pure, places.ts bounds requests under way
 *   send.ts            HTTP through Octokit; bounded-fetch.ts bounds the answer
 *   answer-meaning.ts  what the caller gets of it
 *   judge-answer.ts    what an answer means; judge-graphql.ts, judge-limit.ts; host-text.ts makes its text fit to show
 *   new-name.ts        what a renamed repository is called now
 *   identity.ts        whom GitHub sees us as
 *   open-client.ts     builds it; port.ts is what the rest of the driver sees; repository-name.ts, client-time.ts, single-flight.ts
 *
 * A call ends within two minutes: each request has a deadline, reads are repeated twice, and waits of more than a second are left
 * to the caller (`later`).
 */

import type { Endpoints } from '@octokit/types';
import type { HostLater } from '../../../src/driver/host-later.ts';
import type { Clock } from '../../../src/lib/clock.ts';
import { answerMeaning } from './answer-meaning.ts';
import type { Credentials, FoundCredential } from './credentials.ts';
import type { Exchange, ExchangeRequest } from './exchange.ts';
import { createIdentity } from './identity.ts';
import { newNameOf } from './new-name.ts';
import type { GithubAnswer, GithubApi, GithubCall, GithubRoute } from './port.ts';
import { ownerAndName } from './repository-name.ts';

/** Parts the client is made of. */
export interface GithubClientDeps {
  readonly clock: Clock;
  readonly exchange: Exchange;
  readonly credentials: Credentials;
  readonly graphqlUrl: string;
  /** Gets the end of each call. @param later undefined: the host served it. */
  readonly noted: (repository: string, later: HostLater | undefined) => void;
}

/** One for each connection. */
export function createGithubClient(deps: GithubClientDeps): GithubApi {
  const ask = (request: ExchangeRequest, call: GithubCall) => askHost(deps, request, call);
  return {
    async rest<R extends GithubRoute>(operation: string, route: R, parameters: object, call: GithubCall) {
      const answer = await ask(restRequest(operation, route, { ...parameters }, call), call);
      // GitHub's own description of the route gives the type; parsers of the callers check what they use.
      return answer as GithubAnswer<Endpoints[R]['response']['data']>;
    },
    async graphql<T>(
      operation: string,
      query: string,
      variables: { readonly [name: string]: unknown },
      call: GithubCall,
    ) {
      const answer = await ask(
        {
          operation,
          route: `POST ${deps.graphqlUrl}`,
          parameters: { query, variables },
          cost: { resource: 'graphql', isWrite: false, createsContent: false },
          isRepeatable: true,
        },
        call,
      );
      return answer as GithubAnswer<T>;
    },
    identity: createIdentity({ ask, credentials: deps.credentials, clock: deps.clock }),
  };
}

/** Routes whose effect people are notified of. */
const CREATES_CONTENT = /^(?:POST|PUT) .*\/(?:comments|reviews|issues|pulls|requested_reviewers)(?:\/|$)/;
const ABOUT_APP = /^[A-Z]+ \/app(?:\/|$)/;

function restRequest(
  operation: string,
  route: string,
  parameters: { readonly [name: string]: unknown },
  { repository }: GithubCall,
): ExchangeRequest {
  const isRead = /^(?:GET|HEAD) /.test(route);
  return {
    operation,
    route,
    parameters: route.includes('{owner}') ? { ...parameters, ...ownerAndName(repository) } : parameters,
    cost: { resource: 'core', isWrite: !isRead, createsContent: CREATES_CONTENT.test(route) },
    isRepeatable: isRead,
  };
}

/** Rounds after a 401: the token is new, then it is another. */
const MOST_RENEWALS = 2;

async function askHost(
  deps: GithubClientDeps,
  request: ExchangeRequest,
  call: GithubCall,
): Promise<GithubAnswer<unknown>> {
  const answer = await answerOf(deps, request, call);
  const later = answer.kind === 'later' || answer.kind === 'lost' ? answer.later : undefined;
  deps.noted(call.repository, later);
  return answer;
}

async function answerOf(
  deps: GithubClientDeps,
  request: ExchangeRequest,
  call: GithubCall,
): Promise<GithubAnswer<unknown>> {
  const { isWrite } = request.cost;
  for (let renewals = 0; ; renewals += 1) {
    const credential = await credentialFor(deps, request, call);
    if (credential.kind !== 'credential') return answerMeaning(credential, false);
    const exchanged = await deps.exchange(request, credential, call);
    if (exchanged.kind === 'ok') return exchanged;
    if (exchanged.kind === 'moved')
      return movedAnswer(
        call.repository,
        await newNameOf(deps.exchange, exchanged.location, credential, call),
      );
    if (exchanged.kind !== 'unauthorized' || renewals >= MOST_RENEWALS)
      return answerMeaning(exchanged, isWrite);
    if (!(await deps.credentials.renew(credential, renewals > 0, call.signal)))
      return answerMeaning(exchanged, isWrite);
  }
}

async function credentialFor(
  { credentials }: GithubClientDeps,
  { route }: ExchangeRequest,
  call: GithubCall,
): Promise<FoundCredential> {
  if (!ABOUT_APP.test(route)) return credentials.find({ kind: 'api' }, call);
  if (credentials.asApp !== undefined) return { kind: 'credential', ...credentials.asApp };
  const text = 'only a GitHub App may ask this, and the connection has a token';
  return { kind: 'refused', status: 404, text, errors: [] };
}

/** @param name undefined: GitHub did not say. */
function movedAnswer(repository: string, name: string | undefined): GithubAnswer<never> {
  const text =
    name === undefined
      ? `${repository} was renamed or transferred`
      : `${repository} was renamed or transferred: it is ${name} now`;
  return { kind: 'refused', status: 301, text, errors: name === undefined ? [] : [name] };
}

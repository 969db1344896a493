/**
 * The API of GitHub as the rest of the driver sees it: one call, one answer that says what happens next.
 *
 * Behind it are credentials (App or token), budgets, limits, conditional requests and steps for the trace. Nothing is repeated
 * there but reads: a write whose answer was lost comes back as `lost`, and the caller looks before it writes again.
 */
import type { Endpoints } from '@octokit/types';
import type { HostLater } from '../../../src/driver/host-later.ts';
import type { Step } from '../../../src/model/step.ts';

/**
 * What is shed first when the budget of an installation runs low: `live` texts, then `notice` (comments, starts), then reads for
 * events. `final` results and merges have a reserve of their own.
 */
export type Weight = 'final' | 'event' | 'notice' | 'live';

/** For whom a request is made. */
export interface GithubCall {
  /** `owner/name`: decides on installation, token and budget. */
  readonly repository: string;
  readonly weight: Weight;
  readonly signal: AbortSignal;
  /** Asked directly before a write is sent; false: the call throws `NotHolder`. Absent: always true. */
  readonly mayAct?: () => boolean;
  /** Gets a `HostQuery` step for each request sent, and a `HostWait` step for each wait. */
  readonly steps?: (step: Step) => void;
}

/** What GitHub said. `text` is one line for people, without secrets. */
export type GithubAnswer<T> =
  | {
      readonly kind: 'ok';
      readonly status: number;
      readonly data: T;
      /** Of a list that GitHub pages by cursor, where the next page begins; absent: this is the last. */
      readonly next?: string;
    }
  /** A 4xx that judges the request: not there, not allowed, invalid, in conflict. Nothing has changed. */
  | {
      readonly kind: 'refused';
      readonly status: number;
      readonly text: string;
      readonly errors: readonly string[];
    }
  /** A limit, an outage, missing access. Nothing has changed. */
  | { readonly kind: 'later'; readonly later: HostLater }
  /** A write was sent and its answer did not come, or was a 5xx: it may have happened. */
  | { readonly kind: 'lost'; readonly later: HostLater };

/** Route, e.g. `POST /repos/{owner}/{repo}/check-runs`. */
export type GithubRoute = keyof Endpoints;

/** Parameters of a route without `owner` and `repo`, which come from the call. */
type RouteParameters<R extends GithubRoute> = Omit<Endpoints[R]['parameters'], 'owner' | 'repo'>;

/** Never throws but `NotHolder` and the signal's reason. */
export interface GithubApi {
  /** @param operation GitHub's operation id, e.g. `checks/create`: names the span and the metric. */
  rest<R extends GithubRoute>(
    operation: string,
    route: R,
    parameters: RouteParameters<R>,
    call: GithubCall,
  ): Promise<GithubAnswer<Endpoints[R]['response']['data']>>;
  /** A query; mutations are not used. Partial answers with `errors` are `refused`. @param operation e.g. `pull-state`. */
  graphql<T>(
    operation: string,
    query: string,
    variables: { readonly [name: string]: unknown },
    call: GithubCall,
  ): Promise<GithubAnswer<T>>;
  /** Whom GitHub sees us as. */
  identity(call: GithubCall): Promise<GithubAnswer<GithubIdentity>>;
}

/** Us, at GitHub. */
export interface GithubIdentity {
  /** Login of our comments and statuses: `gatehouse[bot]`, or the token's user. */
  readonly login: string;
  /** Null: a personal access token. */
  readonly app: { readonly id: number; readonly slug: string } | null;
  /** Of the installation; null: a personal access token. */
  readonly permissions: { readonly [name: string]: string } | null;
}

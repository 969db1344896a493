/** Builds the client of one connection from its parts. */
import type { HostLater } from '../../../src/driver/host-later.ts';
import type { HostUsage } from '../../../src/driver/usage.ts';
import { assertNever } from '../../../src/lib/assert-never.ts';
import { fromMilliseconds, type Nanoseconds } from '../../../src/lib/clock.ts';
import type { Secret } from '../../../src/lib/secret.ts';
import type { ConnectionName } from '../../../src/model/project.ts';
import { createBudgets } from './budgets.ts';
import { createGithubClient } from './client.ts';
import type { ClientTime } from './client-time.ts';
import { appCredentials, type Credentials, noCredentials, tokenCredentials } from './credentials.ts';
import { createEtagCache } from './etag.ts';
import { createExchange, type Exchange } from './exchange.ts';
import type { GithubApi } from './port.ts';
import { createSender } from './send.ts';

/** Who we are at GitHub. */
export type GithubIdentification =
  | { readonly kind: 'app'; readonly id: number; readonly key: Secret }
  /** In processes that make no requests: executors and webs. */
  | { readonly kind: 'app-without-key'; readonly id: number }
  | { readonly kind: 'token'; readonly token: Secret };

/** One connection's host, credentials and bounds. */
export interface ClientOptions {
  readonly connection: ConnectionName;
  /** Without trailing slash. */
  readonly apiUrl: string;
  readonly identification: GithubIdentification;
  /** Requests of one installation under way at a time. */
  readonly concurrency: number;
}

/** Effects of the client. */
export interface ClientDeps extends ClientTime {
  readonly random: () => number;
  readonly warn: (text: string) => void;
  /** Gets the end of each call. @param later undefined: the host served it. */
  readonly noted: (repository: string, later: HostLater | undefined) => void;
  /** Gets each request that was sent. @param status null: no answer came. */
  readonly asked: (operation: string, status: number | null) => void;
}

/** The client with what the rest of the connection needs of it. */
export interface OpenClient {
  readonly api: GithubApi;
  readonly credentials: Credentials;
  /** When the last limit that GitHub reported ends; null: none holds. */
  limitedUntil(): Nanoseconds | null;
  /** What GitHub said is left of its limits. */
  budgets(): HostUsage['budgets'];
  close(): void;
}

/** Of one HTTP exchange. */
const DEADLINE_MS = 30_000;
/** A pull request with its reviews and contexts has some 100 KB, a page of changed files some 10 MB at worst. */
const MOST_BYTES = 32_000_000;

/** Contacts nothing yet. */
export function openClient(options: ClientOptions, deps: ClientDeps): OpenClient {
  const { apiUrl, connection, identification } = options;
  const { clock, random, pause, warn, noted } = deps;
  const lifetime = new AbortController();
  const budgets = createBudgets(deps, options.concurrency);
  const exchange = createExchange({
    clock,
    random,
    pause,
    budgets,
    etags: createEtagCache(),
    place: { connection },
    asked: deps.asked,
    send: createSender({
      apiUrl,
      app: identification.kind === 'app' ? identification : undefined,
      deadlineMs: DEADLINE_MS,
      mostBytes: MOST_BYTES,
      warn,
    }),
  });
  const credentials = credentialsOf(identification, exchange, deps, lifetime.signal);
  const graphqlUrl = graphqlUrlOf(apiUrl);
  return {
    api: createGithubClient({ clock, exchange, credentials, graphqlUrl, noted }),
    credentials,
    limitedUntil() {
      const until = budgets.blockedUntil();
      return until === null ? null : fromMilliseconds(until);
    },
    budgets: () => budgets.left().map(({ key, ...left }) => ({ installation: key, ...left })),
    close: () => lifetime.abort(new Error('the connection is closed')),
  };
}

function credentialsOf(
  identification: GithubIdentification,
  exchange: Exchange,
  deps: ClientTime,
  lifetime: AbortSignal,
): Credentials {
  switch (identification.kind) {
    case 'app':
      return appCredentials(exchange, deps, lifetime);
    case 'app-without-key':
      return noCredentials;
    case 'token':
      return tokenCredentials(identification.token);
    default:
      return assertNever(identification);
  }
}

/** GitHub Enterprise Server has REST below `/api/v3` and GraphQL beside it. */
function graphqlUrlOf(apiUrl: string): string {
  return apiUrl.endsWith('/api/v3') ? apiUrl.replace(/v3$/, 'graphql') : `${apiUrl}/graphql`;
}

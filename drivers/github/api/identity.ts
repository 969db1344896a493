/** Whom GitHub sees us as: asked once an hour. */
import type { Clock } from '../../../src/lib/clock.ts';
import { answerMeaning } from './answer-meaning.ts';
import type { Credentials } from './credentials.ts';
import type { ExchangeRequest } from './exchange.ts';
import type { GithubAnswer, GithubApi, GithubCall, GithubIdentity } from './port.ts';

/** Parts it is made of. */
export interface IdentityDeps {
  readonly ask: (request: ExchangeRequest, call: GithubCall) => Promise<GithubAnswer<unknown>>;
  readonly credentials: Credentials;
  readonly clock: Pick<Clock, 'monotonic'>;
}

type Named = Omit<GithubIdentity, 'permissions'>;

const KEPT_MS = 3_600_000;

export function createIdentity({ ask, credentials, clock }: IdentityDeps): GithubApi['identity'] {
  let kept: { readonly named: Named; readonly until: number } | undefined;
  const about = credentials.isApp
    ? request('apps/get-authenticated', 'GET /app')
    : request('users/get-authenticated', 'GET /user');

  return async call => {
    if (kept === undefined || kept.until <= clock.monotonic()) {
      const answer = await ask(about, call);
      if (answer.kind !== 'ok') return answer;
      const named = credentials.isApp ? readApp(answer.data) : readUser(answer.data);
      if (named === undefined)
        return { kind: 'later', later: { reason: 'other', text: 'GitHub does not say who we are' } };
      kept = { named, until: clock.monotonic() + KEPT_MS };
    }
    const { named } = kept;
    const found = await credentials.installation(call);
    if (found !== undefined && found.kind !== 'installed') return answerMeaning(found, false);
    const permissions = found?.installation.permissions ?? null;
    return { kind: 'ok', status: 200, data: { ...named, permissions } };
  };
}

function request(operation: string, route: string): ExchangeRequest {
  return {
    operation,
    route,
    parameters: {},
    cost: { resource: 'core', isWrite: false, createsContent: false },
    isRepeatable: true,
  };
}

function readApp(data: unknown): Named | undefined {
  if (typeof data !== 'object' || data === null || !('slug' in data) || !('id' in data)) return undefined;
  const { id, slug } = data;
  if (typeof slug !== 'string' || typeof id !== 'number') return undefined;
  return { login: `${slug}[bot]`, app: { id, slug } };
}

function readUser(data: unknown): Named | undefined {
  if (typeof data !== 'object' || data === null || !('login' in data)) return undefined;
  return typeof data.login === 'string' ? { login: data.login, app: null } : undefined;
}

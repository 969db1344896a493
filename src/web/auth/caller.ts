/**
 * The sender of a request.
 *
 *     anonymous    no token: may read what is open to all
 *     here         our command line on this machine: came over the Unix socket, which only the service's user (and root) may open
 *     user         the bearer of a token, from any address
 *
 * Addresses grant no authority, not even loopback addresses: behind a reverse proxy all requests have one. A token counts on the
 * socket, too: the request then acts in the name of its user.
 */
import type { IncomingMessage } from 'node:http';
import type { AuthRealm } from '../../settings/auth-keys.ts';
import type { HttpRefusal } from '../answer.ts';
import type { AccessRules } from './access-rules.ts';
import { challenge } from './challenge.ts';
import type { TokenVerifier, User } from './token.ts';

/** Who is asking, not yet what they may do: operator.ts decides that. */
export type Caller =
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'here' }
  | { readonly kind: 'user'; readonly user: User };

/** By which a request comes: a fact of the listener, never of anything that was sent. */
export type ListenerKind = 'port' | 'socket';

/** Whose tokens count, and what the tenant file lets their bearers do. */
export interface Tokens {
  readonly realms: readonly AuthRealm[];
  readonly tokens: TokenVerifier;
  readonly rules: AccessRules;
}

/** What a route needs to find the {@link Caller}; differs between the listeners in `listener` only. */
export interface Authentication extends Tokens {
  readonly listener: ListenerKind;
}

/** @returns a refusal when the request has an invalid token. */
export async function callerOf(
  auth: Authentication,
  request: { readonly headers: Pick<IncomingMessage['headers'], 'authorization'> },
): Promise<Caller | HttpRefusal> {
  const { authorization } = request.headers;
  if (authorization === undefined) return { kind: auth.listener === 'socket' ? 'here' : 'anonymous' };
  const [, token] = /^Bearer +([\w.~+/=-]+) *$/i.exec(authorization) ?? [];
  if (token === undefined)
    return challenge(auth.realms, 'invalid_request', 'send "Authorization: Bearer", a blank, and a token');
  if (auth.realms.length === 0)
    return challenge(
      auth.realms,
      'invalid_token',
      'this service accepts no tokens: it has no [auth NAME] section',
    );
  const verdict = await auth.tokens.verify(token);
  switch (verdict.kind) {
    case 'user':
      return verdict;
    case 'invalid':
      return challenge(auth.realms, 'invalid_token', verdict.reason);
    case 'unavailable':
      return {
        kind: 'refused',
        status: 503,
        error: `${verdict.reason}; try again later`,
        place: 'header authorization',
        headers: { 'Retry-After': '30' },
      };
  }
}
